import type { Digest } from '../../contract/canonical.ts'
import type { Case, Content } from '../../contract/case.ts'
import type { TaskCommand } from '../../contract/commands/task.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import { readEvent } from '../../contract/events/read.ts'
import type { TaskSpec } from '../../contract/task.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { Engine } from '../engine.ts'
import { changed } from '../work/attempt/changed.ts'
import { taskStream } from '../streams.ts'

/** The name under which whoever made the work stands in a one-shot review, where none is given. */
export const authorName = 'author'

/** Something to be judged as it is: files, and what they were before. */
export interface OneShotSubject {
  title: string
  snapshot: Digest
  base: Digest
}

export interface OneShotTask extends Pick<TaskSpec, 'description' | 'criteria' | 'checks' | 'dimensions' | 'bar'> {
  /** Slug of the review's name; reviews of one name are numbered. */
  id: string
  /** Whoever made the work: an agent of the organisation, or anybody. */
  author?: string
  /** What is said for the work, as a case; one is built from the work where there is none. */
  case?: Case
}

export interface OneShotEnd {
  task: string
  state: TaskState
  events: AssayEvent[]
  stopped: boolean
}

/** Whoever made the work is outside: it gets one try and no second look, and is never its own judge. */
const oneLook: TaskSpec['terms'] = { maxAttempts: 1, onExhausted: 'fail', whenNoReviewer: 'hold' }

/** One review from the work to the decision, through the same journal and decisions as any task. It waits for no judge that cannot be reached. */
export async function reviewOnce(engine: Engine, subject: OneShotSubject, given: OneShotTask, stop: AbortSignal): Promise<OneShotEnd> {
  const { author = authorName, case: argued, ...task } = given
  const spec: TaskSpec = {
    ...task,
    id: `${task.id}/subject`,
    title: subject.title,
    assignee: author,
    outside: true,
    terms: oneLook,
    mission: task.id,
    dependsOn: [],
    priority: 1,
    workspace: { kind: 'scratch' },
    expectsDiff: false,
    depth: 0,
  }
  const started = await engine.start({ id: task.id, name: subject.title, tasks: [spec] }, { fresh: true })
  if (!started.ok) throw new Error(started.error.message)
  const { mission } = started.value
  const id = `${mission}/subject`
  const content = await contentOf(engine, subject)
  const commands: TaskCommand[] = [
    { type: 'start_attempt', worker: author, conversational: false, participants: [], sandboxed: false, outside: true },
    { type: 'submit_case', attempt: 1, raw: argued === undefined ? null : JSON.stringify(argued), content },
  ]
  for (const command of commands) {
    const handled = await engine.handle(id, command, author)
    if (!handled.ok) throw new Error(handled.error.message)
  }
  const held = new AbortController()
  const end = await engine.run({
    missions: [mission],
    stop: AbortSignal.any([stop, held.signal]),
    onEvent: (event) => {
      if (event.type === 'task.held') held.abort()
    },
  })
  const state = await engine.task(id)
  if (!state) throw new Error(`${id} is gone`)
  const events = await eventsOf(engine, id)
  return { task: id, state, events: [...(await carriedVerdicts(engine, events)), ...events], stopped: end.stopped && stop.aborted }
}

async function eventsOf({ parts }: Engine, task: string): Promise<AssayEvent[]> {
  return (await parts.journal.readStream(taskStream(task))).map(readEvent)
}

/** What judges said where the decision is one that another task came to before: nobody was asked for it again. */
async function carriedVerdicts(engine: Engine, events: readonly AssayEvent[]): Promise<AssayEvent[]> {
  const carried = events.findLast((event) => event.type === 'decision.carried')
  if (!carried) return []
  const { from } = carried.data
  return (await eventsOf(engine, from.task)).flatMap((event) =>
    event.type === 'verdict.recorded' && event.data.review === from.review ? [{ ...event, data: { ...event.data, reused: from } }] : [],
  )
}

async function contentOf(engine: Engine, { snapshot, base }: OneShotSubject): Promise<Content> {
  const { snapshots } = engine.parts
  const [now, before] = await Promise.all([snapshots.manifest(snapshot), snapshots.manifest(base)])
  if (!now || !before) throw new Error('the subject was not stored')
  const paths = changed(before, now)
  return { digest: snapshot, snapshot, base, paths, output: '', empty: paths.length === 0 }
}
