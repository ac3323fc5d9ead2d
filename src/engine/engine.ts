import { durationMs } from '../contract/config/duration.ts'
import type { StoredEvent } from '../contract/events/envelope.ts'
import type { TaskCommand } from '../contract/commands/task.ts'
import type { Result } from '../contract/errors.ts'
import { readEvent } from '../contract/events/read.ts'
import { policyDifferences } from '../core/policy/policy.ts'
import type { TaskInput } from '../contract/task.ts'
import type { TaskState } from '../core/task/state.ts'
import type { BrainPort } from '../ports/brain.ts'
import type { Verification } from '../ports/journal.ts'
import { allMissions, createTasks, type Plan, type StartProblem, type Started, startMission } from './mission/missions.ts'
import { outcomeOf, type RunOutcome } from './mission/outcome.ts'
import { detailOf, type TaskDetail } from './task/detail.ts'
import type { EngineParts } from './parts.ts'
import { Pump } from './pump.ts'
import { StoreFault } from './store-fault.ts'
import { missionStream, taskStream } from './streams.ts'
import { asNew, type Handled, TaskStore } from './task/task-store.ts'
import type { MissionRow, TaskRow } from './views/tasks.ts'
import { Watch } from './mission/watch.ts'

export interface RunOptions {
  missions: string[]
  stop: AbortSignal
  /** The tasks as they stand before the first event is reported. */
  onBegin?: (rows: readonly TaskRow[]) => void
  onEvent?: (event: StoredEvent, row: TaskRow | undefined) => void
}

export interface RunEnd extends RunOutcome {
  stopped: boolean
  rows: TaskRow[]
}

/** The loop, as doors see it: commands in, events and rows out. */
export class Engine {
  readonly parts: EngineParts
  readonly #tasks: TaskStore
  readonly #brains = new Map<string, Promise<BrainPort>>()

  constructor(parts: EngineParts) {
    this.parts = parts
    this.#tasks = new TaskStore(parts)
  }

  start(plan: Plan, fresh = false): Promise<Result<Started, StartProblem>> {
    return startMission(this.parts, plan, fresh)
  }

  missions(): Promise<MissionRow[]> {
    return allMissions(this.parts)
  }

  /** What differs between the policy that a mission was started under and the one in force now; empty where nothing does. */
  async policyChanges(mission: string): Promise<string[]> {
    const events = await this.parts.journal.readStream(missionStream(mission))
    const recorded = events.findLast((event) => event.type === 'policy.recorded')?.data as { digest: string; policy: never } | undefined
    if (!recorded || recorded.digest === this.parts.rules.digest) return []
    return policyDifferences(recorded.policy, this.parts.rules.policy)
  }

  /** Works on the missions until nothing is left to do here, or until told to stop. */
  async run({ missions, stop, onBegin, onEvent }: RunOptions): Promise<RunEnd> {
    const { journal, config, rules } = this.parts
    const watch = new Watch(journal, missions, onEvent)
    await watch.begin()
    onBegin?.([...watch.rows.values()])
    for (const mission of missions) await createTasks(this.parts, mission, watch.count(mission))
    await this.#askUnreachableJudges(watch)
    await watch.catchUp()
    const following = new AbortController()
    let unreadable: unknown
    const follow = watch.follow(following.signal).catch((error: unknown) => {
      unreadable = error
    })
    const stopListening = this.#tasks.listen((events) => watch.offer(events))
    const pump = new Pump(
      { parts: this.parts, tasks: this.#tasks, brain: (name) => this.#brain(name), missing: new Map() },
      {
        scopes: missions,
        leaseMs: durationMs(config.limits.workerLease),
        stopGraceMs: durationMs(config.stopGrace),
        stop,
        position: () => watch.position,
        finished: () => this.#isFinished(watch, missions),
      },
    )
    try {
      const ending = await pump.run()
      if (unreadable !== undefined) throw unreadable
      await watch.catchUp()
      const rows = [...watch.rows.values()]
      if (ending === 'finished') for (const mission of missions) await this.#finish(mission, rows)
      return { stopped: ending === 'stopped', rows, ...outcomeOf(rows, rules.policy.review.evaluate) }
    } finally {
      stopListening()
      following.abort()
      await follow
    }
  }

  /** Nothing is left that could be brought further here. A task that waits for work that does not exist would wait for ever: that is said. */
  async #isFinished(watch: Watch, missions: string[]): Promise<boolean> {
    const { journal } = this.parts
    await watch.catchUp()
    const { due, leased, later } = await journal.workCount(missions)
    if (!watch.active) return due + leased === 0
    if (due + leased + later > 0) return false
    await watch.catchUp()
    if (!watch.active) return false
    throw new StoreFault('tasks are open but no work is queued for them: the journal was changed by hand. `assay reset` puts it away')
  }

