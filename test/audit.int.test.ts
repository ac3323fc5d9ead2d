import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import type { StoredEvent } from '../src/contract/events/envelope.ts'
import { startAssay, useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import { whileRuns } from './front-door/processes.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

/** `good` is accepted clean, `poor` below the bar; a judge is once unreadable. */
function audited(): Project {
  return makeProject({
    'assay.yaml': {
      brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
      agents: {
        dev: { role: 'engineer', brain: 'canned' },
        ada: { role: 'reviewer', brain: 'canned', instructions: 'One.' },
        bob: { role: 'reviewer', brain: 'canned', instructions: 'Two.' },
      },
      review: { threshold: 70, panel: { size: 2 }, maxAttempts: 1 },
    },
    'brain.yaml': `workers:
  good: [{ write: { good.txt: "all of it" } }]
  poor: [{ write: { poor.txt: "some of it" } }]
judges:
  "*":
    good: [{ accept: true, scores: 5, concern: '=HYPERLINK("http://x"), "fine"', evidence: "good.txt:1" }]
    poor: [{ accept: false, scores: 2, concern: Thin., evidence: "poor.txt:1", next_step: More. }]
`,
    'm.yaml': {
      name: 'M',
      tasks: [
        { title: 'good', assignTo: 'dev', description: 'd' },
        { title: 'poor', assignTo: 'dev', description: 'd' },
      ],
    },
  })
}

/** What the mission left, kept for the tests after the first one. */
const left = mkdtempSync(join(tmpdir(), 'assay-audited-'))
afterAll(() => rmSync(left, { recursive: true, force: true }))

async function ran(): Promise<Project> {
  const project = audited()
  const parts = ['.assay', '.config']
  if (existsSync(join(left, '.assay'))) {
    for (const part of parts) cpSync(join(left, part), join(project.folder, part), { recursive: true })
    return project
  }
  const { code, stderr } = await project.run(['run', 'm.yaml'])
  expect(code, stderr).toBe(1)
  for (const part of parts) cpSync(join(project.folder, part), join(left, part), { recursive: true })
  return project
}

const home = (project: Project) => join(project.folder, '.assay')
const ok = async (project: Project, ...args: string[]) => {
  const { code, stdout, stderr } = await project.run(args)
  expect(code, stderr).toBe(0)
  return stdout
}

describe('assay audit', () => {
  it('filters by task, agent, kind and time; as lines, JSON Lines and CSV', { timeout }, async () => {
    const project = await ran()
    const found = async (...args: string[]) => (await project.json<StoredEvent>(['audit', ...args])).lines
    expect((await found('--kind', 'verdict')).map(({ meta }) => meta.actor).sort()).toEqual(['ada', 'ada', 'bob', 'bob'])
    expect(await found('--kind', 'force-accept', '--task', 'good')).toEqual([])
    expect((await found('--kind', 'force-accept', '--task', 'poor')).map(({ type }) => type)).toEqual(['task.force_accepted'])
    const ofAda = await found('--agent', 'ada')
    expect(ofAda.length).toBeGreaterThan(1)
    expect(ofAda.filter(({ data, meta }) => !JSON.stringify([data, meta]).includes('ada'))).toEqual([])
    expect(await found('--until', '2020-01-01')).toEqual([])
    expect(await found('--since', '7d')).toEqual(await found())

    const lines = (await ok(project, 'audit')).trimEnd().split('\n')
    expect(lines).toHaveLength((await found()).length)
    expect(lines[0]).toMatch(/policy sha256:[0-9a-f]{12}… is in force/)
    expect(lines.filter((line) => line.includes('{"'))).toEqual([])
    const [headings, ...rows] = (await ok(project, 'audit', '--format', 'csv', '--kind', 'review.decided')).trimEnd().split('\n')
    expect(headings).toBe('position,time,group,kind,subject,id,actor,text,stream,version,hash')
    expect(rows).toHaveLength(2)
    expect(rows.filter((row) => row.includes('""fine""'))).toHaveLength(1)
    for (const args of [
      ['--kind', 'nonsense'],
      ['--since', 'yesterday'],
      ['--format', 'xml'],
    ])
      expect(await project.run(['audit', ...args])).toMatchObject({ code: 2, stdout: '' })
  })

  it('follows: what is appended is told, until it is stopped', { timeout }, async () => {
    const project = await ran()
    const following = project.start(['audit', '--kind', 'overrule', '--follow', '--json'])
    await whileRuns(following, 'it listens', () => true)
    expect((await project.asOwner(['overrule', 'poor', 'pass', '--reason', 'good enough'])).code).toBe(0)
    await whileRuns(following, 'the overrule is told', () => following.stdout().includes('task.overruled'))
    following.child.kill('SIGINT')
    expect((await following.ended).code).toBe(0)
  })
})

describe('a review that did not happen', () => {
  it('is in the plain audit, with its reason', { timeout }, async () => {
    const project = makeProject({ 'assay.yaml': {} })
    const input = JSON.stringify({ hook_event_name: 'Stop', session_id: 's-1', cwd: project.folder })
    expect((await project.run(['hook', '--agent', 'claude'], { input })).stdout).toContain('UNREVIEWED')
    for (const args of [[], ['--kind', 'trouble'], ['--agent', 'claude']]) {
      const { stdout } = await project.run(['audit', ...args])
      expect(stdout, args.join(' ')).toMatch(/session\.unreviewed +claude ended UNREVIEWED in session s-1: \S/)
    }
  })
})

describe('a checkpoint kept elsewhere', () => {
  it('holds for a journal that grew, and tells truncation, rollback and a journal that is gone', { timeout }, async () => {
    const project = await ran()
    await ok(project, 'audit', 'checkpoint', '--out', 'early.txt')
    cpSync(home(project), join(project.folder, 'old'), { recursive: true })
    expect((await project.asOwner(['overrule', 'poor', 'pass', '--reason', 'good enough'])).code).toBe(0)
    expect(await ok(project, 'audit', 'verify', '--checkpoint', 'early.txt')).toContain('nothing of the checkpoint')
    await ok(project, 'audit', 'checkpoint', '--out', 'late.txt')

    rmSync(home(project), { recursive: true })
    renameSync(join(project.folder, 'old'), home(project))
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
    expect((await project.run(['audit', 'verify', '--checkpoint', 'early.txt'])).code).toBe(0)
    const rolledBack = await project.run(['audit', 'verify', '--checkpoint', 'late.txt'])
    expect(rolledBack.code).toBe(1)
    expect(rolledBack.stdout).toMatch(/ROLLBACK[\s\S]*task\/m-1\/poor at version \d+: the stream was cut/)

    rmSync(home(project), { recursive: true })
    expect(await project.run(['audit', 'verify', '--checkpoint', 'late.txt'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('there is no journal'),
    })
  })

  it('is refused where it is not what the own key signed; the other key can be named', { timeout }, async () => {
    const project = await ran()
    const other = await ran()
    expect((await other.asOwner(['overrule', 'poor', 'pass', '--reason', 'good enough'])).code).toBe(0)
    await ok(other, 'audit', 'checkpoint', '--out', 'other.txt')
    await ok(project, 'audit', 'checkpoint', '--out', 'own.txt')
    writeFileSync(join(project.folder, 'other.txt'), other.read('other.txt'))
    writeFileSync(join(project.folder, 'forged.txt'), project.read('own.txt').replace(/^at .*$/m, 'at 2020-01-01T00:00:00.000Z'))
    for (const [file, why] of [
      ['other.txt', 'another key'],
      ['forged.txt', 'changed after it was signed'],
      ['assay.yaml', 'no checkpoint'],
      ['nowhere.txt', 'no such file'],
    ])
      expect(await project.run(['audit', 'verify', '--checkpoint', file ?? ''])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(why ?? ''),
      })
    writeFileSync(join(project.folder, 'other.pub'), await ok(other, 'audit', 'key'))
    const compared = await project.run(['audit', 'verify', '--checkpoint', 'other.txt', '--key', 'other.pub'])
    expect(compared).toMatchObject({ code: 1, stdout: expect.stringContaining('ROLLBACK') })
    expect(statSync(join(project.folder, '.config/assay/signing-key.pem')).mode & 0o777).toBe(0o600)
  })
})

describe('what was changed by hand', () => {
  it('is found with its place: an object, a view, and content that is gone', { timeout }, async () => {
    const project = await ran()
    const objects = join(home(project), 'objects')
    const fan = readdirSync(objects).find((name) => /^[0-9a-f]{2}$/.test(name)) ?? ''
    const [name = ''] = readdirSync(join(objects, fan))
    renameSync(join(objects, fan, name), join(project.folder, 'away'))
    expect(await project.run(['audit', 'verify'])).toMatchObject({ code: 1, stdout: expect.stringContaining(`${fan}${name}`) })
    writeFileSync(join(objects, fan, name), 'something else')
    expect(await project.run(['audit', 'verify'])).toMatchObject({ code: 1, stdout: expect.stringMatching(/is corrupt|BROKEN/) })
    rmSync(join(objects, fan, name))
    renameSync(join(project.folder, 'away'), join(objects, fan, name))
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
    const db = new DatabaseSync(join(home(project), 'assay.db'))
    db.exec("UPDATE view_rows SET row = replace(row, 'below-threshold', 'clean') WHERE view = 'tasks' AND key = 'm-1/poor'")
    db.close()
    expect(await project.run(['audit', 'verify'])).toMatchObject({ code: 1, stdout: expect.stringContaining('view tasks, row m-1/poor') })
    const shown = await project.run(['mission', 'show', 'm-1'])
    expect([shown.code, shown.stdout, shown.stderr]).toEqual([3, '', expect.stringContaining('was changed by hand')])
  })
})

describe('attestations', () => {
  it('are checked with the file and the public key alone, against files and folders', { timeout }, async () => {
    const project = await ran()
    await ok(project, 'attest', 'good', '--out', 'good.json')
    await ok(project, 'attest', 'poor', '--out', 'poor.json')
    const away = makeProject({ 'good.json': project.read('good.json'), 'poor.json': project.read('poor.json'), 'good.txt': 'all of it' })
    const verify = (...args: string[]) => away.run(['verify', ...args])
    expect(await verify('good.json')).toMatchObject({ code: 2, stderr: expect.stringContaining('--key') })
    away.write({ 'owner.pub': await ok(project, 'audit', 'key') })
    expect(await verify('good.json', '--key', 'owner.pub')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^PASSED/) })
    expect(existsSync(join(away.folder, '.config/assay/signing-key.pem'))).toBe(false)
    expect((await verify('good.json', '--key', 'owner.pub', '--subject', 'good.txt')).code).toBe(0)
    mkdirSync(join(away.folder, 'site'))
    away.write({ 'site/good.txt': 'all of it' })
    expect((await verify('good.json', '--key', 'owner.pub', '--subject', 'site')).code).toBe(0)
    away.write({ 'site/more.txt': 'x' })
    expect(await verify('good.json', '--key', 'owner.pub', '--subject', 'site')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/more\.txt was not attested[\s\S]*NOT VERIFIED/),
    })
    expect(await verify('poor.json', '--key', 'owner.pub')).toMatchObject({ code: 1, stdout: expect.stringMatching(/^WARNED/) })
    expect((await verify('poor.json', '--key', 'owner.pub', '--allow-warned')).code).toBe(0)
    const forged = JSON.parse(away.read('poor.json')) as { payload: string }
    forged.payload = Buffer.from(Buffer.from(forged.payload, 'base64').toString().replace('WARNED', 'PASSED')).toString('base64')
    away.write({ 'forged.json': JSON.stringify(forged) })
    expect(await verify('forged.json', '--key', 'owner.pub')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('NOT VERIFIED'),
    })
    expect(await verify('good.json', '--key', 'good.txt')).toMatchObject({ code: 2 })
  })

  it('are refused for what is unknown, and say WARNED for what the owner accepted', { timeout }, async () => {
    const project = await ran()
    expect(await project.run(['attest', 'nothing'])).toMatchObject({ code: 2, stdout: '' })
    expect((await project.asOwner(['overrule', 'poor', 'pass', '--reason', 'good enough'])).code).toBe(0)
    const { stderr, code } = await project.run(['attest', 'poor'])
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('WARNED') })
  })
})

