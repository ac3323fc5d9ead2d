import type { StoredEvent } from '../../../contract/events/envelope.ts'
import { readEvent } from '../../../contract/events/read.ts'
import type { TaskInput } from '../../../contract/task.ts'
import { evolve } from '../../../core/task/evolve/evolve.ts'
import type { MaybeTask } from '../../../core/task/state.ts'
import type { Journal, StreamAppend } from '../../../ports/journal.ts'
import { taskStream } from '../../streams.ts'

/** What others that were built on a task have to know of it. */
interface Footing {
  version: number
  status: string
  /** Content that counts: accepted, or accepted and being merged. */
  counts: string | undefined
  inputs: readonly TaskInput[]
  /** On the owner's word, whatever its inputs were then. */
  byOwner: boolean
  /** Positions at which it was last accepted, and last ceased to be. */
  acceptedAt: number
  leftAt: number
  /** When it ceased to be. */
  left: string
}

/** Why accepted work counts no longer, though it was not told of it yet; and the tasks that this rests on, as they were seen. */
export interface Ground {
  broken?: { task: string; why: string; at: string }
  /** Conditions for an append that rests on what was seen. */
  seen: StreamAppend[]
}

/** Most tasks of a journal that are kept; those that were not asked for longest go first. */
const mostKept = 10_000
const journals = new WeakMap<object, Map<string, Footing>>()
type Reading = Pick<Journal, 'head' | 'readStream'>

/**
 * Looks at everything that a task was built on, and what that was built on in turn: each has to be accepted as it was given. What the owner accepted
 * after an input had been opened again, the owner took as it was.
 */
export async function groundOf(journal: Reading, task: string): Promise<Ground> {
  const seen = new Map<string, StreamAppend>()
  const open = [task]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const built = await footingOf(journal, id)
    if (!built) continue
    seen.set(id, { stream: taskStream(id), expected: built.version, events: [] })
    for (const { task: input, digest } of built.inputs) {
      const under = await footingOf(journal, input)
      if (!under) continue
      const isAsGiven = under.counts === digest
      if (!isAsGiven && !(built.byOwner && under.leftAt < built.acceptedAt)) {
        seen.set(input, { stream: taskStream(input), expected: under.version, events: [] })
        const now = under.counts === undefined ? `is ${under.status}, no longer accepted` : 'was accepted with other content since'
        return { broken: { task: id, why: `${id} rests on ${input}, which ${now}`, at: under.left }, seen: [...seen.values()] }
      }
      if (isAsGiven && !seen.has(input)) open.push(input)
    }
  }
  return { seen: [...seen.values()] }
}

/** The same for work that a card says is accepted: that has to be so in the first place. */
export async function acceptedGround(journal: Reading, task: string): Promise<Ground> {
  const own = await footingOf(journal, task)
  if (own?.counts !== undefined) return groundOf(journal, task)
  const seen = [{ stream: taskStream(task), expected: own?.version ?? 0, events: [] }]
  return { broken: { task, why: `${task} is ${own?.status ?? 'gone'}, no longer accepted`, at: own?.left ?? '' }, seen }
}

/** A task as its events say; they are read again where there are more of them. */
async function footingOf(journal: Reading, task: string): Promise<Footing | undefined> {
  const kept = journals.get(journal) ?? new Map<string, Footing>()
  journals.set(journal, kept)
  const known = kept.get(task)
  if (known && known.version === (await journal.head(taskStream(task)))) return known
  const footing = footingFrom(await journal.readStream(taskStream(task)))
  kept.delete(task)
  if (footing) kept.set(task, footing)
  for (const oldest of kept.keys()) if (kept.size > mostKept) kept.delete(oldest)
  return footing
}

const accepting = new Set(['task.accepted', 'task.force_accepted'])

function footingFrom(events: readonly StoredEvent[]): Footing | undefined {
  let state: MaybeTask
  const at = { acceptedAt: 0, leftAt: 0, left: '' }
  for (const event of events) {
    const wasDone = state?.status === 'done'
    state = evolve(state, readEvent(event))
    if (state?.status === 'done' && (!wasDone || accepting.has(event.type))) at.acceptedAt = event.position
    if (wasDone && state?.status !== 'done') Object.assign(at, { leftAt: event.position, left: event.meta.at })
  }
  if (!state) return undefined
  const { status, inputs, done, merging } = state
  const counts = status === 'done' ? (done?.content ?? '') : (merging?.acceptance.content ?? undefined)
  return { version: events.length, status, counts, inputs, byOwner: done?.flag === 'owner-accepted', ...at }
}