  /** Whoever starts a run wants an answer now: judges that could not be reached before are asked again at once. */
  async #askUnreachableJudges(watch: Watch): Promise<void> {
    for (const row of watch.rows.values()) {
      if (row.held !== 'judge_unavailable') continue
      await this.#tasks.handle(row.id, { type: 'retry_review', nonce: this.parts.random.nonce() }, { actor: 'runtime' })
    }
  }

  /** A mission whose tasks have all ended is finished, once; whoever comes second finds it so. */
  async #finish(mission: string, rows: readonly TaskRow[]): Promise<void> {
    const own = rows.filter((row) => row.mission === mission)
    if (own.some((row) => row.status !== 'done' && row.status !== 'failed' && row.status !== 'skipped')) return
    const { journal, clock, rules } = this.parts
    const stream = missionStream(mission)
    const events = await journal.readStream(stream)
    if (events.some((event) => event.type === 'mission.finished')) return
    const { outcome, counts } = outcomeOf(own, rules.policy.review.evaluate)
    const detail = Object.entries(counts)
      .map(([label, count]) => `${count} ${label}`)
      .join(', ')
    await journal.append({
      streams: [{ stream, expected: events.length, events: [asNew({ type: 'mission.finished', data: { mission, outcome, detail } })] }],
      meta: { at: new Date(clock.now()).toISOString(), actor: 'runtime' },
    })
  }

  #brain(name: string): Promise<BrainPort> {
    let brain = this.#brains.get(name)
    if (!brain) {
      brain = this.parts.openBrain(name)
      this.#brains.set(name, brain)
    }
    return brain
  }

  handle(task: string, command: TaskCommand, actor: string): Promise<Handled> {
    return this.#tasks.handle(task, command, { actor })
  }

  async task(id: string): Promise<TaskState | undefined> {
    return (await this.#tasks.load(id)).state
  }

  /** What a task was given by its dependencies. */
  async inputsOf(id: string): Promise<TaskInput[]> {
    return (await this.task(id))?.inputs ?? []
  }

  async detail(id: string): Promise<TaskDetail | undefined> {
    const state = await this.task(id)
    if (!state) return undefined
    const events = await this.parts.journal.readStream(taskStream(id))
    return detailOf(state, this.parts.rules, state.spec.workspace.kind, events.map(readEvent))
  }

  async taskRows(prefix = ''): Promise<TaskRow[]> {
    const rows = await this.parts.journal.viewRows('tasks', { prefix })
    return rows.map(({ row }) => row as TaskRow)
  }

  /** Events after a position, oldest first. */
  events(afterPosition: number, limit: number): Promise<StoredEvent[]> {
    return this.parts.journal.read(afterPosition, limit)
  }

  waitForNews(position: number, timeoutMs: number): Promise<void> {
    return this.parts.journal.waitForNews(position, timeoutMs)
  }

  /** Proves the chains, and that the rows kept beside the journal say what it says. */
  async verify(): Promise<Verification> {
    const { journal } = this.parts
    const verification = await journal.verify()
    if (verification.breaks.length > 0) return verification
    const edited = await journal.compareViews()
    const breaks = edited.map(({ view, key }) => ({
      stream: `view ${view}, row ${key}`,
      version: 0,
      position: null,
      problem: 'the stored row differs from what the journal comes to',
    }))
    return { ...verification, breaks }
  }

  /** Whether some process is at work here right now. */
  async isBusy(): Promise<boolean> {
    return (await this.parts.journal.workCount()).leased > 0
  }

  async close(): Promise<void> {
    for (const brain of this.#brains.values()) await (await brain).close()
    await this.parts.journal.close()
  }
}
