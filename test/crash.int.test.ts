import { fileURLToPath } from 'node:url'
import { readFileSync, rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { crashProject, endsOf, expectedEnds, openTurns, recordedVerdicts } from './front-door/crash-mission.ts'
import { type JournalState, readJournal } from './front-door/journal.ts'
import { noneLeft, processesOf, whileRuns } from './front-door/processes.ts'
import type { Project } from './front-door/project.ts'

const timeout = 3_600_000
const killAt = fileURLToPath(new URL('./front-door/kill-at.ts', import.meta.url))
/** ASSAY_CRASH_FULL=1 dies at every moment there is; otherwise at every n-th of them, n being ASSAY_CRASH_STEP, and more rarely where asked. */
const step = Number(process.env.ASSAY_CRASH_STEP ?? 16)
const every = (rarer = 1) => (process.env.ASSAY_CRASH_FULL === '1' ? 1 : step * rarer)

useAssay()

type Moment = `${'after' | 'before' | 'commit'}:${number}`

interface Death {
  /** The journal as the death left it. */
  state: JournalState
  /** Calls that judges had logged by then. */
  judged: number
}

/** Runs a command that dies at this moment, and shows what was on disk then. */
async function dieAt(project: Project, moment: Moment, args: string[]): Promise<Death | 'survived'> {
  const ended = await project.run(args, { nodeFlags: ['--import', killAt], env: { KILL_AT: moment } })
  if (ended.signal !== 'SIGKILL') {
    expect(ended, 'a command that was not killed ends as it should').toMatchObject({ signal: null })
    return 'survived'
  }
  await noneAtWork(project.folder)
  return { state: await readJournal(project.folder), judged: project.logged('judgings').length }
}

/**
 * Nothing goes on after the death. A sandbox whose starter is killed between its two processes waits for ever and never runs its program (a fault of
 * bwrap's, seen in one of some hundred deaths): the next command ends it, which is looked at there.
 */
async function noneAtWork(folder: string): Promise<void> {
  await noneLeft(folder).catch((error: unknown) => {
    const [sandbox, ...others] = processesOf(folder)
    if (others.length > 0 || !/^\S*bwrap /.test(sandbox?.command ?? '')) throw error
  })
}

interface Undisturbed {
  state: JournalState
  /** Numbers of stored events between which nothing was durable. */
  boundaries: number[]
  commits: number
}

let undisturbed: Promise<Undisturbed> | undefined
function undisturbedRun(): Promise<Undisturbed> {
  undisturbed ??= (async () => {
    const project = crashProject()
    const log = project.log('commits')
    const { code, stderr } = await project.run(['run', 'mission.yaml'], { nodeFlags: ['--import', killAt], env: { KILL_LOG: log } })
    expect(stderr).toContain('ACCEPTED BELOW QUALITY BAR')
    expect(code).toBe(1)
    const stored = readFileSync(log, 'utf8').trim().split('\n').map(Number)
    const boundaries = [...new Set(stored)].filter((count) => count > 0)
    return { state: await readJournal(project.folder), boundaries, commits: stored.length }
  })()
  return undisturbed
}

/** Goes on after deaths, and holds the result against the promises. */
async function resumeAndCheck(project: Project, cuts: Death[]): Promise<void> {
  const { state: whole } = await undisturbedRun()
  const cut = [...new Set(cuts.flatMap(({ state }) => openTurns(state.events)))]
  const resumed = await project.run(['resume'])
  const after = await readJournal(project.folder)
  const ends = endsOf(after.rows)
  const label = `cut: ${cut.join(', ') || 'nothing'}; ${resumed.stderr.slice(-500)}`

  if (cut.length === 0) expect(ends, label).toEqual(endsOf(whole.rows))
  for (const [task, end] of Object.entries(expectedEnds(cut))) expect(ends[task], label).toMatchObject(end)
  const held = Object.values(ends).some(({ status }) => status === 'held')
  expect(resumed.code, label).toBe(ends.low?.flag === 'below-threshold' ? 1 : 3)
  expect(held || after.events.at(-1)?.type === 'mission.finished', label).toBe(true)

  const interrupted = after.events.filter(({ type }) => type === 'attempt.interrupted')
  const named = interrupted.map(({ stream, data }) => `${stream.slice('task/'.length)} ${(data as { attempt: number }).attempt}`)
  expect(named.sort(), 'a cut turn is recorded once, and no other').toEqual(cut.sort())
  const turns = project.logged('turns')
  expect(turns.length, 'no turn ran twice').toBe(new Set(turns).size)
  for (const { state, judged } of cuts) {
    const known = recordedVerdicts(state.events)
    const askedLater = project.logged('judgings').slice(judged)
    expect(
      askedLater.filter((call) => known.includes(call)),
      'no recorded verdict was asked for again',
    ).toEqual([])
    expect(after.events.slice(0, state.events.length), 'what was durable is still there').toEqual(state.events)
  }
  const verdicts = recordedVerdicts(after.events)
  expect(verdicts.length, 'no verdict is recorded twice').toBe(new Set(verdicts).size)
  expect(after.verification.breaks).toEqual([])
  expect(after.differing).toEqual([])

  const again = await project.run(['resume'])
  expect(again.code, again.stderr).toBe(resumed.code)
  expect((await readJournal(project.folder)).events.length, 'resuming what is finished changes nothing').toBe(after.events.length)
  expect(project.logged('turns')).toEqual(turns)
  await noneLeft(project.folder)
}

/** Two at a time: one waits for its processes while the other computes. */
async function forEach<T>(items: readonly T[], use: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items]
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await use(next)
  }
  await Promise.all([lane(), lane()])
}

