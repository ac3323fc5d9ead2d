import { markdownFence, markdownText, tail } from './escape.ts'
import {
  againstBar,
  type CriterionReport,
  deliverableText,
  headline,
  type ReviewReport,
  resultWord,
  standingOf,
  usageText,
} from './report.ts'

/** The report for a pull request, an issue or a job summary. Only words of ours are Markdown. */
export function markdown(report: ReviewReport): string {
  const { subject, category, concern, nextSteps, suspicions, warnings } = report
  const because = category === null ? '' : ` · ${markdownText(category)}`
  return [
    `## Assay: ${resultWord(report)} · ${againstBar(report.score, report.bar)}${because}`,
    ...(report.accepted ? [markdownText(headline(report), 600)] : []),
    `${subject.kind} ${markdownText(subject.name, 300)} · ${markdownText(subject.digest, 100)}`,
    ...[deliverableText(report)].flatMap((text) => (text === undefined ? [] : [markdownText(text, 600)])),
    ...(concern === '' ? [] : [`> ${markdownText(concern)}`]),
    list(
      'What to do',
      nextSteps.map(({ from, text }) => `**${markdownText(from, 60)}**: ${markdownText(text)}`),
    ),
    grid('Criteria', ['', 'criterion', 'judges'], report.criteria.map(criterionRow)),
    grid(
      'Scores',
      ['dimension', 'score', 'judges'],
      report.dimensions.map((dimension) => dimensionRow(dimension, report)),
    ),
    grid('Judges', ['judge', 'outcome', 'score', 'concern'], report.judges.map(judgeRow)),
    grid(
      'Checks',
      ['check', 'outcome', 'summary'],
      report.checks.map(({ id, outcome, summary }) => [id, outcome, summary].map((text) => markdownText(text, 500))),
    ),
    ...report.checks.filter(({ outcome }) => outcome !== 'pass').map(checkOutput),
    list(
      'Suspicions',
      suspicions.map((text) => markdownText(text)),
    ),
    list(
      'Warnings',
      warnings.map((text) => markdownText(text)),
    ),
    markdownText(usageText(report)),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function list(title: string, items: readonly string[]): string {
  return items.length === 0 ? '' : [`### ${title}`, '', ...items.map((item) => `- ${item}`)].join('\n')
}

function grid(title: string, headings: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const lines = [headings, headings.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return [`### ${title}`, '', ...lines].join('\n')
}

function criterionRow(criterion: CriterionReport): string[] {
  const answers = criterion.answers.map(({ judge, met, reasoning, evidence }) => {
    const pointers = evidence.map(({ pointer, resolved }) => `${markdownText(pointer, 200)}${resolved ? '' : ' (not found)'}`)
    return `**${markdownText(judge, 60)}** ${markdownText(met)}: ${markdownText(reasoning, 1000)}${pointers.length > 0 ? ` · ${pointers.join(', ')}` : ''}`
  })
  const mark = { yes: '✅', no: '❌', cannot_tell: '❔', unanswered: '·' }[standingOf(criterion)]
  return [
    mark,
    `**${markdownText(criterion.id, 64)}** ${markdownText(criterion.text, 1000)}${criterion.hard ? ' (hard)' : ''}`,
    answers.join('<br>'),
  ]
}

function dimensionRow({ name, score, reasoning }: ReviewReport['dimensions'][number], report: ReviewReport): string[] {
  const said = reasoning.map(({ judge, text }) => `**${markdownText(judge, 60)}**: ${markdownText(text, 1000)}`)
  return [markdownText(name, 80), againstBar(score, report.bar), said.join('<br>')]
}

function judgeRow({ judge, outcome, score, concern = '' }: ReviewReport['judges'][number]): string[] {
  return [markdownText(judge, 60), outcome, score === undefined ? '' : String(score.on100), markdownText(concern, 1000)]
}

function checkOutput({ id, output }: ReviewReport['checks'][number]): string {
  return `<details><summary>output of ${markdownText(id, 64)}</summary>\n\n${markdownFence(tail(output))}\n\n</details>`
}
