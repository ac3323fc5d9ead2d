import { constants } from 'node:os'
import { canonicalJson } from '../../../contract/canonical.ts'
import { excerpt } from '../../../contract/source/shown.ts'
import type { RawReply, Usage } from '../../../contract/verdict.ts'
import type { JudgeEnding, WorkEnding } from '../../../ports/brain.ts'
import type { ProcessEnding } from '../../process/process.ts'
import { workEnding as commandEnding } from '../command/endings.ts'
import type { KnownAgent, Report } from './known-agent.ts'
import { parsed } from './printed.ts'

type Ran = Exclude<ProcessEnding, { kind: 'not_started' | 'stopped' }>

/** Words with which programs say that they do not know a flag. */
const unknownFlag = /unknown option|unexpected argument|unknown argument|unrecognized option|invalid choice/i
/** Words of agents for a message in which nothing is missing. */
const normalEndings: ReadonlySet<string> = new Set(['end_turn', 'stop_sequence', 'tool_use', 'stop'])
/** Most characters of an agent's own words in a message. */
const mostWords = 400

export interface WorkBounds {
  caseFile: string
  maxCaseBytes: number
  /** US dollars that the turn may cost. */
  budgetUsd: number | undefined
}

/** What a worker's turn came to. It handed in its case only where the process and what it says of itself agree that all went well. */
export async function workEnding(agent: KnownAgent, ending: ProcessEnding, bounds: WorkBounds): Promise<WorkEnding> {
  const { caseFile, maxCaseBytes } = bounds
  if (ending.kind === 'not_started')
    return { ...(await commandEnding(ending, caseFile, maxCaseBytes)), ...notThere(agent, ending) } as WorkEnding
  const report = agent.read(ending)
  const usage = chargedFor(report, usageOf(report, ending), bounds.budgetUsd)
  if (ending.kind === 'stopped') return { kind: 'stopped', detail: `${agent.program} was stopped`, output: ending.stdout, usage }
  const ran = asMeant(ending, report)
  if (isCut(ran)) return { kind: 'failed', failure: 'output', detail: cutWords(agent), output: ending.stdout, beforeEffect: false, usage }
  const trouble = troubleIn(agent, ran, report) ?? overspent(agent, report, usage, bounds.budgetUsd)
  if (trouble !== undefined || report.kind === 'failed') {
    const failure = ran.kind === 'timed_out' ? 'timeout' : ran.kind === 'signalled' ? 'signal' : ran.code === 0 ? 'error' : 'exit'
    const output = report.kind === 'answered' ? report.text : ending.stderr
    return { kind: 'failed', failure, detail: trouble ?? agent.program, output, beforeEffect: false, usage }
  }
  if (report.finish !== undefined && !normalEndings.has(report.finish)) {
    const detail = `the last message of ${agent.program} did not end as it should (${shown(report.finish)}): it looks whole, and need not be`
    return { kind: 'failed', failure: 'output', detail, output: report.text, beforeEffect: false, usage }
  }
  const finished = await commandEnding({ ...ending, kind: 'exited', code: 0, stdout: report.text }, caseFile, maxCaseBytes)
  if (finished.kind !== 'finished' || finished.raw !== null) return { ...finished, usage }
  return { kind: 'failed', failure: 'output', detail: withoutCase(agent, report.text), output: report.text, beforeEffect: false, usage }
}

export interface JudgeBounds {
  /** Of the review. */
  nonce: string
  maxReplyBytes: number
}

/** What a judge's sitting came to. The reply is handed over as it came; reading it is not done here. */
export function judgeEnding(agent: KnownAgent, ending: ProcessEnding, { nonce, maxReplyBytes }: JudgeBounds): JudgeEnding {
  if (ending.kind === 'not_started') return { kind: 'unavailable', detail: notThere(agent, ending).detail }
  if (ending.kind === 'stopped') return { kind: 'stopped' }
  const report = agent.read(ending)
  const usage = usageOf(report, ending)
  const ran = asMeant(ending, report)
  if (isCut(ran))
    return { kind: 'reply', reply: { channel: 'text', body: firstBytes(ending.stdout, maxReplyBytes), finish: 'length' }, usage }
  const trouble = troubleIn(agent, ran, report)
  if (trouble !== undefined || report.kind === 'failed') return { kind: 'unavailable', detail: trouble ?? agent.program, usage }
  const body = answersOf(report, nonce)
  const whole = Buffer.byteLength(body) <= maxReplyBytes
  const finish = whole ? report.finish : 'length'
  const reply: RawReply = {
    channel: report.structured === undefined ? 'text' : 'tool',
    body: whole ? body : firstBytes(body, maxReplyBytes),
    ...(finish !== undefined && { finish }),
  }
  return { kind: 'reply', reply, usage }
}

/** A run that says that all went well, of whose report a part is not there: that part may say something else. */
function isCut(ran: Ran): boolean {
  return ran.stdoutCut && ran.kind === 'exited' && ran.code === 0
}

function cutWords({ program }: KnownAgent): string {
  return `${program} printed more than is kept (\`limits.outputBytes\`): what it says of its run is not whole, and not believed`
}

