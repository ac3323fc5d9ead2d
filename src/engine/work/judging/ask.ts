import { setTimeout as sleep } from 'node:timers/promises'
import type { Digest } from '../../../contract/canonical.ts'
import type { CheckReport } from '../../../contract/check.ts'
import { readEvent } from '../../../contract/events/read.ts'
import type { EvidenceResolution, RawReply, Usage } from '../../../contract/verdict.ts'
import type { Panel, Seat } from '../../../core/panel/state.ts'
import { rulesFor } from '../../../core/task/terms.ts'
import type { TaskState } from '../../../core/task/state.ts'
import { readReply } from '../../../core/verdict/read.ts'
import { evidencePointers } from '../../../core/verdict/sitting.ts'
import type { BrainPort, JudgeEnding, JudgeQuestion, SnapshotReader } from '../../../ports/brain.ts'
import { resolveEvidence } from './evidence.ts'
import { awaitVerdict, isOutsideJudge } from '../../outside/awaited.ts'
import { judgePrompt, judgePromptVersion } from '../../prompts/judge.ts'
import { diskFault } from '../../store-fault.ts'
import { taskStream } from '../../streams.ts'
import { type Bench, type Runner, settleRefused } from '../bench.ts'
import { countLateJudge } from '../late-usage.ts'
import { type Allowance, allowanceFor, oneAtATime } from './budget.ts'
import { copyForJudge } from './copies.ts'
import { folderBefore } from './folder-before.ts'
import { amongNeighbours } from './neighbours.ts'
import { questionKey, remember } from './remembered.ts'
import { panelMaterial, sourceOf } from './panel-material.ts'

/** Pauses between requests to a judge that cannot be reached. */
const backoffMs = [250, 1_000, 4_000, 10_000]
/** Pointers of one verdict that are looked up; more are left unresolved. */
const maxPointers = 1000

/** Asks one judge once, and brings back what it said, or that it could not be reached. Safe to repeat until the verdict is recorded. */
export const askJudge: Runner = (bench, lease, signal) =>
  oneAtATime(bench, (lease.payload as { task: string }).task, () => askNow(bench, lease, signal))

const askNow: Runner = async (bench, lease, signal) => {
  const { journal, random } = bench.parts
  const asked = lease.payload as { task: string; review: number; seat: number; round: number }
  const { state } = await bench.tasks.load(asked.task)
  const panel = state?.panel?.review === asked.review ? state.panel : undefined
  const seat = panel?.seats.find((one) => one.seat === asked.seat)
  if (!state || !panel || seat?.status !== 'asked' || seat.round !== asked.round) return void (await journal.complete(lease))
  if (isOutsideJudge(panel, seat)) return awaitVerdict(bench, lease, { state, panel, seat })

  const reports = await reportsOf(bench, state)
  const prompt = await promptFor(bench, { state, panel, seat, reports })
  const sitting = { state, panel, seat, reports, prompt }
  const question = questionKey(bench, sitting, prompt)
  const before = await remember(bench, question, panel.nonce)
  const allowance = before ? undefined : await allowanceFor(bench, state.spec, seat.judge, prompt)
  if (allowance && 'held' in allowance) {
    const hold = { type: 'hold_task', reason: 'budget', detail: allowance.held } as const
    return settleRefused(bench, lease, await bench.tasks.handle(asked.task, hold, { actor: 'runtime', settles: lease }))
  }
  const ending = before ? { kind: 'reply' as const, reply: before.reply } : await sit(bench, sitting, signal, allowance)
  // An answer that arrived is recorded even while stopping: it was paid for.
  if (ending.kind === 'stopped' || (ending.kind === 'unavailable' && signal.aborted)) {
    if (ending.kind === 'unavailable') await countLateJudge(bench, state, seat.judge, ending.usage)
    return void (await journal.release(lease, 0))
  }
  const { review, round } = asked
  const place = { review, seat: seat.seat, round, judge: seat.judge, nonce: random.nonce(), ...(ending.usage && { usage: ending.usage }) }
  const handled = await bench.tasks.handle(
    asked.task,
    ending.kind === 'unavailable'
      ? { type: 'record_unavailable', ...place, detail: ending.detail }
      : {
          type: 'record_reply',
          ...place,
          prompt: judgePromptVersion,
          ...(question !== undefined && { question }),
          ...(before && { reused: before.from }),
          reply: ending.reply,
          resolutions: await resolutions(bench, sitting, ending.reply),
        },
    { actor: seat.judge, settles: lease },
  )
  if (!handled.ok) await countLateJudge(bench, state, seat.judge, ending.usage)
  await settleRefused(bench, lease, handled)
}

/** What one judge is asked about. */
export interface Sitting {
  state: TaskState
  panel: Panel
  seat: Seat
  reports: readonly CheckReport[]
  prompt: string
}

