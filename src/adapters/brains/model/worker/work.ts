import type { Talk, WorkEnding, WorkOrder } from '../../../../ports/brain.ts'
import { withPrivateFolderAtNeed } from '../../../process/files/private-folder.ts'
import { hiddenOn, type Premises } from '../../premises.ts'
import { type Asking, persist } from '../request/persist.ts'
import { setTimer } from '../request/timer.ts'
import { type Line, mostOf } from '../sitting.ts'
import { offered, type Tool } from '../speech.ts'
import type { Turn, TurnRequest } from '../turn.ts'
import { withCacheMarks } from './cache-marks.ts'
import { answerCalls } from './calls.ts'
import { Conversation } from './conversation.ts'
import { Guard } from './guard.ts'
import { notDone, reminder, workerInstructions } from './instructions.ts'
import { failed, limitReached, noAnswer, type Shift, tooDear, type WorkLimits, withoutKey, writeMeanwhile, written } from './shift.ts'
import { Spending } from './spending.ts'
import { caseSchema, caseTool } from '../desk/case-tool.ts'
import { type DeskTool, openDesk } from '../desk/desk.ts'

/** Everything that a worker needs besides its order. */
export interface Workplace extends Line {
  premises: Premises
  limits: WorkLimits
}

/** From this many turns before the last, the model is told that they come to an end. */
const turnsNamed = 5
/** Messages of the model without an effect that a crash may lose, where nothing bounds what they cost. */
const turnsUnstored = 5
/** Words of providers for an ending in which nothing is missing. */
const normalEndings = ['stop', 'tool_calls', 'function_call', 'end_turn', 'tool_use', 'stop_sequence', 'STOP']

/** A worker's turn: the model works by tools until it hands in a case, or comes to a limit. */
export async function work(place: Workplace, order: WorkOrder, stop: AbortSignal): Promise<WorkEnding> {
  const { talk } = order
  if (talk === undefined) throw new Error('a model works in a conversation, and was given none')
  const { redact, brain, limits, premises } = place
  const conversation = Conversation.open(talk.stored, order.attempt, redact(order.prompt), heardOf(talk, redact))
  const spending = new Spending(brain.prices, conversation.before)
  if (conversation.handedIn) spending.settle()
  const time = new AbortController()
  const end = () => time.abort()
  stop.addEventListener('abort', end, { once: true })
  if (stop.aborted) end()
  const clear = setTimer(Math.max(0, limits.attemptMs - spending.ms), end)
  try {
    return await withPrivateFolderAtNeed(async (folder) => {
      const grounds = { workspace: order.workspace, hidden: hiddenOn(premises), readOnly: premises.readOnly ?? [] }
      const tools = openDesk(grounds, { premises, workspace: order.workspace, folder })
      const guard = new Guard()
      const shift = {
        line: place,
        limits,
        order,
        talk,
        tools,
        offered: offer(tools),
        conversation,
        spending,
        guard,
        stop,
        time: time.signal,
      }
      const own: Shift = { ...shift, raw: new Map(), lastText: '', writing: Promise.resolve() }
      const ending = await converse(own)
      await written(own)
      if (ending.kind === 'stopped' && conversation.unstored > 0) await talk.keep(conversation.said(spending.spent()), spending.usage())
      return ending
    }, premises.privateRoot)
  } finally {
    clear()
    stop.removeEventListener('abort', end)
  }
}

async function converse(shift: Shift): Promise<WorkEnding> {
  const { conversation } = shift
  const request = requestFor(shift)
  const asking: Asking = {
    patience: shift.line.patience,
    random: () => shift.line.random(),
    signal: shift.time,
    endsAt: performance.now() + shift.limits.attemptMs - shift.spending.ms,
    whole: 'the attempt',
    wholeMs: shift.limits.attemptMs,
    insists: true,
    affordable: () => tooDear(shift, request.instructions) === undefined,
  }
  for (;;) {
    const over = (await answerCalls(shift, conversation.openCalls())) ?? limitReached(shift, request.instructions)
    if (over) return over
    if (shift.limits.turns - conversation.turns === turnsNamed)
      conversation.tell(`[${turnsNamed} turns are left. Hand in your case before they are used up.]`)
    await keepSometimes(shift)
    const messages = withCacheMarks(shift.line.brain.provider, conversation.messages)
    const turn = await persist({ ...request, messages }, asking)
    if (turn.kind !== 'answer') return noAnswer(shift, turn)
    const ending = await take(shift, turn)
    if (ending) return ending
  }
}

function heardOf({ answer, refused }: Talk, redact: (text: string) => string) {
  return { answer: answer && redact(answer), refused: refused && redact(notDone.refused(refused)) }
}

/** Looking has no effects, and is not written down call by call; a crash must still not make it free again and again. */
async function keepSometimes(shift: Shift): Promise<void> {
  const { conversation, spending, talk, limits } = shift
  if (conversation.unstored < (limits.costUsd === undefined ? turnsUnstored : 1)) return
  await written(shift)
  writeMeanwhile(shift, talk.keep(conversation.said(spending.spent()), spending.usage()))
  conversation.kept()
}

/** Takes in what the model said. Calls of a message that did not end as it should are not done: it looks whole, and need not be. */
async function take(shift: Shift, turn: Extract<Turn, { kind: 'answer' }>): Promise<WorkEnding | undefined> {
  const { conversation, spending, talk, line } = shift
  conversation.hear(withoutKey(turn.message, line.redact))
  shift.lastText = line.redact(turn.text)
  shift.raw = new Map(turn.calls.map(({ id, args }) => [id, args]))
  if (!normalEndings.includes(turn.finish)) {
    const told = notDone.badEnding(turn.finish.slice(0, 100))
    for (const call of conversation.openCalls()) conversation.answer(call, told)
    if (turn.calls.length === 0) conversation.tell(told)
    return shift.guard.judged(false)
      ? failed(shift, 'error', `the model's messages go on ending in the wrong way: ${turn.finish}`)
      : undefined
  }
  if (turn.calls.length > 0) return undefined
  await written(shift)
  const quiet = await talk.quiet(conversation.said(spending.spent()), spending.usage())
  conversation.kept()
  if (quiet === 'over') return { kind: 'handed_in', usage: spending.usage() }
  conversation.tell(reminder)
  return undefined
}

function requestFor({ line, order, offered: tools, spending, conversation }: Shift): Omit<TurnRequest, 'messages'> {
  const instructions = line.redact(workerInstructions(order.instructions))
  return {
    provider: line.brain.provider,
    source: line.source,
    limits: line.exchange,
    instructions,
    tools,
    toolChoice: { type: 'auto' },
    maxOutputTokens: line.maxOutputTokens,
    onUsage: (usage) => spending.add(usage, () => mostOf(line, { instructions, messages: conversation.messages })),
  }
}

function offer(tools: Record<string, DeskTool>): Tool[] {
  const desk = Object.entries(tools).map(([name, { description, schema }]) => offered(name, description, schema))
  return [...desk, offered(caseTool, 'Hands in your case: the work is done.', caseSchema())]
}
