import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configKnobs } from '../src/contract/config/knobs/known.ts'
import type { StoredEvent } from '../src/contract/events/envelope.ts'
import { useAssay } from './front-door/assay.ts'
import { readJournal } from './front-door/journal.ts'
import { whileRuns } from './front-door/processes.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

/** A mission whose end is known by heart: `a` clean at the second attempt, `b` below the bar after two. */
function knownProject(): Project {
  return makeProject({
    'assay.yaml': `# the configuration
brains: { canned: { kind: scripted, file: brain.yaml } }
agents:
  dev: { role: engineer, brain: canned }
  ada: { role: reviewer, brain: canned, instructions: One. }
  bob: { role: reviewer, brain: canned, instructions: Two. }
review: { threshold: 70, panel: { size: 2 } }
`,
    'brain.yaml': `workers:
  a:
    - { write: { a.txt: "first" }, case: { auto: "a.txt:1", summary: First try. } }
    - { write: { a.txt: "second" }, case: { auto: "a.txt:1", summary: Second try. } }
  b: [{ write: { b.txt: "one" } }, { write: { b.txt: "two" } }]
judges:
  "*":
    a:
      - { accept: false, scores: 2, category: half_finished, concern: Only half of it., evidence: "a.txt:1", next_step: Do the other half. }
      - { accept: true, scores: 5, concern: Whole now., evidence: "a.txt:1" }
    b:
      - { accept: false, scores: 3, concern: Thin., evidence: "b.txt:1", next_step: More of it. }
      - { accept: false, scores: 2, category: weak_test, concern: Thinner., evidence: "b.txt", next_step: Much more. }
`,
    'm.yaml': `name: Known
tasks:
  - { title: a, assignTo: dev, description: d, acceptanceCriteria: [{ text: it is whole, hard: false }] }
  - { title: b, assignTo: dev, description: d, dependsOn: [a] }
`,
  })
}

async function ran(): Promise<Project> {
  const project = knownProject()
  const { code, stderr } = await project.run(['run', 'm.yaml'])
  expect(code, stderr).toBe(1)
  return project
}

const text = async (project: Project, ...args: string[]) => {
  const { code, stdout, stderr } = await (args[0] === 'reset' ? project.asOwner(args) : project.run(args))
  expect(code, stderr).toBe(0)
  return stdout
}

describe('what is shown of a mission is what happened', () => {
  it('tasks and their ledgers', { timeout }, async () => {
    const project = await ran()
    const list = await text(project, 'task', 'list')
    expect(list).toMatch(/PASS +100\/70 +2 +known-1\/a\n/)
    expect(list).toMatch(/BELOW BAR +40\/70 +2 +known-1\/b\n/)
    expect((await project.json(['task', 'list', '--mission', 'known-1'])).lines).toHaveLength(2)
    expect((await project.json(['task', 'list', '--mission', 'known-2'])).lines).toEqual([])

    const shown = await text(project, 'task', 'show', 'a')
    for (const part of ['PASS', 'known-1/a', 'attempts 2 of 2', '5 (100/100)', 'it is whole (soft)', 'Second try.', 'ada', 'bob'])
      expect(shown).toContain(part)
    const below = (await project.json(['task', 'show', 'known-1/b'])).lines[0]
    expect(below).toMatchObject({ status: 'done', charged: 2, requests: [{ answers: expect.arrayContaining(['accept']) }] })

    const ledger = await text(project, 'ledger', 'a')
    expect(ledger).toMatch(
      /#1 +attempt 1 +REJECTED +2 \(40\/100\) +half_finished[\s\S]*Only half of it\.[\s\S]*→ Do the other half\.[\s\S]*#2 +attempt 2 +PASS +5 \(100\/100\)/,
    )
    const entries = (await project.json(['ledger', 'b'])).lines
    expect(entries).toMatchObject([
      { attempt: 1, outcome: 'reject', score: { on100: 60 } },
      { attempt: 2, outcome: 'reject', category: 'weak_test' },
    ])
    expect(await project.run(['ledger', 'z'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('there is no task or deliverable z'),
    })
  })

  it('the audit: every verdict, decision and force-accept, filtered as asked', { timeout }, async () => {
    const project = await ran()
    const { events } = await readJournal(project.folder)
    const all = await project.events()
    expect(all).toEqual(events)
    const listed = (await project.json<StoredEvent>(['audit'])).lines
    const important = [
      'verdict.recorded',
      'review.decided',
      'task.accepted',
      'task.force_accepted',
      'operator.requested',
      'policy.recorded',
    ]
    for (const type of important) {
      expect(listed.filter((event) => event.type === type)).toEqual(events.filter((event) => event.type === type))
    }
    expect(listed.filter(({ type }) => type === 'verdict.recorded')).toHaveLength(8)
    expect((await project.json<StoredEvent>(['audit', '--kind', 'verdict.recorded', '--task', 'known-1/a'])).lines).toHaveLength(4)
    expect((await project.json<StoredEvent>(['audit', '--task', 'b', '--kind', 'task.force_accepted'])).lines).toHaveLength(1)
    const table = await text(project, 'audit')
    expect(table.trimEnd().split('\n')).toHaveLength(listed.length)
    expect(table).toContain('ACCEPTED BELOW QUALITY BAR, 2 (40/100)')
    expect(await text(project, 'audit', 'verify')).toBe(`audit verified: ${events.length} events in 4 chains, none broken\n`)
  })

  it('the audit, followed: a later event is seen, Ctrl-C ends it', { timeout }, async () => {
    const project = await ran()
    const following = project.start(['audit', '--follow', '--json'])
    await whileRuns(following, 'what was there is shown', () => following.stdout().includes('task.force_accepted'))
    const seen = following.stdout().length
    await text(project, 'reset', 'a', '--reason', 'a fresh look')
    await whileRuns(following, 'the new event is shown', () => following.stdout().slice(seen).includes('task.reset'))
    following.child.kill('SIGINT')
    const { signal, stderr, stdout } = await following.ended
    expect({ signal, stderr }).toEqual({ signal: null, stderr: '' })
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      type: 'task.reset',
      data: { reason: 'a fresh look' },
    })
  })

  it('reading changes nothing, whatever is read', { timeout }, async () => {
    const project = await ran()
    const before = await readJournal(project.folder)
    const commands = [['task', 'list'], ['task', 'show', 'a'], ['ledger', 'a'], ['audit'], ['audit', 'verify'], ['config'], ['resume']]
    await Promise.all(commands.map((args) => project.run(args)))
    expect(await readJournal(project.folder)).toEqual(before)
  })
})