/** The sitting itself, with bounded repetition where the judge cannot be reached. */
async function sit(bench: Bench, sitting: Sitting, signal: AbortSignal, allowance?: Allowance): Promise<JudgeEnding> {
  const { state, panel, seat } = sitting
  const { config } = bench.parts
  const rules = rulesFor(state.spec, bench.parts.rules)
  const agent = rules.policy.agents[seat.judge]
  if (!agent) return { kind: 'unavailable', detail: `${seat.judge} is no agent of this organisation any more` }
  const brain = await bench.brain(agent.brain)
  const { spec, current } = state
  let copy: { folder: string; dispose(): Promise<void> } | undefined
  const before = folderBefore(bench, state)
  const question: JudgeQuestion = {
    task: spec,
    judge: seat.judge,
    instructions: agent.instructions,
    review: panel.review,
    attempt: panel.attempt,
    seat: seat.seat,
    round: seat.round,
    nonce: panel.nonce,
    form: seat.form,
    criteria: spec.criteria,
    dimensions: spec.dimensions,
    points: panel.points,
    prompt: sitting.prompt,
    ...(allowance && { budgetUsd: allowance.left }),
    reader: snapshotReader(bench, current?.content?.snapshot ?? ''),
    snapshot: async () => {
      copy ??= await copyForJudge(bench.parts, current?.content?.snapshot ?? '')
      return copy.folder
    },
    ...(before && { before }),
  }
  try {
    const retries = brain.retriesItself ? 0 : config.limits.judgeRetries
    const ask = () => amongNeighbours(bench, spec, config.brains[agent.brain], (beside) => call(brain, { ...question, beside }, signal))
    let ending = await ask()
    let spent = usageOf(ending)
    for (let tries = 0; ending.kind === 'unavailable' && tries < retries && !signal.aborted; tries += 1) {
      const pause = backoffMs[Math.min(tries, backoffMs.length - 1)] as number
      await sleep(pause, undefined, { signal }).catch(() => undefined)
      if (signal.aborted || (allowance && (spent?.costUsd ?? 0) + allowance.expected > allowance.left)) break
      ending = await ask()
      spent = addUsage(spent, usageOf(ending))
    }
    return ending.kind === 'stopped' || !spent ? ending : { ...ending, usage: spent }
  } finally {
    await copy?.dispose()
    await before?.dispose()
  }
}

const usageOf = (ending: JudgeEnding): Usage | undefined => (ending.kind === 'stopped' ? undefined : ending.usage)

/** Every call is paid for, the failed ones too. */
function addUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (!one || !other) return one ?? other
  const sum: Usage = { ...one, ...(other.estimated && { estimated: true }) }
  for (const key of ['inputTokens', 'outputTokens', 'costUsd', 'durationMs'] as const) {
    const more = other[key]
    if (more !== undefined) sum[key] = (sum[key] ?? 0) + more
  }
  return sum
}

/** A brain that throws gave no verdict, whatever it was about to say. */
async function call(brain: BrainPort, question: JudgeQuestion, signal: AbortSignal): Promise<JudgeEnding> {
  try {
    return await brain.judge(question, signal)
  } catch (error) {
    const fault = diskFault(error)
    if (fault) throw fault
    return { kind: 'unavailable', detail: `the brain broke: ${String(error)}` }
  }
}

export function snapshotReader({ parts }: Bench, snapshot: string): SnapshotReader {
  const digest = snapshot as Digest
  return {
    files: async () => (await parts.snapshots.manifest(digest))?.files ?? [],
    read: (path) => parts.snapshots.read(digest, path),
  }
}

/** The whole question to one judge; `promptBytes` bounds the work that is shown in it, and what is left out is named. */
export async function promptFor(
  bench: Bench,
  { state, panel, seat, reports }: Omit<Sitting, 'prompt'>,
  promptBytes = bench.parts.config.limits.promptBytes,
): Promise<string> {
  const { rules } = bench.parts
  const instructions = rulesFor(state.spec, rules).policy.agents[seat.judge]?.instructions
  const prompt = judgePrompt({
    ...(await panelMaterial(bench, { state, panel, reports }, promptBytes)),
    state,
    panel,
    seat,
    reports,
    ledgerLimit: rules.policy.review.ledgerLimit,
    promptBytes,
    complaint: seat.because === 'reprompt' ? seat.problem : undefined,
  })
  return instructions ? `${instructions}\n\n${prompt}` : prompt
}

/** The reports of the checks that let this submission through. */
export async function reportsOf(bench: Bench, state: TaskState): Promise<CheckReport[]> {
  // Only files that are shared are looked at by the checks of others.
  if (state.spec.checks.length === 0 && state.spec.workspace.kind === 'scratch') return []
  const events = await bench.parts.journal.readStream(taskStream(state.spec.id))
  const passed = events.findLast((event) => event.type === 'checks.passed' || event.type === 'merge.changed')
  const event = passed && readEvent(passed)
  return event?.type === 'checks.passed' || event?.type === 'merge.changed' ? event.data.reports : []
}

/** Every pointer of a reply, looked up in the work. */
export async function resolutions(
  bench: Bench,
  { state, panel, seat, reports }: Omit<Sitting, 'prompt'>,
  reply: RawReply,
): Promise<EvidenceResolution[]> {
  const { criteria, dimensions } = state.spec
  const read = readReply(reply, { nonce: panel.nonce, criteria, dimensions, points: panel.points, form: seat.form })
  const content = state.current?.content
  const pointers = read.kind === 'verdict' ? evidencePointers(read.verdict).slice(0, maxPointers) : []
  if (pointers.length === 0 || !content) return []
  const unseenCounts = read.kind === 'verdict' && read.verdict.verdict === 'reject'
  return resolveEvidence(pointers, { ...(await sourceOf(bench, content)), reports, unseenCounts })
}
