import { tail, xmlAttribute, xmlText } from './escape.ts'
import { criterionText } from './findings.ts'
import { againstBar, type CriterionReport, headline, isBelow, type JudgeReport, type ReviewReport, standingOf } from './report.ts'

/** What one test case shows beside its name. */
interface Case {
  group: 'review' | 'criterion' | 'dimension' | 'check' | 'judge'
  name: string
  seconds?: number
  problem?: { element: 'failure' | 'error' | 'skipped'; type?: string; message: string; text: string }
  /** What was said, where nothing is wrong with it. */
  output?: string
}

/** A suite for the subject, a case for the review itself and for each criterion, dimension, check and judge. It is red iff the exit code is not 0. */
export function junit(report: ReviewReport): string {
  const cases = [
    reviewCase(report),
    ...report.criteria.map((criterion) => criterionCase(criterion, report)),
    ...report.dimensions.map((dimension) => dimensionCase(dimension, report)),
    ...report.checks.map((check) => checkCase(check, report)),
    ...report.judges.flatMap((judge) => judgeCase(judge, report)),
  ]
  const count = (element: string) => cases.filter(({ problem }) => problem?.element === element).length
  const totals = `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" time="${seconds(report.durationMs)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="assay review" ${totals}>`,
    `  <testsuite name="${xmlAttribute(report.subject.name)}" ${totals} skipped="${count('skipped')}">`,
    '    <properties>',
    ...properties(report).map(([name, value]) => `      <property name="${name}" value="${xmlAttribute(value)}"/>`),
    '    </properties>',
    ...cases.map(caseElement),
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')
}

function properties({ subject, result, score, bar, usage, accepted }: ReviewReport): [string, string][] {
  return [
    ['kind', subject.kind],
    ['digest', subject.digest],
    ['result', result],
    ...(accepted === undefined ? [] : [['acceptedBy', `${accepted.by}: ${accepted.reason}`] as [string, string]]),
    ['score', againstBar(score, bar)],
    ['calls', String(usage.calls)],
    ...(usage.costUsd === undefined ? [] : [['costUsd', String(usage.costUsd)] as [string, string]]),
  ]
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

function caseElement({ group, name, seconds: time, problem, output }: Case): string {
  const attributes = `classname="assay.${group}" name="${xmlAttribute(name)}"${time === undefined ? '' : ` time="${time.toFixed(3)}"`}`
  if (problem === undefined && output === undefined) return `    <testcase ${attributes}/>`
  const inner = problem ? problemElement(problem) : `<system-out>${xmlText(output ?? '')}</system-out>`
  return `    <testcase ${attributes}>${inner}</testcase>`
}

/** What was skipped says why in its text: the schema that Jenkins validates by gives it no attributes. */
function problemElement({ element, type, message, text }: NonNullable<Case['problem']>): string {
  if (element === 'skipped') return `<skipped>${xmlText(text === '' ? message : `${message}\n${text}`)}</skipped>`
  const kind = type === undefined ? '' : ` type="${xmlAttribute(type)}"`
  return `<${element}${kind} message="${xmlAttribute(message)}">${xmlText(text)}</${element}>`
}

function reviewCase(report: ReviewReport): Case {
  const group = 'review'
  const text = [
    report.concern,
    ...report.nextSteps.map((step) => `${step.from}: ${step.text}`),
    ...report.suspicions,
    ...report.warnings,
  ].join('\n')
  const title = headline(report)
  if (report.result === 'clean') return { group, name: 'verdict', output: text }
  if (report.passed) return { group, name: 'verdict', problem: { element: 'skipped', message: title, text } }
  const element = report.result === 'below-threshold' ? 'failure' : 'error'
  const type = report.result === 'below-threshold' ? (report.category ?? 'acceptance_gap') : report.result
  return { group, name: 'verdict', problem: { element, type, message: title, text } }
}

function criterionCase(criterion: CriterionReport, report: ReviewReport): Case {
  const standing = standingOf(criterion)
  const named = { group: 'criterion' as const, name: `${criterion.id}: ${criterion.text}` }
  const text = criterionText(criterion)
  const told = standing === 'no' || (standing === 'cannot_tell' && report.result === 'below-threshold')
  if (told && !report.passed) {
    const message = standing === 'no' ? 'is not met' : 'could not be told'
    return { ...named, problem: { element: 'failure', type: report.category ?? 'acceptance_gap', message, text } }
  }
  if (standing === 'unanswered') return { ...named, problem: { element: 'skipped', message: 'no judge answered it', text } }
  return { ...named, output: text }
}

function dimensionCase({ name, score, reasoning }: ReviewReport['dimensions'][number], report: ReviewReport): Case {
  const text = reasoning.map((one) => `${one.judge}: ${one.text}`).join('\n')
  if (score === undefined) return { group: 'dimension', name, problem: { element: 'skipped', message: 'not scored', text } }
  if (report.passed || !isBelow(score, report.bar)) return { group: 'dimension', name, output: `${againstBar(score, report.bar)}\n${text}` }
  const type = report.category ?? 'acceptance_gap'
  return { group: 'dimension', name, problem: { element: 'failure', type, message: againstBar(score, report.bar), text } }
}

function checkCase(check: ReviewReport['checks'][number], report: ReviewReport): Case {
  const named = { group: 'check' as const, name: check.id, ...(check.durationMs !== undefined && { seconds: check.durationMs / 1000 }) }
  if (check.outcome === 'pass') return named
  const text = [...check.findings, tail(check.output, 3000)].join('\n')
  if (report.passed) return { ...named, output: `${check.summary}\n${text}` }
  const problem =
    check.outcome === 'fail' ? { element: 'failure' as const, type: 'acceptance_gap' } : { element: 'error' as const, type: 'check' }
  return { ...named, problem: { ...problem, message: check.summary, text } }
}

/** A judge that graded shows in the cases above. One that could not be read or reached is an error, unless the others made the review pass. */
function judgeCase({ judge, outcome, concern = '' }: JudgeReport, report: ReviewReport): Case[] {
  if (outcome === 'accepts' || outcome === 'rejects') return []
  const element = outcome === 'abstained' || report.passed ? 'skipped' : 'error'
  return [
    { group: 'judge', name: judge, problem: { element, ...(element === 'error' && { type: outcome }), message: outcome, text: concern } },
  ]
}
