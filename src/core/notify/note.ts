import type { Json } from '../../contract/canonical.ts'
import type { Severity } from '../../contract/notify/message.ts'
import { boundedData, plainLine, plainText } from './bounded.ts'
import { type Incident, incidentOf, severityOf } from './meaning.ts'

/** An event as the outbox gets it. */
export interface ToldEvent {
  stream: string
  version: number
  type: string
  data: unknown
  /** Wall-clock time, ISO 8601 UTC. */
  at: string
}

/** What people are told of an event, before it takes the form of a channel. */
export interface Note {
  /** `stream@version`: the same however often it is told. */
  id: string
  type: string
  /** What it is about: a task, a gate, a mission. */
  subject: string
  mission: string
  at: string
  severity: Severity
  title: string
  text: string
  fields: { name: string; value: string }[]
  data: Json
  incident: Incident | undefined
}

const maxTitle = 140
const maxText = 1500
const maxField = 200

type Data = Record<string, unknown>

/** The note on an event. Everything in it that a worker or judge wrote is bounded and made visible. */
export function noteOf({ stream, version, type, data, at }: ToldEvent, mission: string): Note {
  const fact = (typeof data === 'object' && data !== null ? data : {}) as Data
  const subject = subjectOf(stream, type, fact)
  return {
    id: `${stream}@${version}`,
    type,
    subject,
    mission,
    at,
    severity: severityOf(type, fact),
    title: plainLine(`${titleWords(type, fact)}: ${thingName(subject, fact)}`, maxTitle),
    text: plainText(textOf(fact), maxText),
    fields: fieldsOf(fact, mission),
    data: boundedData(fact),
    incident: incidentOf(type, subject, fact),
  }
}

/** What an event is about: cooldowns and incidents go by it. Deadlines name the thing that they belong to. */
export function subjectOf(stream: string, type: string, data: unknown): string {
  const { entityType, entityId } = (data ?? {}) as Data
  return type.startsWith('sla.') && typeof entityType === 'string' && typeof entityId === 'string' ? `${entityType}/${entityId}` : stream
}

function titleWords(type: string, fact: Data): string {
  if (type === 'mission.finished') return `Mission finished ${String(fact.outcome ?? '')}`
  if (type === 'task.accepted') return `Task accepted ${String(fact.flag ?? '')}`
  const words = type.replace(/[._]/g, ' ').replace(/^sla /, 'deadline ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** `task/m-1/build` is `m-1/build`; a gate goes by its name. */
function thingName(subject: string, { gateName }: Data): string {
  return typeof gateName === 'string' ? gateName : subject.slice(subject.indexOf('/') + 1)
}

/** Where events say why, in the order in which they are looked at. */
const reasons = ['reason', 'detail', 'because', 'concern', 'why', 'summary'] as const

function textOf(fact: Data): string {
  const inner = [fact, fact.decision, fact.feedback, fact.case].filter((one) => typeof one === 'object' && one !== null) as Data[]
  for (const one of inner) for (const key of reasons) if (typeof one[key] === 'string' && one[key] !== '') return one[key]
  return ''
}

const labels: Record<string, string> = {
  gateName: 'Gate',
  avgScore: 'Average score',
  score: 'Score',
  threshold: 'Threshold',
  attempt: 'Attempt',
  worker: 'Worker',
  judge: 'Judge',
  by: 'By',
  request: 'Request',
  answers: 'Answers',
  answer: 'Answer',
  weak: 'Weak inputs',
  deadline: 'Deadline',
  percentUsed: 'Time used (%)',
  remaining: 'Remaining (ms)',
  overdueMs: 'Overdue (ms)',
  marginMs: 'Margin (ms)',
}

function fieldsOf(fact: Data, mission: string): Note['fields'] {
  const fields = mission === '' ? [] : [{ name: 'Mission', value: plainLine(mission, maxField) }]
  for (const [key, name] of Object.entries(labels)) {
    const value = valueText(fact[key])
    if (value !== '') fields.push({ name, value: plainLine(value, maxField) })
  }
  return fields
}

function valueText(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string').join(', ')
  const score = value as { on5?: unknown; on100?: unknown } | null | undefined
  return typeof score?.on5 === 'number' ? `${score.on5} (${String(score.on100)}/100)` : ''
}
