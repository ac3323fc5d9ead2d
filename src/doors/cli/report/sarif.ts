import { sha256Hex } from '../../../contract/canonical.ts'
import { block, jsonText, line } from './escape.ts'
import { type Finding, findingsOf, type Place, type Rule } from './findings.ts'
import { againstBar, type ReviewReport } from './report.ts'

/** As many results as GitHub keeps of a run; the rest is counted in a notification. */
const mostResults = 5000
const mostLocations = 10

const descriptions: Record<Rule, string> = {
  scope_creep: 'Work of another task, or unrelated files.',
  acceptance_gap: 'An explicit criterion is not satisfied, or a check fails.',
  weak_test: 'A test passes without exercising the behaviour.',
  tests_pass_but_wrong: 'The letter is met, not the intent.',
  half_finished: 'Debug output, placeholders, dead or partial code.',
  spec_violation: 'An explicit, named constraint is broken.',
  'owner-accepted': 'The owner accepted the work; judges did not pass it.',
  inconclusive: 'The review came to no decision.',
  unreviewed: 'Nobody reviewed the work.',
  judge: 'A judge gave no verdict that counts.',
  suspicion: 'The work addresses its reviewer or looks like a verdict.',
  warning: 'Something about the review that a reader should know.',
}

/** SARIF 2.1.0 with one run: the rule is the rejection category, the places are the evidence that was found. */
export function sarif(report: ReviewReport, version: string): string {
  const findings = findingsOf(report)
  const shown = findings.slice(0, mostResults)
  const rules = [...new Set(shown.map(({ rule }) => rule))]
  const left = findings.length - shown.length
  const run = {
    tool: { driver: { name: 'assay', version, rules: rules.map((id) => ({ id, shortDescription: { text: descriptions[id] } })) } },
    automationDetails: { id: `assay/${report.subject.kind}/${line(report.subject.name, 200)}/` },
    invocations: [
      {
        executionSuccessful: report.exitCode !== 3,
        exitCode: report.exitCode,
        toolExecutionNotifications: left > 0 ? [{ level: 'warning', message: { text: `${left} more results were left out` } }] : [],
      },
    ],
    results: shown.map((finding) => resultOf(finding, report, rules.indexOf(finding.rule))),
    properties: {
      ...{ digest: report.subject.digest, result: report.result, score: againstBar(report.score, report.bar) },
      ...(report.accepted && { accepted: report.accepted }),
    },
  }
  return jsonText({ $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] })
}

function resultOf({ level, rule, key, title, message, places }: Finding, { subject }: ReviewReport, ruleIndex: number) {
  const print = sha256Hex(JSON.stringify([subject.kind, subject.name, rule, key]))
  return {
    ruleId: rule,
    ruleIndex,
    level,
    message: { text: `${line(title, 200)}: ${block(message)}` },
    locations: locationsOf(places, subject),
    partialFingerprints: { 'assayFinding/v1': print, primaryLocationLineHash: `${print.slice(0, 16)}:1` },
  }
}

/** What has no place of its own is about the whole: the file under review, or the subject by name. */
function locationsOf(places: readonly Place[], subject: ReviewReport['subject']) {
  if (places.length > 0) return places.slice(0, mostLocations).map(physical)
  if (subject.kind === 'file') return [physical({ path: subject.name, line: 1 })]
  return [{ logicalLocations: [{ name: line(subject.name, 200), kind: 'resource' }] }]
}

function physical({ path, line: startLine, endLine }: Place) {
  const uri = path.toWellFormed().replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/')
  const region = startLine === undefined ? {} : { region: { startLine, ...(endLine !== undefined && { endLine }) } }
  return { physicalLocation: { artifactLocation: { uri }, ...region } }
}
