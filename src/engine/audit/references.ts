import type { Conversation } from '../../contract/case.ts'
import type { CheckReport } from '../../contract/check.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { EventData, EventType } from '../../contract/events/manifest.ts'

/** What an event needs to find in `.assay/objects`: a snapshot with its files, a plan with its pieces, a conversation back to its beginning, or bytes. */
export interface Reference {
  kind: 'snapshot' | 'plan' | 'conversation' | 'bytes'
  digest: string
}

const snapshots = (content: { snapshot: string; base: string }): Reference[] => [
  { kind: 'snapshot', digest: content.snapshot },
  { kind: 'snapshot', digest: content.base },
]
const talk = (conversation: Conversation | undefined): Reference[] =>
  conversation?.stored == null ? [] : [{ kind: 'conversation', digest: conversation.stored }]
const kept = ({ reports }: { reports: readonly CheckReport[] }): Reference[] =>
  reports.flatMap(({ evidence = [] }) => evidence.map(({ digest }) => ({ kind: 'bytes' as const, digest })))

type Table = { [T in EventType]?: (data: EventData<T>) => Reference[] }

/** Every kind of event that names objects. Other digests in events name values (a policy, criteria) that are stored nowhere by themselves. */
const table: Table = {
  'mission.started': ({ plan }) => [{ kind: 'plan', digest: plan }],
  'mission.extended': ({ plan }) => [{ kind: 'plan', digest: plan }],
  'case.submitted': ({ content, conversation }) => [...snapshots(content), ...talk(conversation)],
  'call.begun': ({ conversation }) => talk(conversation),
  'call.ended': ({ conversation }) => talk(conversation),
  'conversation.kept': ({ conversation }) => talk(conversation),
  'case.parse_error': ({ conversation }) => talk(conversation),
  'worker.reminded': ({ conversation }) => talk(conversation),
  'merge.changed': (data) => [...snapshots(data.content), ...kept(data)],
  'merge.checked': kept,
  'merge.failed': kept,
  'checks.passed': kept,
  'checks.failed': kept,
  'attempt.rejected': kept,
  'deliverable.submitted': ({ snapshot }) => [{ kind: 'snapshot', digest: snapshot }],
  'card.emitted': ({ snapshot }) => (snapshot === undefined ? [] : [{ kind: 'snapshot', digest: snapshot }]),
}

export function referencesOf(event: Pick<StoredEvent, 'type' | 'data'>): Reference[] {
  const named = table[event.type as EventType] as ((data: never) => Reference[]) | undefined
  return named ? named(event.data as never) : []
}