/** A character that the cut goes through is left out. */
function firstBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= most ? text : new TextDecoder().decode(bytes.subarray(0, most), { stream: true })
}

/** A field that only a verdict has. */
const verdictField = /["'](?:verdict|rejection_category|next_step)["']\s*:/

/** The answer as it came. Where something else that it said is an answer too, both as a list, which nobody can take for a verdict. */
function answersOf({ structured, text, earlier = [] }: Extract<Report, { kind: 'answered' }>, nonce: string): string {
  const body = structured ?? text
  const said = structured === undefined ? earlier : [...earlier, text]
  const others = said.filter((other) => (other.includes(nonce) || verdictField.test(other) || isObject(other)) && !saysTheSame(body, other))
  return others.length === 0 ? body : `[${[body, ...others].join(',\n')}]`
}

function isObject(text: string): boolean {
  const value = parsed(text)
  return typeof value === 'object' && value !== null
}

function saysTheSame(one: string, other: string): boolean {
  if (one === other) return true
  const values = [parsed(one), parsed(other)]
  return !values.includes(undefined) && canonicalJson(values[0]) === canonicalJson(values[1])
}

/** A process says one byte: a code such as HTTP's 400 arrives as 144, which looks like an end by signal 16. */
function asMeant(ending: Ran, report: Report): Ran {
  if (ending.kind !== 'signalled' || report.kind !== 'failed' || report.exit === undefined) return ending
  const code = report.exit & 255
  if (code !== 128 + ((constants.signals as Record<string, number>)[ending.signal] ?? 128)) return ending
  const { signal, ...rest } = ending
  return { ...rest, kind: 'exited', code }
}

/** Why a run is not to be believed, in plain words; undefined where nothing speaks against it. */
function troubleIn(agent: KnownAgent, ending: Ran, report: Report): string | undefined {
  const { program } = agent
  if (ending.kind === 'timed_out') return `${program} was ended after its time limit of ${ending.timeoutMs} ms`
  const said = report.kind === 'failed' ? report.detail : ''
  const words = `${said}\n${ending.stderr}`
  const failed = report.kind === 'failed' || ending.kind === 'signalled' || ending.code !== 0
  if (!failed) return undefined
  if (agent.loggedOut.test(words)) return `${program} is not logged in: ${agent.login} (it says: ${shown(said || lastLine(ending.stderr))})`
  const flag = [unknownFlag, agent.flagUnknown].find((words) => words?.test(ending.stderr))
  if (ending.kind === 'exited' && ending.code !== 0 && flag !== undefined)
    return `${program} does not know a flag that Assay uses (it says: ${shown(firstMatch(ending.stderr, flag))}): it is too old; ${agent.install}`
  const how =
    ending.kind === 'signalled' ? `was ended by ${ending.signal}` : ending.code === 0 ? 'failed' : `failed with exit code ${ending.code}`
  const meaning = ending.kind === 'exited' ? agent.exits?.[ending.code] : undefined
  const why = [meaning, said === '' ? lastLine(ending.stderr) : said].filter((word) => word !== undefined && word !== '')
  return `${program} ${how}${why.length === 0 ? '' : `: ${shown(why.join('; '))}`}`
}

/** Where a bound is set and nobody can tell what a turn has cost, it counts as all that it was allowed. */
function chargedFor({ costUnknown }: Report, usage: Usage, budgetUsd: number | undefined): Usage {
  return costUnknown && budgetUsd !== undefined ? { ...usage, costUsd: Math.max(budgetUsd, usage.costUsd ?? 0), estimated: true } : usage
}

function overspent({ program }: KnownAgent, { costUnknown }: Report, { costUsd = 0 }: Usage, budgetUsd?: number): string | undefined {
  if (budgetUsd === undefined) return undefined
  if (costUnknown)
    return `${program} does not say in a way that can be read what it has cost; at most $${budgetUsd} may be spent on an attempt (\`limits.attemptCost\`), and nobody knows whether that was kept`
  if (costUsd <= budgetUsd) return undefined
  return `${program} has cost $${costUsd.toFixed(4)}; at most $${budgetUsd} may be spent on an attempt`
}

function notThere(agent: KnownAgent, { code, message }: { code: string; message: string }): { detail: string } {
  return { detail: code === 'ENOENT' && message.includes('PATH') ? `${agent.program} is not installed: ${agent.install}` : message }
}

function withoutCase({ program }: KnownAgent, text: string): string {
  const last = lastLine(text)
  if (last.endsWith('?')) return `${program} asked a question instead of handing in a case: ${shown(last)}`
  return `${program} ended without a case: its last message has no JSON object with a summary (${last === '' ? 'it said nothing' : `it says: ${shown(last)}`})`
}

function usageOf(report: Report, { durationMs }: { durationMs: number }): Usage {
  return { ...report.usage, durationMs }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? ''
}

function firstMatch(text: string, words: RegExp): string {
  return text.split('\n').find((line) => words.test(line)) ?? ''
}

function shown(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= 80 ? excerpt(line) : (line.slice(0, mostWords).match(/.{1,80}/gsu) ?? []).map(excerpt).join('')
}
