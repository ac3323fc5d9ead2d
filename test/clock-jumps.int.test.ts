import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSqliteJournal } from '../src/adapters/sqlite/journal.ts'
import type { StoredEvent } from '../src/contract/events/envelope.ts'
import { engineViews } from '../src/engine/views/tasks.ts'
import { type Running, useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import { noneLeft, until } from './front-door/processes.ts'
import type { Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

/** The library that sets a process's clock, as the command of that name puts it in. */
const library = spawnSync('faketime', ['-m', '-f', '+0', 'sh', '-c', 'echo "$LD_PRELOAD"'], { encoding: 'utf8' }).stdout?.trim() ?? ''
if (library === '') console.warn('skipped: deadlines under a jumping clock need libfaketime (apt-get install faketime)')

/** What is in the journal now, whoever has it open. */
async function eventsIn(project: Project): Promise<StoredEvent[]> {
  const journal = await openSqliteJournal({ path: join(project.folder, '.assay', 'assay.db'), views: engineViews })
  try {
    return await journal.read(0, 10_000)
  } finally {
    await journal.close()
  }
}

const countOf = (events: readonly StoredEvent[], type: string, entity?: string): number =>
  events.filter((event) => event.type === type && (entity === undefined || (event.data as { entityId?: string }).entityId === entity))
    .length

interface Jumping {
  project: Project
  setClock(hours: number): void
  start(args: readonly string[]): Running
}

/** A project whose wall clock is what a file says; the steady clock is the system's. Workers of tasks called `slow` wait for the file `go`. */
function onJumpingClock(mission: { deadline?: string; tasks: object[] }, action = 'notify'): Jumping {
  const project = oneTask({ worker: '', limits: { workerLease: '2s' } })
  const go = project.log('go')
  const tasks = mission.tasks.map((task) => ({ assignTo: 'dev', description: 'Do it.', ...task }))
  project.write({
    'worker.sh': `#!/bin/sh\ncase "$ASSAY_TASK" in *slow) until [ -e '${go}' ]; do sleep 0.1; done;; *sleepy) sleep 20;; esac\necho done\n`,
    'assay.yaml': `${project.read('assay.yaml')}\nsla: { checkIntervalMs: 100, violationAction: ${action} }\nstopGrace: 200ms\n`,
    'm.yaml': { name: 'M', ...mission, tasks },
  })
  const setClock = (hours: number) => project.write({ clock: `${hours < 0 ? '' : '+'}${hours * 3600}\n` })
  setClock(0)
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: join(project.folder, 'clock'),
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  return { project, setClock, start: (args) => project.start(args, { env }) }
}

describe.skipIf(library === '')('deadlines under a clock that is set forth and back', () => {
  it('are warned of, broken and met once each, over restarts', { timeout }, async () => {
    const { project, setClock, start } = onJumpingClock({
      deadline: '1000h',
      tasks: [
        { title: 'quick', deadline: '500h' },
        { title: 'slow', deadline: '10h' },
      ],
    })
    const seen = (type: string, count: number, entity?: string) =>
      until(`${type} ${entity ?? ''} is there ${count} times`, async () => countOf(await eventsIn(project), type, entity) === count, 90_000)
    /** Jumps in the middle of a run: each is noticed, which means that the monitor has looked since. */
    let jumps = 0
    const jump = async (hours: number) => {
      setClock(hours)
      jumps += 1
      await seen('clock.jumped', jumps)
    }
    const restart = async (running: Running, hours: number): Promise<Running> => {
      running.child.kill('SIGTERM')
      await running.ended
      setClock(hours)
      return start(['resume', 'm-1'])
    }

    let running = start(['run', 'm.yaml'])
    await seen('sla.met', 1, 'm-1/quick')
    await jump(48)
    await jump(-72)
    expect(countOf(await eventsIn(project), 'sla.warning')).toBe(0)
    running = await restart(running, 9)
    await seen('sla.warning', 1, 'm-1/slow')
    await jump(100)
    await jump(-100)
    expect(countOf(await eventsIn(project), 'sla.violated')).toBe(0)
    running = await restart(running, 11)
    await seen('sla.violated', 1, 'm-1/slow')
    // Back before the deadline: what was broken is not met any more, and nothing is said a second time.
    await jump(-48)
    running = await restart(running, 1)
    project.write({ 'tmp/go': '' })
    expect(await running.ended).toMatchObject({ code: 0 })
    await noneLeft(project.folder)
    await start(['resume', 'm-1']).ended

    const all = await eventsIn(project)
    // A lease that only the clock ended is still its holder's: no turn was cut off, none was run beside another.
    expect(countOf(all, 'attempt.interrupted')).toBe(0)
    const told = all.filter(({ type }) => type.startsWith('sla.'))
    expect(told.map(({ type, data }) => `${type} ${(data as { entityId: string }).entityId}`).sort()).toEqual([
      'sla.met m-1',
      'sla.met m-1/quick',
      'sla.violated m-1/slow',
      'sla.warning m-1/slow',
    ])
  })

  /** Sets the clock while the task called `slow` is at work, lets it go on, and waits for the end. */
  async function jumpDuring({ project, setClock, start }: Jumping, hours: number) {
    const running = start(['run', 'm.yaml'])
    await until(
      'the worker is at work',
      async () => project.has('.assay/assay.db') && countOf(await eventsIn(project), 'attempt.started') > 0,
    )
    setClock(hours)
    await until('the jump is noticed', async () => countOf(await eventsIn(project), 'clock.jumped') === 1, 90_000)
    project.write({ 'tmp/go': '' })
    return { ended: await running.ended, events: await eventsIn(project) }
  }

  it.each([1, -1])('that are durations hold while work is done across a jump of %i hours', { timeout }, async (hours) => {
    const jumping = onJumpingClock({ deadline: '30m', tasks: [{ title: 'slow', deadline: '30m' }] }, 'fail')
    const { ended, events } = await jumpDuring(jumping, hours)
    expect(ended.code, ended.stderr).toBe(0)
    expect(events.filter(({ type }) => type.startsWith('sla.')).map(({ type }) => type)).toEqual(['sla.met', 'sla.met'])
    const times = events.filter(({ type }) => type !== 'clock.jumped').map(({ meta }) => meta.at)
    expect(times).toEqual(times.toSorted())
  })

  it.each([1, -1])('that begin after a jump of %i hours are those of the task: no sooner, no later', { timeout }, async (hours) => {
    const next = { dependsOn: ['slow'] }
    const tasks = [{ title: 'slow' }, { title: 'prompt', deadline: '30m', ...next }, { title: 'sleepy', deadline: '3s', ...next }]
    const { ended, events } = await jumpDuring(onJumpingClock({ tasks }, 'fail'), hours)
    expect(ended.code, ended.stderr).toBe(1)
    const failed = events.filter(({ type }) => type === 'task.failed').map(({ stream }) => stream)
    expect(failed).toEqual(['task/m-1/sleepy'])
    expect(countOf(events, 'sla.met', 'm-1/prompt')).toBe(1)
    expect(countOf(events, 'sla.violated', 'm-1/sleepy')).toBe(1)
  })

  it('that are points in time go by the clock as it is set', { timeout }, async () => {
    const in30Minutes = new Date(Date.now() + 30 * 60_000).toISOString()
    const { ended, events } = await jumpDuring(onJumpingClock({ tasks: [{ title: 'slow', deadline: in30Minutes }] }), 1)
    expect(ended.code, ended.stderr).toBe(0)
    expect(countOf(events, 'sla.violated', 'm-1/slow')).toBe(1)
    expect(countOf(events, 'sla.met')).toBe(0)
  })
})

describe.skipIf(library === '')('a clock that is set back', () => {
  it('does not stop the retries of a judge that could not be reached', { timeout }, async () => {
    const jumping = onJumpingClock({ tasks: [{ title: 'a' }] })
    const { project, setClock, start } = jumping
    project.write({ 'judge.sh': `#!/bin/sh\n[ -e '${project.log('go')}' ] || exit 1\necho 'SCORE: 80'\n` })
    const running = start(['run', 'm.yaml'])
    const isHeld = async () => project.has('.assay/assay.db') && countOf(await eventsIn(project), 'task.held') > 0
    await until('the judge could not be reached', isHeld)
    setClock(-1)
    project.write({ 'tmp/go': '' })
    const ended = await running.ended
    expect(ended.code, ended.stderr).toBe(0)
  })
})
