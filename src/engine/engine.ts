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
import {
  allMissions,
  createTasks,
  type Plan,
  type StartOptions,
  type StartProblem,
  type Started,
  startMission,
} from './mission/missions.ts'
import { acceptPolicy } from './mission/accept-policy.ts'
import { finishIdle, gateRows, waiveThreshold } from './mission/finish.ts'
import { type RunEnd, runEnd } from './mission/run-end.ts'
import { runOver } from './mission/run-over.ts'
import { showLeft, showOwed } from './mission/owed.ts'
import { detailOf, type TaskDetail } from './task/detail.ts'
import type { EngineParts } from './parts.ts'
import { type Lane, lanesFor } from './lanes.ts'
import { Pump } from './pump.ts'
import { flushNotifications, pendingNotifications } from './notify/flush.ts'
import { SlaMonitor } from './sla/monitor.ts'
import type { CardRequest } from '../contract/deliverable/deliverable.ts'
import type { DeliverableState } from '../core/gate/deliverable.ts'
import { bypassReview } from './deliverables/bypass.ts'
import { type Emitted, expireCards, sendCard, type Sending } from './deliverables/emit.ts'
import { freeId, handOverAgain } from './deliverables/free.ts'
import { closeCard, inboxCard, inboxCards } from './deliverables/inbox.ts'
import { type Addition, extendMission } from './mission/extend.ts'
import { type OutsideDoor, outsideDoor } from './outside/door.ts'
import type { DeliverableRow, InboxRow } from './views/inbox.ts'
import { evaluationOf } from './telemetry/telling.ts'
import { isOutside } from './outside/who.ts'
import { missionStream, taskOf, taskStream } from './streams.ts'
import { acceptInForce, loadOwner, type PolicyStanding, policyStanding } from './policy/owner.ts'
import { type Handled, TaskStore } from './task/task-store.ts'
import { type Answer, answerRequest, openRequests, type RequestRow } from './requests.ts'
import type { Bench } from './work/bench.ts'
import { retryable, type Retryable } from './gates/retryable.ts'
import { settleNow } from './work/house.ts'
import type { GateRow } from './views/gates.ts'
import type { MissionRow, TaskRow } from './views/tasks.ts'
import { KeptReports } from './work/checking/reports-kept.ts'
import { Watch } from './mission/watch.ts'

export interface RunOptions {
  missions: string[]
  stop: AbortSignal
  /** Shares what is done at once with the other runs of this engine that do. */
  share?: boolean
  /** The tasks as they stand before the first event is reported. */
  onBegin?: (rows: readonly TaskRow[]) => void
  onEvent?: (event: StoredEvent, row: TaskRow | undefined) => void
}

export type { RunEnd }

const endsTurn = new Set(['task.failed', 'attempt.stopped'])

/** Longest that a command waits for notifications at its end. */
const tellMs = 20_000

/** The loop, as doors see it: commands in, events and rows out. */
export class Engine {
  readonly parts: EngineParts
  readonly #tasks: TaskStore
  readonly #brains = new Map<string, Promise<BrainPort>>()
  readonly #reports = new KeptReports()
  readonly #lanes: Lane[]
  readonly #paying = new Map<string, Promise<void>>()
  /** Looked at while somebody runs something here, or has begun to watch them. */
  readonly deadlines: SlaMonitor

