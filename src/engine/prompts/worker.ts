import type { CheckReport } from '../../contract/check.ts'
import type { Config } from '../../contract/config/config.ts'
import type { LedgerEntry } from '../../contract/review.ts'
import { visibleLedger } from '../../core/ledger/feedback.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { InputMaterial } from '../../ports/workspace.ts'
import { caseContract } from './case-contract.ts'

/** What of the rules a worker is told. */
export interface WorkerTerms {
  ledgerLimit: number
  agents: readonly string[]
  delegate: { maxDelegations: number; maxDelegationDepth: number }
}

export function termsOf({ review, agents, delegate }: Config): WorkerTerms {
  return { ledgerLimit: review.ledgerLimit, agents: Object.keys(agents), delegate }
}

/** Everything that a worker is told, as one text. The stable part comes first, so that rounds share a prefix. */
export function workerPrompt(state: TaskState, inputs: readonly InputMaterial[], { ledgerLimit, agents, delegate }: WorkerTerms): string {
  const { spec, feedback } = state
  const most = spec.depth + 1 > delegate.maxDelegationDepth ? 0 : delegate.maxDelegations
  const sections = [
    `# Task: ${spec.title}\n${spec.description}`,
    spec.criteria.length > 0 &&
      `# Acceptance criteria\n${spec.criteria.map((one) => `- ${one.id}${one.hard ? '' : ' (soft)'}: ${one.text}`).join('\n')}`,
    inputs.length > 0 && `# Inputs\n${inputs.map((input) => inputText(input, inputsFolder(state))).join('\n\n')}`,
    `# Your case\n${caseContract({ most, to: agents })}`,
    state.ledger.length > 0 && `# Decisions so far\n${visibleLedger(state.ledger, ledgerLimit).map(ledgerLine).join('\n')}`,
    feedback && `# Feedback on attempt ${state.attempts - 1 || 1}: address every point\n${feedbackText(state)}`,
  ]
  return sections.filter(Boolean).join('\n\n')
}

/** Where the inputs of a task lie in its workspace. */
function inputsFolder({ spec }: TaskState): string {
  return spec.workspace.kind === 'worktree' ? '.assay/inputs/' : 'inputs/'
}

function inputText(input: InputMaterial, folder: string): string {
  const output = input.output.trim()
  const shown = output.length > 20_000 ? `${output.slice(0, 20_000)}\n[${output.length - 20_000} more characters in ${folder}]` : output
  return `## ${input.title}\n${input.prefix === '' ? '' : `${input.prefix}\n`}${shown === '' ? `(its files are under ${folder})` : shown}`
}

/** A check's report with its exact output and what was found besides. */
export function reportText({ id, summary, output, findings }: CheckReport): string {
  const found = findings.map((finding) => `\n- ${finding}`).join('')
  return `Check ${id}: ${summary}${found}\nOutput of check ${id}:\n${output}`
}

export function ledgerLine(entry: LedgerEntry): string {
  const score = entry.score ? `, score ${entry.score.on100}/100` : ''
  return `- attempt ${entry.attempt} (${entry.source}): ${entry.outcome}${score}${entry.category ? `, ${entry.category}` : ''}: ${entry.concern}`
}

export function feedbackText({ feedback }: TaskState): string {
  if (!feedback) return ''
  return [
    `${feedback.category ? `${feedback.category}: ` : ''}${feedback.summary}`,
    ...feedback.points.map((point) => `- ${point.ref} (${point.from}): ${point.text}`),
    ...feedback.checks.map(reportText),
    ...feedback.reasoning.map((reason) => `- ${reason.dimension} (${reason.judge}): ${reason.text}`),
    ...feedback.notes,
  ].join('\n')
}
