import { z } from 'zod'
import { canonicalJson, type Digest } from '../../../contract/canonical.ts'
import type { Conversation } from '../../../contract/case.ts'
import type { TaskCommand } from '../../../contract/commands/task.ts'
import { readEvent } from '../../../contract/events/read.ts'
import type { Usage } from '../../../contract/verdict.ts'
import type { Lease } from '../../../contract/work.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { Talk } from '../../../ports/brain.ts'
import type { SnapshotStore } from '../../../ports/snapshots.ts'
import type { OpenWorkspace } from '../../../ports/workspace.ts'
import { feedbackText, reportText } from '../../prompts/worker.ts'
import { StoreFault } from '../../store-fault.ts'
import { taskStream } from '../../streams.ts'
import type { Bench } from '../bench.ts'
import { takeContent } from './submission.ts'

/** Another process has taken the turn over, or the task was ended meanwhile: whoever talks must stop. */
export class TurnLost extends Error {
  /** What the turn had used and no case has told, as far as it said so. */
  readonly usage: Usage | undefined

  constructor(why: string, usage: Usage | undefined) {
    super(`the turn is not this process's any more: ${why}`)
    this.name = 'TurnLost'
    this.usage = usage
  }
}

/** Pieces that were stored together, and the ones stored before them. */
const Stored = z.strictObject({ said: z.array(z.string()), before: z.string().nullable() })
/** Pieces that a conversation is read back from. */
const maxPieces = 10_000
/** Characters of pieces that stand in an event: most calls say little, and a file for it, made durable, takes longer than all the rest of the call. */
const mostInEvent = 4_096

/** A conversational worker's way to the journal. Everything said is in the event, or stored before the event that names it. */
export async function openTalk(bench: Bench, lease: Lease, begun: TaskState, workspace: OpenWorkspace): Promise<Talk> {
  const { id, assignee } = begun.spec
  const attempt = begun.attempts
  const { snapshots } = bench.parts
  let latest: Conversation = begun.current?.conversation ?? { stored: null, said: [] }
  const keep = async (piece: string): Promise<Conversation> => {
    const said = [...latest.said, piece]
    const short = said.reduce((sum, { length }) => sum + length, 0) <= mostInEvent
    latest = short
      ? { stored: latest.stored, said }
      : { stored: await snapshots.putText(canonicalJson({ said, before: latest.stored })), said: [] }
    return latest
  }
  const handle = async (command: TaskCommand, settledBy: (after: TaskState) => boolean = () => false, usage?: Usage) => {
    const handled = await bench.tasks.handle(id, command, { actor: assignee, settles: lease, settledBy })
    if (!handled.ok) throw new TurnLost(handled.error.message, usage ?? ('usage' in command ? command.usage : undefined))
    return handled
  }
  const isOver = (after: TaskState) => after.status !== 'running' || after.attempts !== attempt
  return {
    stored: await piecesOf(snapshots, latest),
    answer: await answerFor(bench, begun),
    refused: await refusedCase(bench, begun),
    calling: async (tool, said, usage) =>
      void (await handle({ type: 'begin_call', attempt, tool, conversation: await keep(said), ...(usage && { usage }) })),
    called: async (said, usage) => void (await handle({ type: 'end_call', attempt, conversation: await keep(said) }, undefined, usage)),
    keep: async (said, usage) =>
      void (await handle({ type: 'keep_conversation', attempt, conversation: await keep(said) }, undefined, usage)),
    async submit(raw: string, said: string, output: string, usage?: Usage) {
      const taken = await takeContent(bench, begun.spec, workspace, output)
      if (!taken.ok) return { kind: 'refused', problems: [taken.detail] }
      const conversation = await keep(said)
      const { events, state } = await handle(
        { type: 'submit_case', attempt, raw, content: taken.content, conversation, ...(usage && { usage }) },
        isOver,
      )
      if (events.some((event) => event.type === 'case.submitted')) return { kind: 'taken' }
      if (isOver(state)) return { kind: 'over' }
      return { kind: 'refused', problems: events.flatMap((event) => (event.type === 'case.parse_error' ? event.data.problems : [])) }
    },
    async refuse(why, raw, said, usage) {
      const conversation = await keep(said)
      const problems = [why]
      const { state } = await handle({ type: 'refuse_case', attempt, problems, raw, conversation, ...(usage && { usage }) }, isOver)
      return isOver(state) ? { kind: 'over' } : { kind: 'refused', problems }
    },
    async quiet(said, usage) {
      const conversation = await keep(said)
      const { state } = await handle({ type: 'report_quiet', attempt, conversation, ...(usage && { usage }) }, isOver)
      return isOver(state) ? 'over' : 'reminded'
    },
  }
}

async function piecesOf(snapshots: SnapshotStore, { stored, said }: Conversation): Promise<string[]> {
  const pieces = said.toReversed()
  for (let digest = stored; digest !== null; ) {
    const text = await snapshots.getText(digest as Digest)
    if (text === undefined || pieces.length >= maxPieces) throw new StoreFault('a conversation is missing from .assay/objects, or too long')
    const together = Stored.parse(JSON.parse(text))
    pieces.push(...together.said.toReversed())
    digest = together.before
  }
  return pieces.reverse()
}

/** What the worker must hear before it goes on: failing checks of its own submission, else the feedback on the attempt before. */
async function answerFor(bench: Bench, state: TaskState): Promise<string | undefined> {
  const { current } = state
  if (!current || current.conversation === undefined) return undefined
  return (await failingChecks(bench, state)) ?? (state.feedback && current.calls === 0 ? feedbackText(state) : undefined)
}

/** What was wrong with the case, where that is the last thing that is known of the conversation. */
async function refusedCase(bench: Bench, { spec, current, attempts }: TaskState): Promise<string[] | undefined> {
  if (!current?.caseErrors) return undefined
  const events = (await bench.parts.journal.readStream(taskStream(spec.id))).map(readEvent)
  const last = events.findLast(({ data }) => typeof data === 'object' && 'conversation' in data)
  return last?.type === 'case.parse_error' && last.data.attempt === attempts ? last.data.problems : undefined
}

/** What checks found wrong with the latest submission of the open attempt, as its worker is told; undefined where nothing is. */
export async function failingChecks(bench: Bench, state: TaskState): Promise<string | undefined> {
  const { submission = 0 } = state.current ?? {}
  if (submission === 0) return undefined
  const events = await bench.parts.journal.readStream(taskStream(state.spec.id))
  const failed = events.map(readEvent).findLast((event) => event.type === 'checks.failed')
  const reports = failed?.type === 'checks.failed' && failed.data.submission === submission ? failed.data.reports : []
  const failing = reports.filter((report) => report.outcome !== 'pass')
  if (failing.length === 0) return undefined
  return `Checks do not pass. Mend the work and submit your case again.\n\n${failing.map(reportText).join('\n\n')}`
}