const sampled = <T>(items: readonly T[], every: number, from = 0) => items.filter((_, index) => index % every === from % every)

/** A death must have happened for anything to be proven. */
async function mustDieAt(project: Project, moment: Moment, args: string[]): Promise<Death> {
  const death = await dieAt(project, moment, args)
  if (death === 'survived') throw new Error(`nothing was killed at ${moment}`)
  return death
}

describe('kill -9', () => {
  it('right after any event became durable: nothing is lost, nothing is done twice', { timeout }, async () => {
    const { state, boundaries } = await undisturbedRun()
    const total = state.events.length
    expect(boundaries.at(-1)).toBe(total)
    let interruptions = 0
    // Whatever the sample, one death comes in the middle of somebody's turn.
    const inTurn = boundaries.filter((n) => openTurns(state.events.slice(0, n)).length > 0).slice(0, 1)
    const moments = new Set([...inTurn, ...sampled(boundaries.slice(0, -1), every())])
    await forEach([...moments], async (n) => {
      const project = crashProject()
      const death = await mustDieAt(project, `after:${n}`, ['run', 'mission.yaml'])
      expect(death.state.events.length).toBeGreaterThanOrEqual(n)
      expect(death.state.events.length).toBeLessThan(total)
      interruptions += openTurns(death.state.events).length
      await resumeAndCheck(project, [death])
    })
    expect(interruptions).toBeGreaterThan(0)
  })

  it('right before any event becomes durable: it never happened', { timeout }, async () => {
    const { boundaries } = await undisturbedRun()
    await forEach(sampled(boundaries, every(3), 1), async (n) => {
      const project = crashProject()
      const death = await mustDieAt(project, `before:${n}`, ['run', 'mission.yaml'])
      expect(death.state.events.length).toBeLessThan(n)
      if (death.state.events.length === 0) expect((await project.run(['run', 'mission.yaml'])).code).toBe(1)
      else await resumeAndCheck(project, [death])
    })
  })

  it('after any other commit (leases taken and given back): the work is found again', { timeout }, async () => {
    const { commits } = await undisturbedRun()
    const moments = sampled([...Array(commits).keys()].slice(3), every(4))
    let deaths = 0
    await forEach(moments, async (n) => {
      const project = crashProject()
      const death = await dieAt(project, `commit:${n}`, ['run', 'mission.yaml'])
      // The number of commits depends on how many of them found each other; the last few may not come.
      if (death === 'survived' || death.state.events.length === 0) return
      deaths += 1
      await resumeAndCheck(project, [death])
    })
    expect(deaths).toBeGreaterThanOrEqual(moments.length / 2)
  })

  it('and again while it recovers: recovering twice is recovering once', { timeout }, async () => {
    const { boundaries } = await undisturbedRun()
    let deaths = 0
    await forEach(sampled(boundaries.slice(0, -8), every(4), 2), async (n) => {
      const project = crashProject()
      const first = await mustDieAt(project, `after:${n}`, ['run', 'mission.yaml'])
      const second = await dieAt(project, `after:${first.state.events.length + 1}`, ['resume'])
      const third = await dieAt(project, 'commit:1', ['resume'])
      deaths += Number(second !== 'survived') + Number(third !== 'survived')
      await resumeAndCheck(
        project,
        [first, second, third].filter((death) => death !== 'survived'),
      )
    })
    expect(deaths).toBeGreaterThan(0)
  })
})

/** Two tasks that work in one folder, one after the other. The worker says when it finds the other one inside. */
function sharedProject(): Project {
  const project = crashProject()
  project.write({
    'mission.yaml': {
      name: 'Crash',
      tasks: ['one', 'two'].map((title) => ({ title, assignTo: 'dev', description: 'd', workspace: { folder: 'shared' } })),
    },
    'shared/.keep': '',
    'worker.sh': `#!/bin/sh
echo "$ASSAY_TASK $ASSAY_ATTEMPT" >> '${project.log('turns')}'
(set -C; : > '${project.log('inside')}') 2>/dev/null || echo crowded >> '${project.log('crowded')}'
name="\${ASSAY_TASK#*/}"
echo "$ASSAY_ATTEMPT" > "$name.txt"
rm -f '${project.log('inside')}'
echo "$name is done"
`,
  })
  return project
}

