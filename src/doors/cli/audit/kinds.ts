import type { StoredEvent } from '../../../contract/events/envelope.ts'

/** What an auditor asks for, by one word. */
export const groups = [
  'verdict',
  'unreadable',
  'decision',
  'force-accept',
  'refusal',
  'bypass',
  'overrule',
  'card',
  'trouble',
  'policy',
] as const
export type Group = (typeof groups)[number]

/** Every kind of event that the audit lists, and what it is looked for as. A new kind is a line here. */
const kinds: Readonly<Record<string, Group>> = {
  'verdict.recorded': 'verdict',
  'judge.unavailable': 'verdict',
  'veto.raised': 'verdict',
  'veto.lifted': 'verdict',
  'task.eval.unparsed': 'unreadable',
  'seat.voided': 'unreadable',
  'case.parse_error': 'unreadable',
  'review.opened': 'decision',
  'review.decided': 'decision',
  'decision.reused': 'decision',
  'decision.carried': 'decision',
  'task.accepted': 'decision',
  'task.failed': 'decision',
  'task.stagnated': 'decision',
  'attempt.rejected': 'decision',
  'checks.failed': 'decision',
  'quality.gate.passed': 'decision',
  'quality.threshold.passed': 'decision',
  'mission.finished': 'decision',
  'task.force_accepted': 'force-accept',
  'quality.gate.failed': 'refusal',
  'quality.threshold.failed': 'refusal',
  'release.refused': 'refusal',
  'release.allowed': 'card',
  'quality.gate.skipped': 'bypass',
  'gate.waived': 'bypass',
  'threshold.waived': 'bypass',
  'task.overruled': 'overrule',
  'operator.answered': 'overrule',
  'task.reopened': 'overrule',
  'task.reset': 'overrule',
  'gate.retried': 'overrule',
  'gate.stopped': 'overrule',
  'attempt.failed': 'trouble',
  'attempt.interrupted': 'trouble',
  'task.held': 'trouble',
  'session.unreviewed': 'trouble',
  'operator.requested': 'trouble',
  'deliverable.freed': 'overrule',
  'policy.recorded': 'policy',
  'policy.adopted': 'policy',
  'policy.accepted': 'policy',
  'owner.enrolled': 'policy',
}

/** Families of events that are listed whole. */
const families: Readonly<Record<string, Group>> = { bypass: 'bypass', card: 'card', deliverable: 'decision' }

/** Undefined for machinery. */
export function groupOf(type: string): Group | undefined {
  return kinds[type] ?? families[type.split('.')[0] ?? '']
}

/** Fields that name who did something, or to whom it was done. */
const agentFields = ['worker', 'judge', 'participant', 'by', 'producer', 'agent', 'reviewer', 'assignee']

export function agentsOf(event: StoredEvent): Set<string> {
  const data = event.data as Record<string, unknown>
  const inner = [data, data.sitting, data.spec].filter((part) => typeof part === 'object' && part !== null) as Record<string, unknown>[]
  const names = inner.flatMap((part) => agentFields.map((field) => part[field]))
  return new Set([event.meta.actor, ...names.filter((name) => typeof name === 'string')])
}

/** The thing that an event is about, where its stream is that of one: `task`, `deliverable` or `mission`, and its id. */
export function subjectOf(event: StoredEvent): { kind: string; id: string } {
  const cut = event.stream.indexOf('/')
  return cut < 0 ? { kind: event.stream, id: '' } : { kind: event.stream.slice(0, cut), id: event.stream.slice(cut + 1) }
}

/** By its whole id, or by the end of it. */
export function isAbout(event: StoredEvent, kind: 'task' | 'deliverable', wanted: string): boolean {
  const matches = (id: unknown) => typeof id === 'string' && (id === wanted || id.endsWith(`/${wanted}`))
  const { kind: of, id } = subjectOf(event)
  if (of === kind && matches(id)) return true
  if (kind === 'task') return event.stream.startsWith('task/') === false && event.stream.endsWith(`/${wanted}`) && of !== 'deliverable'
  const data = event.data as Record<string, unknown>
  return matches(data.deliverable) || matches(data.deliverableId)
}