describe('reset', () => {
  it('of a task: neither side sees older entries, the journal keeps them', { timeout }, async () => {
    const project = await ran()
    const before = await project.events()
    expect((await project.json(['ledger', 'b'])).lines).toHaveLength(2)
    await text(project, 'reset', 'b')
    expect((await project.json(['ledger', 'b'])).lines).toEqual([])
    expect((await project.json(['ledger', 'a'])).lines).toHaveLength(2)
    const after = await project.events()
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.at(-1)).toMatchObject({ type: 'task.reset', stream: 'task/known-1/b' })
    expect(await project.asOwner(['reset', 'z'])).toMatchObject({ code: 2 })
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
  })

  it('of everything: put away under a dated name, nothing deleted', { timeout }, async () => {
    const project = await ran()
    const before = await readJournal(project.folder)
    const refused = await project.run(['reset'])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('owner') })
    const { archive } = JSON.parse((await project.asOwner(['reset', '--json'])).stdout) as { archive: string }
    expect(archive).toMatch(/\.assay-\d{4}-\d\d-\d\dT/)
    expect(project.has('.assay')).toBe(false)
    expect(await project.run(['task', 'list'])).toMatchObject({ code: 2 })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    mkdirSync(join(project.folder, 'old'))
    renameSync(archive, join(project.folder, 'old', '.assay'))
    expect(await readJournal(join(project.folder, 'old'))).toEqual(before)
    expect(await project.asOwner(['reset'])).toMatchObject({ code: 0 })
    expect(await project.asOwner(['reset'])).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('nothing to reset') })
    expect(readdirSync(project.folder).filter((name) => name.startsWith('.assay-'))).toHaveLength(1)
  })
})

describe('reset while a mission is under way', () => {
  it('is refused, and the mission ends as if nobody had asked', { timeout }, async () => {
    const project = knownProject()
    project.write({
      'brain.yaml': project.read('brain.yaml').replace('{ write: { a.txt: "first" }', '{ delay: 1500ms, write: { a.txt: "first" }'),
    })
    const running = project.start(['run', 'm.yaml'])
    await whileRuns(running, 'the first turn is open', () => running.stderr().includes('attempt 1 by dev'))
    expect(await project.asOwner(['reset'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('another process is at work'),
    })
    expect((await running.ended).code).toBe(1)
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
  })
})

describe('config', () => {
  it('explains what is in force and where it comes from', { timeout }, async () => {
    const project = knownProject()
    const explained = async (args: string[], env: Record<string, string> = {}) => {
      const { lines } = await project.json<{ path: string; value: unknown; from?: string }>(['config', '--explain', ...args], { env })
      return lines.find(({ path }) => path === 'review.threshold')
    }
    const fromFile = await explained([])
    const fromEnv = await explained([], { EVAL_THRESHOLD: '80' })
    const fromFlag = await explained(['--eval-threshold', '90'], { EVAL_THRESHOLD: '80' })
    for (const [knob, value] of [
      [fromFile, 70],
      [fromEnv, 80],
      [fromFlag, 90],
    ] as const)
      expect(JSON.stringify(knob)).toContain(`${value}`)
    expect(new Set([fromFile, fromEnv, fromFlag].map((knob) => JSON.stringify(knob))).size).toBe(3)
    const { lines: printed } = await project.json<{ path: string; when?: string }>(['config', '--explain'])
    expect(printed, 'the published command line has the list inside').toMatchObject(JSON.parse(JSON.stringify(configKnobs())))
    expect(await text(project, 'config')).toContain('threshold: 70')
    expect(existsSync(join(project.folder, '.assay'))).toBe(false)
  })

  it('prints schemas, and validates files with every problem in them', { timeout }, async () => {
    const project = knownProject()
    for (const what of [[], ['config'], ['mission']]) {
      const schema = JSON.parse(await text(project, 'config', 'schema', ...what)) as Record<string, unknown>
      expect(schema).toMatchObject({ type: 'object', properties: expect.any(Object) })
    }
    expect(await text(project, 'config', 'validate', 'm.yaml')).toBe('valid: assay.yaml, m.yaml\n')
    project.write({ 'bad.yaml': 'name: B\ntasks:\n  - { title: a, assignTo: nobody, description: d }\n', 'worse.yaml': 'tasks: 3\n' })
    const { code, stderr, stdout } = await project.run(['config', 'validate', 'm.yaml', 'bad.yaml', 'worse.yaml', 'none.yaml'])
    expect(code).toBe(2)
    expect(stdout).toBe('')
    for (const place of ['bad.yaml:3:', 'worse.yaml:1:', 'none.yaml: there is no such file']) expect(stderr).toContain(place)
    const { lines } = await project.json<{ kind: string }>(['config', 'validate', 'm.yaml'])
    expect(lines).toEqual([{ kind: 'valid', files: ['assay.yaml', 'm.yaml'] }])
  })
})
