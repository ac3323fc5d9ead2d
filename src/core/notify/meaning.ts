import type { Severity } from '../../contract/notify/message.ts'

/** What an event does to the alert on a thing: it raises one, or ends those that stand under these keys. */
export type Incident = { action: 'trigger'; key: string } | { action: 'resolve'; keys: string[] }

type Data = Record<string, unknown>

/** An event's last word says most; events that rework takes care of, or that mean something else, are named. */
const byWord: Record<string, Severity> = {
  failed: 'error',
  violated: 'error',
  held: 'warning',
  warning: 'warning',
  force_accepted: 'warning',
  stagnated: 'warning',
  unparsed: 'warning',
  unavailable: 'warning',
  interrupted: 'warning',
  rejected: 'warning',
  raised: 'warning',
  waived: 'warning',
  skipped: 'warning',
  overruled: 'warning',
  bypassed: 'error',
}
const byName: Record<string, Severity> = {
  'attempt.failed': 'warning',
  'checks.failed': 'warning',
  'merge.failed': 'warning',
  'operator.requested': 'warning',
  'gate.stopped': 'warning',
  'bypass.granted': 'error',
  'bypass.requested': 'warning',
  'release.refused': 'warning',
  'session.unreviewed': 'warning',
}

export const severities: readonly Severity[] = ['info', 'warning', 'error', 'critical']

export function severityOf(type: string, data: Data): Severity {
  if (type === 'mission.finished') return data.outcome === 'clean' ? 'info' : data.outcome === 'failed' ? 'error' : 'warning'
  if (type === 'task.accepted' && data.flag === 'unreviewed') return 'warning'
  return byName[type] ?? byWord[lastWord(type)] ?? 'info'
}

const raising = new Set([
  'task.failed',
  'task.held',
  'task.force_accepted',
  'task.stagnated',
  'operator.requested',
  'quality.gate.failed',
  'quality.threshold.failed',
  'sla.violated',
])
const ending = new Set([
  'task.accepted',
  'hold.lifted',
  'quality.gate.passed',
  'gate.waived',
  'quality.threshold.passed',
  'threshold.waived',
  'sla.met',
])

/** Undefined for an event that neither raises nor ends an alert that another event knows of. */
export function incidentOf(type: string, subject: string, data: Data): Incident | undefined {
  const key = `${concernOf(type)}:${subject}`
  if (type === 'mission.finished') {
    return data.outcome === 'failed'
      ? { action: 'trigger', key }
      : { action: 'resolve', keys: [key, `sla:${subject}`, `threshold:${subject}`] }
  }
  if (raising.has(type)) return { action: 'trigger', key }
  if (!ending.has(type) || (type === 'hold.lifted' && data.to === 'held')) return undefined
  // Work that is accepted at last is late no longer.
  return { action: 'resolve', keys: type === 'task.accepted' ? [key, `sla:${subject}`] : [key] }
}

/** A deadline that was met says nothing about the work, so each concern has alerts of its own. */
function concernOf(type: string): 'sla' | 'threshold' | 'state' {
  if (type.startsWith('sla.')) return 'sla'
  return /(^|\.)threshold\./.test(type) ? 'threshold' : 'state'
}

function lastWord(type: string): string {
  return type.slice(type.lastIndexOf('.') + 1)
}
