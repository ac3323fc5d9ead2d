import { styleText } from 'node:util'
import { table, wrap } from '../render/table.ts'
import { block, line, tail } from './escape.ts'
import { resultLine } from './minimal.ts'
import { againstBar, type CriterionReport, deliverableText, isBelow, type ReviewReport, standingOf, usageText } from './report.ts'

type Style = Parameters<typeof styleText>[0]

export interface Screen {
  columns: number
  colour: boolean
}

/** The report for a person at a terminal: criteria, scores, judges, checks, what to do, and the result as the last line. */
export function pretty(report: ReviewReport, { columns, colour }: Screen): string {
  const paint = (style: Style, text: string) => (colour ? styleText(style, text, { validateStream: false }) : text)
  const sections: [string, string[]][] = [
    ['Criteria', report.criteria.flatMap((criterion) => criterionLines(criterion, columns, paint))],
    ['Scores', scoreLines(report, columns, paint)],
    ['Judges', judgeLines(report, columns)],
    ['Checks', checkLines(report, columns, paint)],
    ['Suspicions', report.suspicions.map((text) => paint('yellow', hanging('! ', text, columns)))],
    ['Warnings', report.warnings.map((text) => hanging('- ', text, columns))],
    ['Concern', report.concern === '' ? [] : [hanging('- ', report.concern, columns)]],
    ['Next', report.nextSteps.map(({ from, text }) => hanging(`- ${line(from, 60)}: `, text, columns))],
  ]
  const colourOfResult = report.result === 'clean' ? 'green' : report.result === 'below-threshold' ? 'red' : 'yellow'
  return [
    hanging(`${report.subject.kind} `, `${report.subject.name} ${report.subject.digest}`, columns),
    ...sections.filter(([, lines]) => lines.length > 0).flatMap(([title, lines]) => ['', paint('bold', title), ...lines]),
    '',
    ...[deliverableText(report)].flatMap((text) => (text === undefined ? [] : [wrap(inLine(line(text, 600)), columns, 2)])),
    wrap(usageText(report), columns, 2),
    paint(colourOfResult, wrap(inLine(resultLine(report)), columns, 2)),
  ].join('\n')
}

type Paint = (style: Style, text: string) => string

/** Somebody's text behind a mark of ours, wrapped. */
function hanging(mark: string, text: string, columns: number): string {
  return wrap(inLine(`  ${mark}${line(text)}`), columns, 4)
}

/** What a CI log would take for a command at the beginning of a line keeps to the word before it. */
function inLine(text: string): string {
  return text.replaceAll(' ::', '\u00a0::')
}

const marks = { yes: '✓', no: '✗', cannot_tell: '?', unanswered: '·' }

function criterionLines(criterion: CriterionReport, columns: number, paint: Paint): string[] {
  const standing = standingOf(criterion)
  const heading = hanging(`${marks[standing]} ${line(criterion.id, 64)} `, `${criterion.text}${criterion.hard ? ' (hard)' : ''}`, columns)
  const answers = criterion.answers.map(({ judge, met, reasoning, evidence }) => {
    const pointers = evidence.map(({ pointer, resolved }) => (resolved ? pointer : `${pointer} (NOT FOUND)`)).join(', ')
    return hanging(`  · ${line(judge, 60)} ${met}: `, `${reasoning}${pointers === '' ? '' : ` [${pointers}]`}`, columns)
  })
  return [paint(standing === 'yes' ? 'green' : standing === 'no' ? 'red' : 'yellow', heading), ...answers]
}

function scoreLines(report: ReviewReport, columns: number, paint: Paint): string[] {
  return report.dimensions.flatMap(({ name, score, reasoning }) => {
    const text = hanging('- ', `${name} ${againstBar(score, report.bar)}`, columns)
    const heading = score !== undefined && isBelow(score, report.bar) ? paint('red', text) : text
    return [heading, ...reasoning.map((one) => hanging(`  · ${line(one.judge, 60)}: `, one.text, columns))]
  })
}

function judgeLines(report: ReviewReport, columns: number): string[] {
  if (report.judges.length === 0) return []
  const rows = report.judges.map(({ judge, outcome, score, concern = '' }) => [
    line(judge, 60),
    outcome,
    score === undefined ? '' : String(score.on100),
    line(concern, 400),
  ])
  return table(['judge', 'outcome', 'score', 'concern'], rows, columns - 4)
    .split('\n')
    .map((row, index) => `${index === 0 ? '    ' : '  - '}${row}`)
}

const outputLines = 20

function checkLines(report: ReviewReport, columns: number, paint: Paint): string[] {
  return report.checks.flatMap(({ id, outcome, summary, output, findings }) => {
    const heading = hanging(`${outcome === 'pass' ? '✓' : '✗'} ${line(id, 64)} (${outcome}) `, summary, columns)
    if (outcome === 'pass') return [paint('green', heading)]
    const last = block(tail(output)).split('\n').slice(-outputLines)
    return [
      paint('red', heading),
      ...findings.map((finding) => hanging('  changed by the worker: ', finding, columns)),
      ...last.map((text) => `    │ ${text}`),
    ]
  })
}