describe('kill -9 where tasks share a folder', () => {
  it('leaves it to nobody for ever: the other task gets it in its turn', { timeout }, async () => {
    const calm = sharedProject()
    const log = calm.log('commits')
    expect((await calm.run(['run', 'mission.yaml'], { nodeFlags: ['--import', killAt], env: { KILL_LOG: log } })).code).toBe(0)
    const boundaries = [...new Set(readFileSync(log, 'utf8').trim().split('\n').map(Number))].filter((count) => count > 2)
    await forEach(sampled(boundaries.slice(0, -1), every(2), 1), async (n) => {
      const project = sharedProject()
      const { state } = await mustDieAt(project, `after:${n}`, ['run', 'mission.yaml'])
      // A turn that was cut may have left the mark behind that it was inside.
      rmSync(project.log('inside'), { force: true })
      const resumed = await project.run(['resume'])
      expect(resumed.code, resumed.stderr).toBe(0)
      const { rows, events } = await readJournal(project.folder)
      expect(rows).toMatchObject([{ flag: 'clean' }, { flag: 'clean' }])
      expect(project.logged('crowded')).toEqual([])
      expect(events.filter(({ type }) => type === 'attempt.interrupted')).toHaveLength(openTurns(state.events).length)
      const folder = events.filter(({ stream }) => stream.startsWith('folder/')).map(({ type }) => type)
      expect(folder).toEqual(['folder.taken', 'folder.released', 'folder.taken', 'folder.released'])
    })
  })
})

/** The same project, but its first turn waits until somebody ends it. */
function stuckProject(where: 'worker' | 'judge'): Project {
  const project = crashProject()
  const script = `${where}.sh`
  const wait = `#!/bin/sh
if (set -C; : > '${project.log('stuck')}') 2>/dev/null; then
  echo "$ASSAY_TASK $ASSAY_ATTEMPT" >> '${project.log(where === 'worker' ? 'turns' : 'cut-judgings')}'
  trap '' TERM HUP INT
  /bin/sleep 600
  echo 'went on' >> '${project.log('survivors')}'
fi
`
  project.write({ [script]: wait + project.read(script).replace('#!/bin/sh\n', '') })
  return project
}

/** Turns that were open when the process was killed: two tasks run at once. */
function cutTurns(events: JournalState['events']): string[] {
  const first = events.findIndex(({ type }) => type === 'attempt.interrupted')
  return first < 0 ? [] : openTurns(events.slice(0, first))
}

const sandboxes = [
  { name: 'with the sandbox that this machine has', env: {} },
  { name: 'without a sandbox', env: { PATH: '/nonexistent' } },
]

describe.each(sandboxes)('kill -9 in the middle, $name,', ({ env }) => {
  it('of a turn: recorded as interrupted, charged, ended for good, not run again', { timeout }, async () => {
    const project = stuckProject('worker')
    const running = project.start(['run', 'mission.yaml'], { env })
    await whileRuns(running, 'the worker is at work', () => project.has('tmp/stuck'))
    running.child.kill('SIGKILL')
    expect((await running.ended).signal).toBe('SIGKILL')
    const resumed = await project.run(['resume'], { env })
    await noneLeft(project.folder)
    expect(project.logged('survivors')).toEqual([])
    const { events, rows, verification } = await readJournal(project.folder)
    const cut = cutTurns(events)
    expect(cut).toContain(project.logged('turns').find((turn) => cut.includes(turn)))
    expect(endsOf(rows)).toMatchObject(expectedEnds(cut))
    expect(events.filter(({ type }) => type === 'attempt.interrupted')).toHaveLength(cut.length)
    const turns = project.logged('turns')
    expect(turns.length).toBe(new Set(turns).size)
    expect(verification.breaks).toEqual([])
    expect(resumed.code).toBe(1)
  })

  it("of a judge's sitting: that judge is asked again, the verdict counts once", { timeout }, async () => {
    const project = stuckProject('judge')
    const running = project.start(['run', 'mission.yaml'], { env })
    await whileRuns(running, 'a judge is at work', () => project.has('tmp/stuck'))
    running.child.kill('SIGKILL')
    expect((await running.ended).signal).toBe('SIGKILL')
    const resumed = await project.run(['resume'], { env })
    await noneLeft(project.folder)
    const { events, rows } = await readJournal(project.folder)
    expect(endsOf(rows)).toMatchObject(expectedEnds(cutTurns(events)))
    const verdicts = recordedVerdicts(events)
    expect(verdicts.length).toBe(new Set(verdicts).size)
    expect(project.logged('survivors')).toEqual([])
    expect(resumed.code).toBe(1)
  })
})
