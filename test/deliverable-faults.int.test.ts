import { spawnSync } from 'node:child_process'
import { mkdirSync, openSync, closeSync, ftruncateSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSigner } from '../src/adapters/signing/key.ts'
import { Statement } from '../src/contract/attest/statement.ts'
import { sealStatement } from '../src/engine/audit/envelope.ts'
import { useAssay } from './front-door/assay.ts'
import { cardsOf, deliverableProject } from './front-door/deliverables.ts'
import { readJournal } from './front-door/journal.ts'
import { noneLeft, until } from './front-door/processes.ts'
import type { Project } from './front-door/project.ts'

const timeout = 1_800_000

/** ASSAY_CRASH_FULL=1 dies at every boundary; otherwise at every fourth one. */
const sampled = (boundaries: readonly number[]) => boundaries.filter((_, index) => process.env.ASSAY_CRASH_FULL === '1' || index % 12 === 0)
const killAt = fileURLToPath(new URL('./front-door/kill-at.ts', import.meta.url))
useAssay()

const review = (what: string, id: string, ...more: string[]) => ['review', what, '--deliverable', id, '--producer', 'ana', ...more]

describe('what cannot be handed over is refused with a reason', () => {
  it('unknown ids, names that are none, other producers', { timeout }, async () => {
    const project = deliverableProject({}, { 'a.md': 'score=90\n' })
    expect((await project.run(['deliverable', 'send', 'x'])).stderr).toContain('there is no .assay/')
    expect((await project.run(review('a.md', 'a'))).code).toBe(0)
    for (const [args, code, said] of [
      [['deliverable', 'send', 'x'], 2, 'REFUSED (deliverable_unknown)'],
      [['deliverable', 'show', 'x'], 2, 'there is no deliverable x'],
      [['why', 'x'], 2, 'there is no task or deliverable x'],
      [['inbox', 'show', 'x'], 2, 'there is no card x'],
      [['inbox', 'export', 'x', '--out', 'copy'], 2, 'there is no card x'],
      [['inbox', '--state', 'open'], 2, '--state open'],
      [review('a.md', 'a b'), 2, 'an id has letters'],
      [['review', 'a.md', '--deliverable', 'a', '--producer', 'ben'], 2, "a is ana's"],
      [['review', 'a.md', '--deliverable', 'b', '-c', 'none.yaml'], 2, 'no such file'],
      [review('a.md', 'b', '--model', 'any'), 2, 'leave out --provider'],
    ] as const) {
      const ended = await project.run([...args])
      expect([ended.code, ended.stderr], args.join(' ')).toEqual([code, expect.stringContaining(said)])
    }
    expect((await project.run(['deliverable', 'send', 'a'])).code).toBe(0)
    // A bar that somebody lowers for his own review opens no gate, and what waits for its producer keeps nobody else waiting.
    project.write({ 'low.md': 'score=20\n' })
    expect((await project.run(review('low.md', 'low', '--eval-threshold', '10'))).code).toBe(0)
    expect((await project.run(['deliverable', 'send', 'low'])).stderr).toContain('REFUSED (policy_changed)')
    expect((await project.run(review('low.md', 'waits'))).code).toBe(1)
    const resumed = await project.run(['resume', 'deliverable-waits-1'])
    expect([0, 1, 3], resumed.stderr).toContain(resumed.code)
  })

  it('nothing, links, pipes, and a project that there is not', { timeout }, async () => {
    const project = deliverableProject({}, { 'empty.md': '', 'folder/a.md': 'score=90\n', 'real.md': 'score=90\n' })
    mkdirSync(join(project.folder, 'hollow'))
    symlinkSync('real.md', join(project.folder, 'link.md'))
    symlinkSync('/etc/passwd', join(project.folder, 'folder', 'passwd'))
    for (const name of ['pipe', 'folder/pipe']) expect(spawnSync('mkfifo', [join(project.folder, name)]).status).toBe(0)
    for (const [what, said] of [
      ['empty.md', 'nothing to review'],
      ['hollow', 'nothing to review'],
      ['link.md', 'neither a file nor a folder'],
      ['pipe', 'neither a file nor a folder'],
      ['missing', 'no such file or folder'],
    ] as const) {
      const ended = await project.run(review(what, 'x'))
      expect([ended.code, ended.stderr], what).toEqual([2, expect.stringContaining(said)])
    }
    // What is no plain file inside a folder is named, and never followed nor handed over.
    expect((await project.run(review('folder', 'f'))).code).toBe(0)
    expect((await project.run(['deliverable', 'send', 'f'])).code).toBe(0)
    const exported = await project.json<{ files: { path: string }[] }>(['inbox', 'export', 'f', '--out', 'copy'])
    expect(exported.lines[0]?.files.map(({ path }) => path)).toEqual(['a.md'])
    rmSync(join(project.folder, 'assay.yaml'))
    expect((await project.run(review('real.md', 'x'))).stderr).toContain('there is no assay.yaml')
  })
})

