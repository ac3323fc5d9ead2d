import { readCleanJson } from '../../../../contract/source/read-json.ts'
import { excerpt } from '../../../../contract/source/shown.ts'
import type { WorkEnding } from '../../../../ports/brain.ts'
import type { OpenCall } from './conversation.ts'
import { notDone } from './instructions.ts'
import { failed, outOfTime, type Shift, stopped, writeMeanwhile, written } from './shift.ts'
import { caseTool } from '../desk/case-tool.ts'
import type { Answer, DeskTool, Doing } from '../desk/desk.ts'

/** Calls of one message that are done; the others are told so. */
const mostCalls = 16

/** Bytes of a case that cannot be read which are written down. */
const mostShown = 4_096

/** Does what the model asked for, one call after the other. Returns the attempt's end, if it came to one. */
export async function answerCalls(shift: Shift, calls: readonly OpenCall[]): Promise<WorkEnding | undefined> {
  if (calls.length === 0) return undefined
  // Which of two different ones is meant, nobody can tell.
  const cases = new Set(calls.flatMap(({ name, id }) => (name === caseTool ? [shift.raw.get(id) ?? ''] : [])))
  let refused: Refused | undefined
  let sensible = false
  for (const [index, call] of calls.entries()) {
    const late = outOfTime(shift)
    if (late) return late
    if (index >= mostCalls) {
      shift.conversation.answer(call, notDone.tooMany(mostCalls))
      continue
    }
    if (call.name === caseTool && cases.size > 1) refused ??= await refuse(shift, notDone.twoCases, [...cases])
    const done = call.name === caseTool && refused ? heard(shift, call, refused) : await answerOne(shift, call)
    if ('ending' in done) return done.ending
    if (!done.answer.mistake) sensible = true
  }
  if (shift.guard.judged(sensible)) return failed(shift, 'error', 'the model went on calling tools in ways that make no sense')
  return undefined
}

type Done = { answer: Answer } | { ending: WorkEnding }

async function answerOne(shift: Shift, call: OpenCall): Promise<Done> {
  if (call.name === caseTool) return await submit(shift, call)
  if (saysTwice(shift.raw.get(call.id))) return answered(shift, call, { text: notDone.twice, mistake: true })
  const tool = Object.hasOwn(shift.tools, call.name) ? shift.tools[call.name] : undefined
  const doing = tool?.understand(call.input)
  if (tool === undefined || doing === undefined) {
    const known = [...Object.keys(shift.tools), caseTool]
    return answered(shift, call, { text: notDone.unknown(excerpt(call.name), known), mistake: true })
  }
  if ('why' in doing) return answered(shift, call, { text: doing.why, mistake: true })
  return await act(shift, call, tool, doing)
}

/** Arguments with a key twice in one object: two readers may understand them differently. */
function saysTwice(raw: string | undefined): boolean {
  return raw !== undefined && isJsonObject(raw) && readCleanJson(raw) === undefined
}

function isJsonObject(raw: string): boolean {
  try {
    const value: unknown = JSON.parse(raw)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** A call with effects is written down before and after: cut off in between, it is never done a second time. */
async function act(shift: Shift, call: OpenCall, { effects }: DeskTool, doing: Doing): Promise<Done> {
  const { conversation, spending, talk } = shift
  if (effects) {
    await written(shift)
    await talk.calling(call.name, conversation.said(spending.spent(), call), spending.usage())
    conversation.kept()
  }
  const answer = await doing(shift.stop, Math.max(0, shift.limits.attemptMs - spending.ms))
  if (answer === 'stopped') return { ending: stopped(shift, `stopped in the middle of ${call.name}`) }
  const done = answered(shift, call, answer)
  if (effects) {
    writeMeanwhile(shift, talk.called(conversation.said(spending.spent()), spending.usage()))
    conversation.kept()
  }
  return done
}

function answered(shift: Shift, call: OpenCall, answer: Answer): Done {
  const seen = shift.guard.saw(call.name, call.input, answer.text)
  const text = seen ? `${answer.text}\n${notDone.again(seen.times)}` : answer.text
  shift.conversation.answer(call, shift.line.redact(text))
  if (!seen?.over) return { answer }
  const what = `${excerpt(call.name)} ${excerpt(JSON.stringify(call.input) ?? '')}`
  return { ending: failed(shift, 'error', `the model goes round in circles: ${what} had the same answer ${seen.times} times`) }
}

async function submit(shift: Shift, call: OpenCall): Promise<Done> {
  const { conversation, spending, talk, limits } = shift
  const raw = shift.raw.get(call.id)
  if (raw === undefined) return answered(shift, call, { text: notDone.unread, mistake: true })
  if (Buffer.byteLength(raw) > limits.caseBytes) return heard(shift, call, await refuse(shift, notDone.tooLong(limits.caseBytes), [raw]))
  await written(shift)
  const usage = spending.usage()
  const outcome = await talk.submit(shift.line.redact(raw), conversation.said(spending.spent()), shift.lastText, usage)
  if (outcome.kind !== 'refused') return { ending: { kind: 'handed_in', usage } }
  return answered(shift, call, { text: notDone.refused(outcome.problems) })
}

/** Why a case was not taken, or the attempt's end where too many were not. */
type Refused = { text: string } | { ending: WorkEnding }

/** What nobody can read as one case is written down as a case that cannot be read, with how it begins. */
async function refuse(shift: Shift, why: string, cases: readonly string[]): Promise<Refused> {
  const { conversation, spending, talk, line } = shift
  await written(shift)
  const usage = spending.usage()
  const raw = cases.slice(0, mostCalls).map((text) => beginning(line.redact(text)))
  const outcome = await talk.refuse(why, raw.join('\n'), conversation.said(spending.spent()), usage)
  return outcome.kind === 'over' ? { ending: { kind: 'handed_in', usage } } : { text: notDone.refused(outcome.problems) }
}

function heard(shift: Shift, call: OpenCall, refused: Refused): Done {
  return 'ending' in refused ? refused : answered(shift, call, refused)
}

/** A character that the cut goes through is left out. */
function beginning(text: string): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, mostShown), { stream: true })
}
