import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { EventData, EventType } from '../../../contract/events/manifest.ts'
import type { Usage } from '../../../contract/verdict.ts'
import { oneLine } from '../output.ts'

type Describe<T extends EventType> = (data: EventData<T>) => string
type Descriptions = { [T in EventType]?: Describe<T> }

const score = (value: { on5: number; on100: number } | undefined) => (value ? `${value.on5} (${value.on100}/100)` : 'no score')

const costOf = (usage: Usage | undefined) =>
  usage?.costUsd === undefined ? '' : `, $${usage.costUsd.toFixed(4)}${usage.estimated ? ' (estimated)' : ''}`

/** What is said of a review whose quorum is smaller than the one configured. */
export const degradedWords = 'degraded: fewer independent judges than `review.panel.quorum` asks for'

/** One line for people per event; events without one are machinery. */
const descriptions: Descriptions = {
  'attempt.started': ({ attempt, worker }) => `attempt ${attempt} by ${worker}`,
  'attempt.failed': ({ attempt, failure, detail }) => `attempt ${attempt} failed (${failure}): ${detail}`,
  'attempt.interrupted': ({ attempt }) => `attempt ${attempt} was cut off; it is not run again`,
  'attempt.stopped': ({ attempt, detail }) => `attempt ${attempt} stopped, not charged: ${detail}`,
  'attempt.rejected': ({ attempt, category, detail }) => `attempt ${attempt} rejected (${category}): ${detail}`,
  'case.submitted': ({ attempt, case: argued }) => `attempt ${attempt} submitted: ${argued.summary}`,
  'case.parse_error': ({ problems }) => `the case cannot be read: ${problems.join('; ')}`,
  'checks.passed': ({ reports }) => {
    const found = [...new Set(reports.flatMap(({ findings }) => findings))]
    const passes = `${reports.length} ${reports.length === 1 ? 'check passes' : 'checks pass'}`
    return reports.length === 0 ? 'no checks configured' : [passes, ...found.map((finding) => `FOUND: ${finding}`)].join('; ')
  },
  'checks.failed': ({ reports }) =>
    `checks do not pass: ${reports
      .filter((report) => report.outcome !== 'pass')
      .map((report) => `${report.id} (${report.summary})`)
      .join(', ')}`,
  'review.opened': ({ review, size, quorum, degraded, warnings, suspicions }) =>
    [
      `review ${review}: panel of up to ${size}, quorum ${quorum}${degraded ? `, ${degradedWords}` : ''}`,
      ...warnings,
      ...suspicions.map((one) => `SUSPICION: ${one}`),
    ].join('; '),
  'seat.asked': ({ judge, because }) => `asks ${judge}${because === 'opening' ? '' : ` (${because})`}`,
  'verdict.recorded': ({ sitting, reused }) =>
    sitting.outcome === 'abstained'
      ? `${sitting.judge} cannot tell`
      : `${sitting.judge} ${sitting.accepts ? 'accepts' : 'rejects'}, ${score(sitting.score)}${reused ? ' (as before, not asked again)' : costOf(sitting.usage)}`,
  'task.eval.unparsed': ({ judge, reason }) => `UNREADABLE verdict of ${judge}: ${reason}`,
  'seat.voided': ({ judge }) => `${judge} gave no verdict that can be read: the seat is void`,
  'judge.unavailable': ({ judge, detail }) => `${judge} cannot be reached: ${detail}`,
  'veto.raised': ({ judge, criterion }) => `VETO by ${judge}: ${criterion} is not met`,
  'veto.lifted': ({ criterion, by }) => `veto on ${criterion} lifted by ${by === 'judge' ? 'its judge' : `the ${by}`}`,
  'review.decided': ({ decision }) =>
    `${decision.outcome === 'pass' ? 'PASS' : 'REJECTED'}, ${score(decision.score)}${decision.category ? `, ${decision.category}` : ''}${decision.degraded ? ' (degraded panel)' : ''}: ${decision.concern}`,
  'decision.carried': ({ from, decision }) =>
    `REJECTED, ${score(decision.score)}: exactly this was judged before (${from.task}): ${decision.concern}`,
  'decision.reused': ({ review }) => `same content as in review ${review}: its decision stands`,
  'merge.requested': ({ acceptance }) => `merging ${acceptance.kind === 'accepted' ? acceptance.flag : 'below-threshold'} work`,
  'merge.checked': ({ reports }) => `merged; ${reports.length} ${reports.length === 1 ? 'check passes' : 'checks pass'} on the merge`,
  'merge.changed': ({ content }) => `the merge changed what was reviewed (${content.paths.join(', ')}): it is reviewed again`,
  'merge.failed': ({ cause, detail, charged }) => `NOT MERGED (${cause}): ${detail}${charged ? '' : ' The attempt is not charged.'}`,
  'merge.published': ({ commit }) => `published as ${commit.slice(0, 12)}`,
  'task.returned': ({ feedback }) => `back to the worker: ${feedback.points.map((point) => point.text).join(' · ') || feedback.summary}`,
  'task.stagnated': ({ category }) => `rework does not move: ${category} on the same place, no gain`,
  'task.accepted': ({ flag, score: value, why }) =>
    flag === 'clean'
      ? `ACCEPTED CLEAN, ${score(value)}`
      : flag === 'unreviewed'
        ? `ACCEPTED UNREVIEWED: ${why}`
        : `OWNER-ACCEPTED, ${value ? score(value) : 'UNSCORED'}: ${why}`,
  'task.force_accepted': ({ score: value, why }) => `ACCEPTED BELOW QUALITY BAR, ${score(value)} (${why})`,
  'task.delegated': ({ delegated, refused }) =>
    [
      ...(delegated.length > 0 ? [`hands down ${delegated.map(({ title, to }) => `${title} to ${to}`).join(', ')}`] : []),
      ...refused.map(({ title, to, why }) => `PROPOSAL REFUSED: ${title} to ${to}: ${why}`),
    ].join('; '),
  'task.held': ({ reason, detail }) => `HELD (${reason}): ${detail}`,
  'hold.lifted': ({ reason, why }) => `goes on after ${reason}: ${why}`,
  'task.failed': ({ reason }) => `FAILED: ${reason}`,
  'task.skipped': ({ because }) => `SKIPPED: ${because}`,
  'task.reopened': ({ by, reason }) => `reopened by ${by}: ${reason}`,
  'task.overruled': ({ outcome, by, reason }) => `overruled to ${outcome} by ${by}: ${reason}`,
  'task.reset': ({ by }) => `ledger reset by ${by}`,
  'operator.requested': ({ request, answers }) => `asks a person (${request}): ${answers.join(', ')}`,
  'operator.answered': ({ request, answer, by }) => `${by} answered ${request}: ${answer}`,
  'quality.gate.passed': ({ gateName, avgScore }) => `gate ${gateName} passes${avgScore ? `, average ${score(avgScore)}` : ''}`,
  'quality.gate.failed': ({ gateName, reason }) => `gate ${gateName} FAILS: ${reason}`,
  'quality.gate.skipped': ({ gateName }) => `gate ${gateName} is skipped: evaluation is off`,
  'gate.reopened': ({ gateName, task }) => `gate ${gateName} looks again: ${task} is open again`,
  'gate.retried': ({ gateName, tasks, by }) => `${by} asks for more at gate ${gateName}: ${tasks.join(', ')}`,
  'gate.waived': ({ gateName, by, reason }) => `gate ${gateName} WAIVED by ${by}: ${reason}`,
  'gate.stopped': ({ gateName, by, reason }) => `gate ${gateName} stopped by ${by}: ${reason}`,
  'quality.threshold.passed': ({ avgScore }) => `quality threshold reached, average ${score(avgScore)}`,
  'quality.threshold.failed': ({ reason }) => `quality threshold MISSED: ${reason}`,
  'threshold.waived': ({ by, reason }) => `quality threshold WAIVED by ${by}: ${reason}`,
  'sla.warning': ({ entityId, remaining }) => `DEADLINE of ${entityId} in ${Math.round(remaining / 1000)} s`,
  'sla.violated': ({ entityId, overdueMs }) => `DEADLINE of ${entityId} MISSED by ${Math.round(overdueMs / 1000)} s`,
  'sla.met': ({ entityId }) => `deadline of ${entityId} met`,
  'clock.jumped': ({ byMs }) => `the clock of this machine jumped by ${Math.round(byMs / 1000)} s; deadlines go by the steady clock`,
  'folder.stuck': ({ folder, task, why }) => `FOLDER ${folder}: what ${task} left there cannot be put back: ${why}`,
  'folder.changed': ({ folder, task, corrected, others, kept }) =>
    [
      `FOLDER ${folder} changed after ${task} was handed in`,
      ...(corrected.length > 0 ? [`made what was accepted: ${corrected.join(', ')} (what lay there is in ${kept})`] : []),
      ...(others.length > 0 ? [`left as they are: ${others.join(', ')}`] : []),
    ].join('; '),
  'task.unreadied': () => 'waits for what it depends on, as that is now',
  'task.blocked': ({ gate }) => `waits for the gate ${gate} again`,
  'mission.started': ({ name, tasks }) => `mission ${name}: ${tasks} tasks`,
  'mission.finished': ({ outcome, detail }) => `mission finished, ${outcome}: ${detail}`,
}

/** Events that a person who watches wants to see; the rest is for the audit. */
const quiet = new Set<string>([
  'sla.met',
  'seat.asked',
  'review.opened',
  'operator.requested',
  'case.submitted',
  'merge.requested',
  'merge.checked',
  'mission.started',
  'mission.finished',
])

export function describeEvent(event: StoredEvent): string | undefined {
  const describe = descriptions[event.type as EventType] as Describe<never> | undefined
  const text = describe && oneLine(describe(event.data as never), 400)
  return text === '' ? undefined : text
}

export function isQuiet(event: StoredEvent): boolean {
  if (event.type !== 'review.opened') return quiet.has(event.type)
  const { suspicions, warnings, degraded } = event.data as EventData<'review.opened'>
  return suspicions.length === 0 && warnings.length === 0 && !degraded
}
