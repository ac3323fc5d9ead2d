import type { RunEnd } from '../../../engine/engine.ts'
import type { TaskRow } from '../../../engine/views/tasks.ts'
import { oneLine, type Output } from '../output.ts'
import { heldInputText, waiverWords } from './mission.ts'
import { cut, displayWidth, table, wrap } from './table.ts'
import { barOn100, scoreText, stateWord } from './task.ts'

/** Those who are waited for, as far as a summary names them. */
const mostAwaited = 10

/** Deliverables that did not reach the owner, as far as a summary names them. */
const mostWithheld = 10

/** Questions that wait for a person, as far as a summary asks them. */
const mostAsked = 5
/** Held inputs of gates that it names. */
const mostHeld = 10

/** The last lines of a run: result, score against the bar, top concern, the next command to type. */
export function summary(output: Output, missions: readonly string[], end: RunEnd, configFlag = ''): string {
  const rows = [...end.rows].sort((a, b) => rank(a) - rank(b))
  const shown = rows.slice(0, 30)
  const lines = [
    '',
    table(
      ['result', 'score/bar', 'attempt', 'task'],
      shown.map((row) => [stateWord(row), scoreText(row), String(row.attempt), row.title]),
      output.columns,
    ),
  ]
  if (rows.length > shown.length) lines.push(wrap(`… ${rows.length - shown.length} more: assay task list`, output.columns))
  const waived = waiverWords(end.gates.filter(({ status }) => status === 'waived').length, end.waivedThresholds.length > 0)
  const states = Object.entries(end.counts).map(([label, count]) => `${count} ${label}`)
  const counts = [states.join(', '), ...waived].join('; ')
  const word = endWord(end)
  const result = `RESULT: ${word}`
  const fits = displayWidth(`${result}  (${counts})`) <= output.columns
  const painted = output.paint(word === 'PASS' ? 'green' : word === 'FAIL' ? 'red' : 'yellow', result)
  lines.push('', fits ? `${painted}  (${counts})` : `${painted}\n${wrap(`  (${counts})`, output.columns, 2)}`)
  if (end.judging.calls > 0) lines.push(wrap(`Judging: ${judgingText(end.judging)}`, output.columns, 2))
  for (const { name, status, reason } of end.gates) {
    if (status === 'failed' || status === 'stopped')
      lines.push(wrap(`Gate ${oneLine(name, 60)}: ${status}${reason === undefined ? '' : `, ${oneLine(reason, 200)}`}`, output.columns, 2))
  }
  for (const held of end.heldInputs.slice(0, mostHeld))
    lines.push(wrap(`Gate ${heldInputText(held, output.columns - 3)}`, output.columns, 2))
  // The command stands on a line of its own: it is there to be copied.
  for (const mission of end.missedThresholds)
    lines.push(`Quality threshold of ${mission}: missed. To let it pass:`, `  assay mission waive ${mission}${configFlag} --reason <text>`)
  const worst = rows.find((row) => rank(row) < 4)
  if (worst?.concern !== undefined || worst?.detail !== undefined) {
    const against = worst.score ? ` ${worst.score.on100} against the bar of ${barOn100(worst.bar)}` : ''
    lines.push(wrap(`Top concern (${oneLine(worst.title, 60)}${against}): ${oneLine(whyWorst(worst), 300)}`, output.columns, 2))
  }
  for (const { task, why } of end.withheld.slice(0, mostWithheld))
    lines.push(wrap(`Not handed over: ${task}: ${oneLine(why, 300)}`, output.columns, 2))
  if (end.untold) lines.push(wrap(untoldText(end.untold), output.columns, 2))
  for (const { task, agent, for: what } of end.awaited.slice(0, mostAwaited))
    lines.push(wrap(`Waits for ${oneLine(agent, 60)}, who comes from outside: ${what} on ${task}`, output.columns, 2))
  for (const { request, answers, detail } of end.requests.slice(0, mostAsked)) {
    const why = detail === '' ? '' : `: ${oneLine(detail, 200)}`
    lines.push(wrap(`Waits for you: ${cut(oneLine(request, 200), output.columns - 3)} (${answers.join(', ')})${why}`, output.columns, 2))
  }
  if (end.requests.length > mostAsked) lines.push(wrap(`… ${end.requests.length - mostAsked} more wait for you`, output.columns, 2))
  lines.push(`Next: ${nextCommand(missions, end, worst)}${configFlag}`)
  return lines.join('\n')
}

/** A run passes on its judges' word alone: with work in it that the owner accepted in their place, it says so. */
function endWord({ stopped, outcome }: RunEnd): string {
  if (stopped) return 'STOPPED'
  return {
    clean: 'PASS',
    'owner-accepted': 'OWNER-ACCEPTED',
    unreviewed: 'UNREVIEWED',
    failed: 'FAIL',
    inconclusive: 'INCONCLUSIVE',
  }[outcome]
}

function untoldText({ waiting, givenUp, last }: NonNullable<RunEnd['untold']>): string {
  const why = last ? ` (the last on ${oneLine(last.channel, 60)}: ${oneLine(last.detail, 200)})` : ''
  const counts = [...(givenUp > 0 ? [`${givenUp} given up${why}`] : []), ...(waiting > 0 ? [`${waiting} still to be sent`] : [])]
  return `Notifications: ${counts.join(', ')}; see assay doctor`
}

function judgingText({ calls, unpriced, inputTokens, outputTokens, costUsd, estimated = 0 }: RunEnd['judging']): string {
  const besides = [...(unpriced > 0 ? [`${unpriced} without a price`] : []), ...(estimated > 0 ? [`${estimated} estimated`] : [])]
  const money = calls === unpriced ? [] : [`$${costUsd.toFixed(4)}${besides.length > 0 ? ` (${besides.join(', ')})` : ''}`]
  return [`${calls} ${calls === 1 ? 'call' : 'calls'}`, `${inputTokens} tokens in`, `${outputTokens} out`, ...money].join(', ')
}

/** What stands in its way now: judges' words may be older than what holds it, unless the hold is for them. */
function whyWorst({ status, held, concern, detail, score, bar }: TaskRow): string {
  // What judges passed, and was ended all the same, did not fail for what they said.
  const passed = score !== undefined && score.on100 >= barOn100(bar)
  const newer = status === 'held' ? held !== 'escalated' : status === 'failed' && passed
  const first = newer ? (detail ?? concern) : (concern ?? detail)
  return first ?? ''
}

/** What needs a look comes first. */
function rank(row: TaskRow): number {
  if (row.status === 'failed') return 0
  if (row.flag === 'below-threshold') return 1
  if (row.status === 'held') return 2
  if (row.flag === 'unreviewed') return 3
  if (row.status === 'skipped') return 4
  return row.status === 'done' ? 6 : 5
}

function nextCommand(missions: readonly string[], end: RunEnd, worst: TaskRow | undefined): string {
  const resume = missions.length === 1 ? `assay resume ${missions[0]}` : 'assay resume'
  if (end.stopped || (worst?.held === 'judge_unavailable' && !worst.byCall)) return resume
  if (end.requests.length > 0) return 'assay requests'
  if (worst) return worst.attempt > 0 ? `assay task show ${worst.id}` : `assay task list`
  if (end.withheld.length > 0) return 'assay inbox'
  const [coming] = end.awaited
  if (coming) return `assay mcp --role ${coming.for === 'work' ? 'worker' : 'reviewer'} --agent ${coming.agent}`
  const open = end.rows.some((row) => row.status !== 'done' && row.status !== 'failed' && row.status !== 'skipped')
  return open ? resume : 'assay audit verify'
}
