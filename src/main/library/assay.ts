import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { CardRequest } from '../../contract/deliverable/deliverable.ts'
import type { Refusal, Result } from '../../contract/errors.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import { formatProblem, type Problem } from '../../contract/source/problem.ts'
import type { DelegateCall, DelegateResult } from '../../engine/delegation/delegate.ts'
import { delegateTasks } from '../../engine/delegation/delegate.ts'
import type { DeliverableReview } from '../../engine/deliverables/review.ts'
import { deliverableReview, reviewDeliverable } from '../../engine/deliverables/review.ts'
import { provenCards } from '../../engine/deliverables/inbox.ts'
import type { Emitted } from '../../engine/deliverables/emit.ts'
import type { Engine, RunEnd } from '../../engine/engine.ts'
import type { StartProblem } from '../../engine/mission/missions.ts'
import { readPlan, readProject, type Project } from '../../engine/project.ts'
import type { InboxRow } from '../../engine/views/inbox.ts'
import type { TaskRow } from '../../engine/views/tasks.ts'
import { brainProblems } from '../brains.ts'
import { openEngine } from '../open-engine.ts'
import { digestNow } from '../subjects/subjects.ts'
import { Calls } from './calls.ts'
import { DeliverableRequest as DeliverableShape, readCard, readDelegation, readMission, readRequest, type Work } from './requests.ts'
import { type ReviewRequest, type ReviewResult, reviewWork, takeWork } from './review.ts'

/** Options of `openAssay`. */
export interface AssayOptions {
  /** The project's folder: `assay.yaml` is read there, and `.assay/` lives there. Without one, a temporary folder that `close` removes. */
  folder?: string
  /** The configuration, in place of the file: an object as `assay.yaml` has it. */
  config?: object
  /** Environment for keys and knobs; the process's own without it. */
  env?: NodeJS.ProcessEnv
}

/** What a producer brings to be handed to the owner. */
export interface DeliverableRequest {
  /** Its name for good; another producer needs another one. */
  id: string
  producer: string
  title?: string
  work: Work
  /** What it is for, as judges read it. */
  task?: string
  /** Added to the policy's. */
  criteria?: readonly string[]
}

/** The configuration cannot be used; `problems` says what and where. */
export class AssayConfigError extends Error {
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'))
    this.name = 'AssayConfigError'
    this.problems = problems
  }
}

/** Opens the gate in this process: the same journal, decisions and panel as the command line's. Several may be open at once. */
export async function openAssay(options: AssayOptions = {}): Promise<Assay> {
  const { env = process.env } = options
  const own = options.folder === undefined ? mkdtempSync(join(tmpdir(), 'assay-')) : undefined
  const folder = resolve(own ?? options.folder ?? '.')
  try {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new AssayConfigError([
        { file: folder, path: '', message: 'there is no such folder', fix: 'make it first, or name the one you mean' },
      ])
    const project = projectOf(options, folder, env)
    const problems = await brainProblems({ folder, project })
    if (problems.length > 0) throw new AssayConfigError(problems)
    const engine = await openEngine({ folder, project, create: true })
    if (!engine) throw new Error(`${folder}/.assay could not be made`)
    return new Assay(engine, project, own)
  } catch (error) {
    if (own !== undefined) rmSync(own, { recursive: true, force: true })
    throw error
  }
}

function projectOf({ config }: AssayOptions, folder: string, env: NodeJS.ProcessEnv): Project {
  const file = join(folder, 'assay.yaml')
  const written = config === undefined ? (existsSync(file) ? readFileSync(file, 'utf8') : undefined) : JSON.stringify(config)
  const loaded = readProject({ text: written, file: config === undefined ? 'assay.yaml' : 'config', env, flags: {} })
  if (!loaded.ok) throw new AssayConfigError(loaded.error)
  return loaded.value
}

/** Why a mission is not started, in the words of refusals. */
const startRefusals: Record<StartProblem['code'], Refusal['code']> = {
  other_plan_running: 'wrong_status',
  policy_changed: 'policy_changed',
  too_fast: 'wrong_status',
  not_found: 'not_found',
  unfit: 'bad_command',
  key_reused: 'key_reused',
}

/**
 * The gate, embedded. Expected failures are values; only broken set-ups and bugs throw. After `close` every call throws an `AssayClosedError`, whose `code`
 * is `closed`.
 */
export class Assay {
  readonly #engine: Engine
  readonly #project: Project
  readonly #temporary: string | undefined
  readonly #calls = new Calls()
  #closed: Promise<void> | undefined

  /** Use `openAssay`. */
  constructor(engine: Engine, project: Project, temporary: string | undefined) {
    this.#engine = engine
    this.#project = project
    this.#temporary = temporary
  }

  /** One review of one piece of work by the configured judges. */
  review(request: ReviewRequest, signal?: AbortSignal): Promise<Result<ReviewResult>> {
    return this.#calls.make(signal, (stop) => reviewWork(this.#engine, request, stop))
  }