/** A page that is another one each time it is asked for. */
async function restlessPage(): Promise<{ url: string; asked: () => number }> {
  let asked = 0
  const server = createServer((_request, response) => {
    asked += 1
    response.end(`<p>score=90 answer ${asked}</p>`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked: () => asked }
}

describe('an address', () => {
  it('that answers differently each time is handed over as it was reviewed, while its verdict counts', { timeout }, async () => {
    const { url, asked } = await restlessPage()
    const project = deliverableProject({ gate: { urlVerdictTtl: '1h' } })
    const ended = await project.run(review(url, 'page', '--allow-private'))
    expect(ended.code, ended.stderr).toBe(0)
    expect((await project.run(['deliverable', 'send', 'page'])).code).toBe(0)
    expect((await project.run(['inbox', 'export', 'page', '--out', 'copy'])).code).toBe(0)
    expect(readFileSync(join(project.folder, 'copy', 'page.html'), 'utf8')).toBe('<p>score=90 answer 1</p>')
    expect(asked()).toBe(1)

    expect((await project.run(['attest', 'page', '--out', 'page.json'])).stderr).toContain('PASSED')
    expect(await project.run(['verify', 'page.json'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/counts +until 20/) })
    const { payload } = JSON.parse(project.read('page.json')) as { payload: string }
    const statement = Statement.parse(JSON.parse(Buffer.from(payload, 'base64').toString()))
    if (statement.predicate.assay) statement.predicate.assay.expires = '2026-01-01T00:00:00.000Z'
    const signer = openSigner(join(project.folder, '.config', 'assay'))
    project.write({ 'old.json': JSON.stringify(sealStatement(statement, signer)) })
    const old = await project.run(['verify', 'old.json', '--allow-warned'])
    expect(old, old.stderr).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('PASSED, EXPIRED'),
      stderr: expect.stringContaining('EXPIRED'),
    })

    const short = deliverableProject({ gate: { urlVerdictTtl: '2s' } })
    expect((await short.run(review(url, 'page', '--allow-private'))).code).toBe(0)
    await until('the verdict has expired', async () =>
      (await short.run(['deliverable', 'send', 'page'])).stderr.includes('REFUSED (verdict_expired)'),
    )
    for (const name of ['page', 'deliverable-page-1/subject'])
      expect(await short.run(['attest', name]), name).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('has expired') })
  })

  it("that is a mission's deliverable is fetched with the work, judged and kept; one that cannot be had rejects the attempt", {
    timeout,
  }, async () => {
    const { url, asked } = await restlessPage()
    const task = (title: string, page: string) => ({
      title,
      assignTo: 'dev',
      description: 'make score 90',
      deliverable: { kind: 'url', url: page, id: title, allowPrivate: true },
    })
    const project = deliverableProject(
      { review: { panel: { size: 1, quorum: 1 }, maxAttempts: 1 } },
      { 'm.yaml': { name: 'M', tasks: [task('there', url), task('gone', 'http://127.0.0.1:1/')] } },
    )
    await project.run(['run', 'm.yaml'])
    expect(asked()).toBe(1)
    const cards = await cardsOf(project, '--type', 'report_ready')
    expect(cards.map(({ deliverable }) => deliverable)).toEqual(['there'])
    expect((await project.run(['inbox', 'export', 'there', '--out', 'copy'])).code).toBe(0)
    expect(readFileSync(join(project.folder, 'copy', 'deliverable-page', 'page.html'), 'utf8')).toBe('<p>score=90 answer 1</p>')
    const failed = (await project.events())
      .filter(({ type }) => type === 'attempt.failed')
      .map(({ data }) => (data as { detail: string }).detail)
    expect(failed).toEqual([expect.stringContaining('http://127.0.0.1:1/ cannot be handed over')])
  })
})

/** Prints the most memory that the process ever had, in kilobytes. */
const peakOf = (log: string) =>
  `data:text/javascript,${encodeURIComponent(`import { writeFileSync } from 'node:fs'; process.on('exit', () => writeFileSync(${JSON.stringify(log)}, String(process.resourceUsage().maxRSS)))`)}`