  constructor(parts: EngineParts) {
    this.parts = parts
    this.#lanes = lanesFor(parts.config.concurrency)
    this.#tasks = new TaskStore(parts)
    this.deadlines = new SlaMonitor(parts, this.#tasks)
    const { telemetry } = parts
    if (telemetry) {
      this.#tasks.listen((events) => {
        for (const evaluation of events.flatMap((event) => evaluationOf(event) ?? [])) telemetry.evaluation(evaluation)
      })
    }
  }

  start(plan: Plan, options: StartOptions = {}): Promise<Result<Started, StartProblem>> {
    return startMission(this.parts, plan, options)
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
  async run({ missions, stop, share, onBegin, onEvent }: RunOptions): Promise<RunEnd> {
    const { journal, config, rules } = this.parts
    let unreadable: unknown
    const onFault = (error: unknown) => {
      unreadable ??= error
    }
    const watch = new Watch(
      journal,
      missions,
      (event, row) => {
        // A worker whose task was ended, or whose turn was, has nothing left to work for.
        const task = endsTurn.has(event.type) ? taskOf(event.stream) : undefined
        if (task !== undefined) pump.end(task)
        if (event.type === 'task.readied') void this.deadlines.readied(taskOf(event.stream) ?? '').catch(onFault)
        onEvent?.(event, row)
      },
      ({ outside, assignee }) => outside === true || isOutside(rules.policy, assignee),
    )
    await watch.begin()
    const pump = new Pump(this.#bench(), {
      scopes: missions,
      leaseMs: durationMs(config.limits.workerLease),
      stopGraceMs: durationMs(config.stopGrace),
      lanes: share ? this.#lanes : lanesFor(config.concurrency),
      stop,
      position: () => watch.position,
      finished: runOver(this.parts, { missions, watch, tasks: this.#tasks, look: (ended) => this.deadlines.look(ended) }),
      tellMs,
    })
    onBegin?.([...watch.rows.values()])
    for (const mission of missions) await createTasks(this.parts, mission, watch.count(mission))
    // What a process that died had opened again is known to all whom it concerns before anything begins.
    await settleNow(this.#bench(), missions)
    await this.#askUnreachableJudges(watch)
    await watch.catchUp()
    const following = new AbortController()
    const follow = watch.follow(following.signal).catch(onFault)
    const stopListening = this.#tasks.listen((events) => watch.offer(events))
    const endDeadlines = this.deadlines.begin(onFault)
    try {
      const ending = await pump.run()
      if (unreadable !== undefined) throw unreadable
      await watch.catchUp()
      await this.deadlines.look(missions)
      await this.#tell(stop)
      return await runEnd(this.parts, this.#tasks, missions, { rows: [...watch.rows.values()], stopped: ending === 'stopped' })
    } finally {
      await endDeadlines()
      stopListening()
      following.abort()
      await follow
    }
  }

  /** Whoever starts a run wants an answer now: judges that could not be reached are asked again, unless a caller was told that the owner is asked. */
  async #askUnreachableJudges(watch: Watch): Promise<void> {
    for (const row of watch.rows.values()) {
      if (row.held !== 'judge_unavailable' || row.byCall) continue
      await this.#tasks.handle(row.id, { type: 'retry_review', nonce: this.parts.random.nonce() }, { actor: 'runtime' })
    }
  }

  #brain(name: string): Promise<BrainPort> {
    let brain = this.#brains.get(name)
    if (!brain) {
      brain = this.parts.openBrain(name)
      this.#brains.set(name, brain)
    }
    return brain
  }

  async handle(task: string, command: TaskCommand, actor: string): Promise<Handled> {
    const handled = await this.#tasks.handle(task, command, { actor })
    if (handled.ok && handled.events.some((event) => event.type === 'task.reopened')) await this.#reopened(task)
    return handled
  }

  /** What has to be opened again for these tasks to be done after all. */
  retryable(tasks: readonly string[]): Promise<Retryable> {
    return retryable(this.parts, this.#tasks, tasks)
  }

  /** Gates and dependents know of it before anything else begins; the append that opened it has opened its run. */
  async #reopened(task: string): Promise<void> {
    const { mission, deliverable, id } = (await this.task(task))?.spec ?? {}
    await settleNow(this.#bench(), [mission ?? ''])
    if (deliverable) await expireCards(this.parts, deliverable.id ?? id ?? '', 'its decision was turned, or the work was opened again')
  }

  /** Quality gates of a mission. */
  gates(mission: string): Promise<GateRow[]> {
    return gateRows(this.parts, [mission])
  }

  /** Whether a token is that of this journal's owner; nobody's in a journal that knows none. */
  async isOwner(token: string): Promise<boolean> {
    return (await loadOwner(this.parts)).state.token === token
  }

  /** What waits for a person. */
  requests(): Promise<RequestRow[]> {
    return openRequests(this.parts, this.#tasks)
  }

  /** The owner's answer; the door has checked the authority. What it opens, shuts or ends is told at once: there may be nobody who does later. */
  async answer(answer: Answer): Promise<Result<string[]>> {
    const answered = await answerRequest(this.parts, this.#tasks, answer)
    if (!answered.ok) return answered
    const { about, subject } = answer.request
    const mission = subject.split('/')[0] ?? ''
    if (answered.value.includes('task.reopened')) await this.#reopened(subject)
    if (about === 'gate') await settleNow(this.#bench(), [mission]).then(() => finishIdle(this.parts, mission))
    await this.deadlines.look([mission])
    await this.#tell()
    return answered
  }

  /** The policy in force takes over a run, on the owner's word, who stands behind it from then on; the door has checked the authority. */
  async acceptPolicy(mission: string, by: string): Promise<Result<number>> {
    const adopted = await acceptPolicy(this.parts, this.#tasks, mission, by)
    if (!adopted.ok) return adopted
    const accepted = await this.standBehindPolicy({ by, reason: `took over ${mission}` })
    return accepted.ok ? adopted : accepted
  }

  /** The owner stands behind the policy in force; the door has checked the authority. Told, and resolved to what differs from the last one. */
  async standBehindPolicy(order: { by: string; reason: string }): Promise<Result<{ differences: string[] }>> {
    const accepted = await acceptInForce(this.parts, { ...order, how: 'word' })
    if (accepted.ok) await this.#tell()
    return accepted
  }

  /** How the owner stands to a policy: the one in force, unless another is named. */
  policyStanding(digest?: string): Promise<PolicyStanding> {
    return policyStanding(this.parts, digest)
  }

  /** A missed quality threshold counts no longer; the owner's word. */
  async waiveThreshold(mission: string, order: { by: string; reason: string }): Promise<Result<true>> {
    const waived = await waiveThreshold(this.parts, mission, order)
    if (waived.ok) await this.deadlines.look([mission]).then(() => this.#tell())
    return waived
  }

  /** Adds tasks to a run that has begun. */
  extend(addition: Addition): Promise<Result<'added' | 'known', StartProblem>> {
    return extendMission(this.parts, addition)
  }

  /** What workers and judges that Assay does not start can do. */
  get outside(): OutsideDoor {
    return outsideDoor(this.#bench())
  }

  /** The latest version of every deliverable. */
  async deliverables(): Promise<DeliverableRow[]> {
    return (await this.parts.journal.viewRows('deliverables')).map(({ row }) => row as DeliverableRow)
  }

  /** Sends a card through the gate: the only way to the owner. */
  async emitCard(request: CardRequest, sending: Sending): Promise<Emitted> {
    const emitted = await sendCard(this.parts, this.#tasks, request, sending)
    await this.#tell()
    return emitted
  }

  /** The owner's cards, newest first. */
  inbox(): Promise<InboxRow[]> {
    return inboxCards(this.parts)
  }

  /** The owner has dealt with a card; the door has checked the authority. */
  closeCard(card: string, closing: Parameters<typeof closeCard>[2]): Promise<Result<InboxRow>> {
    return closeCard(this.parts, card, closing)
  }

  /** The owner waives a review; the door has checked the authority. Recorded before it takes effect, and told. */
  async bypass(deliverable: string, order: { by: string; reason: string; digest?: string }): Promise<Result<DeliverableState>> {
    const waived = await bypassReview(this.parts, deliverable, order)
    if (waived.ok) await this.#tell()
    return waived
  }

  /** The owner frees an id; the door has checked the authority. Finished tasks that could not hand over under it do so now. */
  async freeDeliverable(deliverable: string, order: { by: string; reason: string }): Promise<Result<true>> {
    const freed = await freeId(this.parts, deliverable, order)
    if (!freed.ok) return freed
    await handOverAgain(this.#bench(), deliverable)
    await this.#tell()
    return freed
  }

  /** One card as the journal's events have it, each held against its hash; undefined where there is none of that name. */
  card(card: string): Promise<InboxRow | undefined> {
    return inboxCard(this.parts, card)
  }

  /** Sends what waits to be told, of every mission; resolves to how many notifications are still to be sent after that. */
  async sendPending(stop?: AbortSignal): Promise<number> {
    await this.#tell(stop)
    return pendingNotifications(this.parts.journal)
  }

  /** Shows the owner the endings that nobody has shown yet: of these missions, or of all that are finished. */
  showEndings(missions?: readonly string[]): Promise<void> {
    return missions ? showOwed(this.#bench(), missions) : showLeft(this.#bench())
  }

  /** Sends what became due after the pump ended, and what earlier runs left; what is not sent in this time stays queued. */
  async #tell(stop = new AbortController().signal): Promise<void> {
    await this.showEndings()
    await flushNotifications(this.parts, { owner: this.parts.owner, withinMs: tellMs, stop })
  }

  #bench(): Bench {
    return {
      parts: this.parts,
      tasks: this.#tasks,
      brain: (name) => this.#brain(name),
      missing: new Map(),
      paying: this.#paying,
      reports: this.#reports,
    }
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