describe('keeping', () => {
  it('gc clears away what nothing refers to, and only that', { timeout }, async () => {
    const project = await ran()
    const objects = join(home(project), 'objects')
    const lost = `${'a'.repeat(64)}`
    mkdirSync(join(objects, 'aa'), { recursive: true })
    writeFileSync(join(objects, 'aa', lost.slice(2)), 'nobody speaks of this')
    const before = new Date(Date.now() - 48 * 3_600_000)
    for (const fan of readdirSync(objects))
      for (const name of readdirSync(join(objects, fan))) utimesSync(join(objects, fan, name), before, before)
    expect(await project.run(['gc', '--grace', '5m'])).toMatchObject({ code: 2 })
    expect((await project.json(['gc', '--dry-run'])).lines).toMatchObject([{ removed: 1, dryRun: true }])
    expect((await project.json(['gc'])).lines).toMatchObject([{ removed: 1, removedBytes: 21 }])
    expect(existsSync(join(objects, 'aa', lost.slice(2)))).toBe(false)
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
    expect((await project.run(['resume'])).stderr).toContain('Nothing to resume')
  })

  it('a backup restores to the same audit; one that is older than a checkpoint does not pass for the newest', { timeout }, async () => {
    const project = await ran()
    const events = await project.events()
    await ok(project, 'backup', 'kept')
    expect(await project.run(['backup', 'kept'])).toMatchObject({ code: 2, stderr: expect.stringContaining('exists already') })
    expect(await project.run(['backup', 'restore', 'kept'])).toMatchObject({ code: 2, stderr: expect.stringContaining('exists already') })
    expect((await project.asOwner(['overrule', 'poor', 'pass', '--reason', 'good enough'])).code).toBe(0)
    await ok(project, 'audit', 'checkpoint', '--out', 'late.txt')
    rmSync(home(project), { recursive: true })
    expect(await project.run(['backup', 'restore', 'kept', '--checkpoint', 'late.txt'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('ROLLBACK'),
      stderr: expect.stringContaining('OLDER'),
    })
    expect(existsSync(home(project))).toBe(false)
    const accepted = await project.run(['backup', 'restore', 'kept', '--checkpoint', 'late.txt', '--accept-rollback'])
    expect(accepted).toMatchObject({ code: 0, stderr: expect.stringContaining('WARNING: ROLLBACK') })
    expect(await project.events()).toEqual(events)
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
    expect(await project.run(['backup', 'restore', 'nowhere'])).toMatchObject({ code: 2 })
  })
})

describe('the signing key', () => {
  it('is out of the reach of sandboxed workers, and a run without a sandbox is recorded as such', { timeout }, async () => {
    const project = oneTask({ worker: `cat "$HOME"/.config/assay/* '{{home}}'/.config/assay/* > stolen.txt 2>&1; echo done` })
    project.write({ 'worker.sh': project.read('worker.sh').replaceAll('{{home}}', project.folder) })
    await startAssay(['audit', 'key'], { cwd: project.folder }).ended
    const pem = project.read('.config/assay/signing-key.pem')
    expect(pem).toContain('PRIVATE KEY')
    await project.run(['run', 'm.yaml'])
    const events = await project.events()
    const started = events.find(({ type }) => type === 'attempt.started')?.data as { sandboxed: boolean }
    const content = events.find(({ type }) => type === 'case.submitted')?.data as { content: { snapshot: string } }
    await ok(project, 'attest', 'a', '--out', 'a.json')
    expect(content.content.snapshot).toMatch(/^sha256:/)
    const work = join(home(project), 'work')
    const [stolen = ''] = readdirSync(work).filter((name) => existsSync(join(work, name, 'stolen.txt')))
    const text = project.read(join('.assay/work', stolen, 'stolen.txt'))
    expect(text.includes('PRIVATE KEY')).toBe(!started.sandboxed)
  })
})