  /** Runs a mission (the text of a mission file, or an object of its shape) to its honest end. */
  run(mission: string | object, signal?: AbortSignal): Promise<Result<RunEnd & { mission: string }>> {
    return this.#calls.make(signal, (stop) => this.#run(mission, stop))
  }

  async #run(mission: string | object, stop: AbortSignal): Promise<Result<RunEnd & { mission: string }>> {
    const text = readMission(mission)
    if (!text.ok) return text
    const plan = readPlan({ text: text.value, file: 'mission' }, this.#project)
    if (!plan.ok) return { ok: false, error: { code: 'bad_command', message: plan.error.map(formatProblem).join('\n') } }
    const started = await this.#engine.start(plan.value.plan)
    if (!started.ok) return { ok: false, error: { code: startRefusals[started.error.code], message: started.error.message } }
    const end = await this.#engine.run({ missions: [started.value.mission], stop })
    return { ok: true, value: { ...end, mission: started.value.mission } }
  }

  /** Hands tasks down and waits for their whole rework loop; `judge` is in a result where criteria were given. */
  delegate(call: DelegateCall, from: { by: string; parent?: string }, signal?: AbortSignal): Promise<Result<DelegateResult[]>> {
    return this.#calls.make(signal, async (stop) => {
      const read = readDelegation(call, from)
      if (!read.ok) return read
      const { by, parent } = read.value.from
      // Whoever hands down also judges: a name that nobody has would judge nothing, and belong to nobody.
      if (!Object.hasOwn(this.#project.config.agents, by))
        return { ok: false, error: { code: 'bad_command', message: `\`by\`: ${by} is no agent of this organisation` } }
      return delegateTasks(this.#engine, read.value.call, { by, ...(parent !== undefined && { parent }), stop })
    })
  }

  /** Has a deliverable reviewed: PASS, NEEDS_REVISION with feedback, or FAIL. */
  reviewDeliverable(request: DeliverableRequest, signal?: AbortSignal): Promise<Result<DeliverableReview>> {
    return this.#calls.make(signal, async (stop) => {
      const read = readRequest(DeliverableShape, request)
      if (!read.ok) return read
      const { id, producer, title = id, work, task, criteria } = read.value
      const taken = await takeWork(this.#engine, work)
      if (!taken.ok) return taken
      const described = { ...(task !== undefined && { description: task }), ...(criteria && { criteria }) }
      return reviewDeliverable(this.#engine, { deliverable: id, producer, title, ...taken.value, ...described }, stop)
    })
  }

  /** Where a deliverable stands; undefined where there is none of that id. */
  deliverable(id: string): Promise<DeliverableReview | undefined> {
    return this.#calls.make(undefined, () => deliverableReview(this.#engine, id))
  }

  /** Sends a card to the owner, through the gate: `report_ready` needs a PASS for exactly the bytes as they are now. */
  emitCard(
    card: Omit<CardRequest, 'body' | 'priority' | 'metadata'> & Partial<CardRequest>,
    from: string,
  ): Promise<Emitted | ({ ok: false } & Refusal)> {
    return this.#calls.make(undefined, async () => {
      const read = readCard(card, from)
      if (!read.ok) return { ok: false, ...read.error }
      return this.#engine.emitCard(read.value.card, { from: read.value.from, digestOf: (source) => digestNow(source, this.#engine) })
    })
  }

  /** The owner's cards, newest first, as their events have them. */
  inbox(): Promise<InboxRow[]> {
    return this.#calls.make(undefined, async () => (await provenCards(this.#engine.parts, await this.#engine.inbox())).rows)
  }

  /** Tasks whose ids begin with `prefix`, each with where it stands: all of them without it, those of one run with `<run>/`. */
  tasks(prefix = ''): Promise<TaskRow[]> {
    return this.#calls.make(undefined, () => this.#engine.taskRows(prefix))
  }

  /** Events from a position on, as they are recorded, until the signal or `close`. */
  async *events({ after = 0, signal }: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<StoredEvent> {
    const stop = this.#calls.stopping(signal)
    let position = after
    while (!stop.aborted) {
      const events = await this.#calls.make(signal, () => this.#engine.events(position, 200))
      for (const event of events) {
        if (stop.aborted) return
        position = event.position
        yield event
      }
      if (events.length === 0 && !stop.aborted) await this.#calls.make(signal, () => this.#engine.waitForNews(position, 250))
    }
  }

  /** Proves the journal's chains, and that the rows kept beside it say what it says. */
  verify(): ReturnType<Engine['verify']> {
    return this.#calls.make(undefined, () => this.#engine.verify())
  }

  /** Ends whatever runs here, waits until it has ended, and lets the journal go. A review that is ended so is `INCONCLUSIVE`. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.#calls.end()
    await this.#engine.close()
    if (this.#temporary !== undefined) rmSync(this.#temporary, { recursive: true, force: true })
  }
}
