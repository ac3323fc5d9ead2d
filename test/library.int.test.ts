import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import * as library from '../src/index.ts'

const { openAssay, AssayConfigError } = library
const timeout = 120_000

const folders: string[] = []
const open: library.Assay[] = []
afterEach(async () => {
  for (const assay of open.splice(0)) await assay.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A project with a scripted brain: two judges whose answers are given by title. */
async function project(judges: Record<string, object[]>, more: object = {}): Promise<{ assay: library.Assay; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-library-'))
  folders.push(folder)
  writeFileSync(
    join(folder, 'brain.yaml'),
    JSON.stringify({ workers: { '*': [{ print: 'done' }, { print: 'done better' }] }, judges: { '*': judges } }),
  )
  const config = {
    brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
    agents: { dev: { role: 'engineer', brain: 'canned' }, qa: { role: 'reviewer', brain: 'canned' } },
    review: { panel: { size: 1, quorum: 1 } },
    ...more,
  }
  const assay = await openAssay({ folder, config })
  open.push(assay)
  return { assay, folder }
}
const pass = { accept: true, scores: 4 }
const reject = { accept: false, scores: 2, concern: 'Half of it is missing.', next_step: 'Write the other half.' }

describe('the library', () => {
  it('exports exactly these names', () => {
    expect(Object.keys(library).sort()).toEqual([
      'Assay',
      'AssayClosedError',
      'AssayConfigError',
      'Case',
      'DelegateCall',
      'DelegateResult',
      'canonicalJson',
      'digestOf',
      'openAssay',
    ])
  })

  it('reviews work in one call, and says what to do about it', { timeout }, async () => {
    const { assay } = await project({ Good: [pass], Bad: [reject] })
    const good = await assay.review({ title: 'Good', work: { text: 'all of it' }, criteria: ['it is whole'] })
    expect(good).toMatchObject({ ok: true, value: { verdict: 'PASS', flag: 'clean', judges: ['qa'] } })
    const bad = await assay.review({ title: 'Bad', work: { files: { 'a.txt': 'half' } }, author: 'dev' })
    expect(bad).toMatchObject({
      ok: true,
      value: { verdict: 'FAIL', concern: expect.stringContaining('Half of it'), nextSteps: ['Write the other half.'] },
    })
    expect(await assay.review({ work: { text: '' } })).toMatchObject({ ok: false, error: { message: expect.stringContaining('empty') } })
    expect(await assay.review({ work: { path: 'no/such/file' } })).toMatchObject({ ok: false })
  })

  it('lets a deliverable through the gate only as it passed, and shows it in the Inbox', { timeout }, async () => {
    const { assay, folder } = await project({ report: [reject, pass] })
    const path = join(folder, 'report.md')
    const brought = () => assay.reviewDeliverable({ id: 'report', producer: 'dev', work: { path } })
    const send = () => assay.emitCard({ type: 'report_ready', title: 'The report', metadata: { deliverableId: 'report' } }, 'dev')
    writeFileSync(path, 'half')
    expect(await send()).toMatchObject({ ok: false, code: 'deliverable_unknown' })
    expect(await brought()).toMatchObject({
      ok: true,
      value: { verdict: 'NEEDS_REVISION', feedback: expect.stringContaining('Write the other half.') },
    })
    expect(await send()).toMatchObject({ ok: false, code: 'needs_revision' })
    writeFileSync(path, 'whole')
    expect(await brought()).toMatchObject({ ok: true, value: { verdict: 'PASS' } })
    writeFileSync(path, 'swapped')
    expect(await send()).toMatchObject({ ok: false, code: 'content_changed' })
    writeFileSync(path, 'whole')
    expect(await send()).toMatchObject({ ok: true, card: { flag: 'pass' } })
    expect(await assay.emitCard({ type: 'operator_request', title: 'Pay' }, 'runtime')).toMatchObject({ ok: false, code: 'type_reserved' })
    expect(await assay.inbox()).toMatchObject([{ type: 'report_ready', flag: 'pass', state: 'pending', deliverable: 'report' }])
    const seen: string[] = []
    for await (const event of assay.events()) {
      seen.push(event.type)
      if (event.type === 'card.emitted') break
    }
    expect(seen.filter((type) => type === 'release.refused')).toHaveLength(3)
    expect((await assay.verify()).breaks).toEqual([])
  })

  it('delegates, and runs a mission', { timeout }, async () => {
    const { assay } = await project({ 'Do it': [pass], build: [pass] })
    const delegated = await assay.delegate({ goal: 'Do it', to: 'dev', acceptance_criteria: 'it is done' }, { by: 'qa' })
    expect(delegated).toMatchObject({ ok: true, value: [{ status: 'completed', judge: { verdict: 'PASS' } }] })
    const nobodys = await assay.delegate({ goal: 'Do it', to: 'dev', acceptance_criteria: 'it is done' }, { by: 'zed' })
    expect(nobodys).toMatchObject({ ok: false, error: { code: 'bad_command', message: expect.stringContaining('zed is no agent') } })
    expect(await assay.tasks('delegation-2/')).toEqual([])
    const end = await assay.run({ name: 'M', tasks: [{ title: 'build', assignTo: 'dev', description: 'b' }] })
    expect(end).toMatchObject({ ok: true, value: { mission: 'm-1', exitCode: 0 } })
    expect(await assay.run({ name: 'M', tasks: [] })).toMatchObject({ ok: false, error: { message: expect.stringContaining('tasks') } })
  })

  it('needs no folder, and says what is wrong with a configuration', { timeout }, async () => {
    const assay = await openAssay({ config: {} })
    open.push(assay)
    expect(await assay.review({ work: { text: 'x' } })).toMatchObject({ ok: true, value: { verdict: 'INCONCLUSIVE', held: 'no_reviewer' } })
    await expect(openAssay({ config: { reviw: {} } })).rejects.toThrow(AssayConfigError)
    await expect(openAssay({ folder: join(tmpdir(), 'assay-there-is-none'), config: {} })).rejects.toThrow(/no such folder/)
  })

  it('says by a closed code what it cannot review', { timeout }, async () => {
    const { assay, folder } = await project({ '*': [pass] })
    expect(await assay.review({ work: { text: '' } })).toMatchObject({ ok: false, error: { code: 'bad_command' } })
    const gone = { path: 'none.md', cwd: folder }
    expect(await assay.review({ work: gone })).toMatchObject({ ok: false, error: { code: 'not_found' } })
    expect(await assay.reviewDeliverable({ id: 'd', producer: 'dev', work: gone })).toMatchObject({
      ok: false,
      error: { code: 'not_found' },
    })
    expect(await assay.run('no: mission')).toMatchObject({ ok: false, error: { code: 'bad_command' } })
  })

  it('says of every call after `close` that it is closed, by a closed code', { timeout }, async () => {
    const { assay } = await project({ '*': [pass] })
    const listening = (async () => {
      for await (const _event of assay.events());
      return 'over'
    })()
    await assay.review({ work: { text: 'all of it' } })
    await Promise.all([assay.close(), assay.close()])
    expect(await listening).toBe('over')
    const calls: Record<string, () => Promise<unknown>> = {
      review: () => assay.review({ work: { text: 'x' } }),
      run: () => assay.run({ name: 'M', tasks: [{ title: 'build', assignTo: 'dev', description: 'b' }] }),
      delegate: () => assay.delegate({ goal: 'Do it', to: 'dev' }, { by: 'qa' }),
      reviewDeliverable: () => assay.reviewDeliverable({ id: 'a', producer: 'dev', work: { text: 'x' } }),
      deliverable: () => assay.deliverable('a'),
      emitCard: () => assay.emitCard({ type: 'milestone', title: 'x' }, 'dev'),
      inbox: () => assay.inbox(),
      tasks: () => assay.tasks(),
      events: () => assay.events().next(),
      verify: () => assay.verify(),
    }
    const methods = Object.getOwnPropertyNames(library.Assay.prototype).filter((name) => !['constructor', 'close'].includes(name))
    expect(Object.keys(calls).sort()).toEqual(methods.sort())
    for (const [name, call] of Object.entries(calls)) {
      const error = await call().catch((thrown: unknown) => thrown)
      expect(error, name).toBeInstanceOf(library.AssayClosedError)
      expect(error, name).toMatchObject({ code: 'closed', message: expect.stringContaining('openAssay') })
    }
    await assay.close()
  })

  it('ends what is under way when it is closed, as work that nobody has judged', { timeout }, async () => {
    const brains = { slow: { kind: 'command', argv: ['sleep', '300'] } }
    const agents = { qa: { role: 'reviewer', brain: 'slow' } }
    const { assay } = await project({}, { brains, agents })
    const review = assay.review({ work: { text: 'all of it' } })
    for await (const { type } of assay.events()) if (type === 'review.opened') break
    await assay.close()
    expect(await review).toMatchObject({ ok: true, value: { verdict: 'INCONCLUSIVE' } })
  })

  it('answers odd input with a value that names the field, and throws for none of it', { timeout }, async () => {
    const { assay } = await project({})
    // Callers without types hand over anything.
    const loose = assay as unknown as Record<
      string,
      (...args: unknown[]) => Promise<{ ok: boolean; message?: string; error?: { message: string } }>
    >
    const itself: Record<string, unknown> = { name: 'M' }
    itself.tasks = itself
    for (const [call, args, field] of [
      ['review', [], '`request` is missing'],
      ['review', [{}], '`request.work` is missing'],
      ['review', [{ work: {} }], '`request.work`: give one of'],
      ['review', [{ work: { text: 'a', path: 'b' } }], '`request.work`: give one of'],
      ['review', [{ work: { text: 5 } }], '`request.work.text`: expected text'],
      ['review', [{ work: { files: { '../x': 'y' } } }], '`../x` is no plain relative path'],
      ['review', [{ work: { files: { '/x': 'y' } } }], '`/x` is no plain relative path'],
      ['review', [{ work: { files: { a: 'y', 'a/b': 'z' } } }], '`a` is a file and a folder'],
      ['review', [{ work: { files: { a: 5 } } }], '`request.work.files.a`: a file is text or bytes'],
      ['review', [{ work: { path: 'a\0b' } }], '`request.work.path`'],
      ['review', [{ work: { url: '/etc/hostname' } }], '`request.work.url`'],
      ['review', [{ work: { text: 'x' }, criteria: 'whole' }], '`request.criteria`: expected a list'],
      ['review', [{ work: { text: 'x' }, checks: [{ kind: 'no' }] }], '`request.checks[0].kind`'],
      ['review', [{ work: { text: 'x' }, titel: 'y' }], '`titel`; did you mean `title`'],
      ['delegate', [{}], '`call.goal` is missing'],
      ['delegate', [{ goal: 'x' }], '`from` is missing'],
      ['delegate', [{ tasks: [{}] }, { by: 'qa' }], '`call.tasks[0].goal` is missing'],
      ['reviewDeliverable', [], '`request` is missing'],
      ['reviewDeliverable', [{ id: '../x', producer: 'dev', work: { text: 'x' } }], '`request.id`: an id has letters'],
      ['reviewDeliverable', [{ id: 'x', work: { text: 'x' } }], '`request.producer` is missing'],
      ['emitCard', [{ type: 'gift', title: 'x' }, 'dev'], '`card.type`'],
      ['emitCard', [{ type: 'milestone', title: 'x' }], '`from` is missing'],
      ['run', [], '`mission` is missing'],
      ['run', [itself], '`mission` cannot be written as JSON'],
    ] as [string, unknown[], string][]) {
      const answer = await loose[call]?.call(assay, ...args)
      expect(answer?.ok, `${call} ${field}`).toBe(false)
      expect(answer?.error?.message ?? answer?.message).toContain(field)
    }
  })
})