describe('a large file', () => {
  it('is streamed: the process needs no more memory for it than for a small one', { timeout }, async () => {
    const megabytes = 256
    const project = deliverableProject({}, { 'small.bin': 'score=90\n' })
    const file = openSync(join(project.folder, 'large.bin'), 'w')
    ftruncateSync(file, megabytes * 1024 * 1024)
    closeSync(file)
    const peaks: number[] = []
    for (const name of ['small', 'large']) {
      const log = project.log(`${name}-peak`)
      const ended = await project.run(review(`${name}.bin`, name, '--json'), { nodeFlags: ['--import', peakOf(log)] })
      expect([0, 1], ended.stderr).toContain(ended.code)
      peaks.push(Number(readFileSync(log, 'utf8')) / 1024)
    }
    const [small = 0, large = 0] = peaks
    expect(small).toBeGreaterThan(10)
    expect(large - small, `${small} and ${large} MB`).toBeLessThan(megabytes / 2)
  })
})

describe('kill -9 between verdict and card', () => {
  const missionProject = (): Project =>
    deliverableProject(
      {},
      { 'm.yaml': { name: 'M', tasks: [{ title: 'a', assignTo: 'dev', description: 'make score 90', deliverable: 'out/report.md' }] } },
    )

  it('at every commit from the verdict on: one card, never two, never none', { timeout }, async () => {
    const calm = missionProject()
    const log = calm.log('commits')
    const run = ['run', 'm.yaml']
    expect((await calm.run(run, { nodeFlags: ['--import', killAt], env: { KILL_LOG: log } })).code).toBe(0)
    const { events } = await readJournal(calm.folder)
    const verdict = events.findIndex(({ type }) => type === 'verdict.recorded')
    expect(verdict).toBeGreaterThan(0)
    expect(events.filter(({ type }) => type === 'card.emitted')).toHaveLength(1)
    const stored = [...new Set(readFileSync(log, 'utf8').trim().split('\n').map(Number))]
    const boundaries = stored.filter((count) => count > verdict && count < events.length)
    expect(boundaries.length).toBeGreaterThan(2)
    let before = 0
    for (const n of boundaries) {
      const project = missionProject()
      const died = await project.run(run, { nodeFlags: ['--import', killAt], env: { KILL_AT: `after:${n}` } })
      expect(died.signal).toBe('SIGKILL')
      await noneLeft(project.folder)
      const cut = await readJournal(project.folder)
      if (!cut.events.some(({ type }) => type === 'card.emitted')) before += 1
      const finished = cut.events.at(-1)?.type === 'mission.finished'
      await project.run(['resume', ...(finished ? ['m-1'] : [])])
      const after = await readJournal(project.folder)
      const emitted = after.events.filter(({ type }) => type === 'card.emitted')
      expect(
        emitted.map(({ data }) => (data as { deliverable: string }).deliverable),
        `killed after event ${n}`,
      ).toEqual(['m-1/a'])
      expect(after.events.filter(({ type }) => type === 'verdict.recorded')).toHaveLength(1)
      expect(after.verification.breaks).toEqual([])
      expect(after.differing).toEqual([])
    }
    expect(before, 'some deaths came before the card').toBeGreaterThan(0)
  })

  it('of a review that a producer waits for: bringing the same bytes again goes on where it was', { timeout }, async () => {
    const make = () => deliverableProject({}, { 'a.md': 'score=90\n' })
    const calm = make()
    const log = calm.log('commits')
    expect((await calm.run(review('a.md', 'a'), { nodeFlags: ['--import', killAt], env: { KILL_LOG: log } })).code).toBe(0)
    const total = (await readJournal(calm.folder)).events.length
    const boundaries = [...new Set(readFileSync(log, 'utf8').trim().split('\n').map(Number))].filter((count) => count > 0 && count < total)
    for (const n of sampled(boundaries)) {
      const project = make()
      const died = await project.run(review('a.md', 'a'), { nodeFlags: ['--import', killAt], env: { KILL_AT: `after:${n}` } })
      expect(died.signal).toBe('SIGKILL')
      await noneLeft(project.folder)
      const again = await project.run(review('a.md', 'a'))
      expect(again.code, `killed after event ${n}: ${again.stderr}`).toBe(0)
      expect((await project.run(['deliverable', 'send', 'a'])).code).toBe(0)
      const { events, verification } = await readJournal(project.folder)
      expect(events.filter(({ type }) => type === 'card.emitted')).toHaveLength(1)
      expect(
        events.filter(({ type, data }) => type === 'verdict.recorded' && (data as { reused?: object }).reused === undefined),
      ).toHaveLength(1)
      expect(verification.breaks).toEqual([])
    }
    expect(boundaries.length).toBeGreaterThan(3)
  })
})
