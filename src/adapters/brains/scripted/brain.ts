import { durationMs } from '../../../contract/config/duration.ts'
import type { Result } from '../../../contract/errors.ts'
import type { Problem } from '../../../contract/source/problem.ts'
import type { BrainPort, JudgeEnding, JudgeQuestion, WorkEnding, WorkOrder } from '../../../ports/brain.ts'
import { pause } from './pause.ts'
import { type Placed, readScript, type Script } from './read-script.ts'
import type { Answer } from './script.ts'
import { expandGrade } from './verdict.ts'
import { playTurn } from './worker.ts'

export interface ScriptedBrainOptions {
  /** Name of the file, for messages. */
  file: string
  text: string
}

/** A brain that does and answers what a file says: for tests, demonstrations and rehearsals. The same questions get the same answers. */
export function openScriptedBrain({ file, text }: ScriptedBrainOptions): Result<BrainPort, Problem[]> {
  const script = readScript(text, file)
  if (!script.ok) return script
  return { ok: true, value: new ScriptedBrain(file, script.value) }
}

class ScriptedBrain implements BrainPort {
  readonly conversational = false
  readonly #file: string
  readonly #script: Script
  /** Tries so far of each turn, for faults that spoil only some of them. */
  readonly #tries = new Map<string, number>()

  constructor(file: string, script: Script) {
    this.#file = file
    this.#script = script
  }

  async work(order: WorkOrder, signal: AbortSignal): Promise<WorkEnding> {
    const step = nth(linesFor(this.#script.workers, order.task), order.attempt)
    if (step === undefined) {
      const detail = `${this.#file} says nothing for the task ${JSON.stringify(order.task.title)}`
      return { kind: 'failed', failure: 'error', detail, output: '', beforeEffect: false }
    }
    const key = JSON.stringify([order.task.id, order.attempt])
    const tries = this.#tries.get(key) ?? 0
    this.#tries.set(key, tries + 1)
    return await playTurn(step.value, order, tries < (step.value.times ?? Number.POSITIVE_INFINITY), signal)
  }

  async judge(question: JudgeQuestion, signal: AbortSignal): Promise<JudgeEnding> {
    const { judges } = this.#script
    const lines = linesFor(judges.get(question.judge), question.task) ?? linesFor(judges.get('*'), question.task)
    const review = nth(lines, question.review)
    const answer = nth(review?.value, question.round)
    if (review === undefined || answer === undefined) {
      return {
        kind: 'unavailable',
        detail: `${this.#file} says nothing for the judge ${question.judge} on the task ${JSON.stringify(question.task.title)}`,
      }
    }
    return await give(answer, review, question, signal)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** A task's own lines, by id or title, or those for every task. */
function linesFor<T>(byTask: Map<string, T> | undefined, { id, title }: { id: string; title: string }): T | undefined {
  return byTask?.get(id) ?? byTask?.get(title) ?? byTask?.get('*')
}

/** Counts from 1; the last goes on for ever. */
function nth<T>(list: readonly T[] | undefined, number: number): T | undefined {
  return list?.[Math.min(number, list.length) - 1]
}

async function give(answer: Answer, { place }: Placed<Answer[]>, question: JudgeQuestion, signal: AbortSignal): Promise<JudgeEnding> {
  if (answer.form === 'throw') throw new Error(answer.words.throw)
  const delay = answer.form === 'hang' ? undefined : answer.words.delay
  const goesOn =
    answer.form === 'hang' ? await pause(undefined, signal) : delay === undefined ? !signal.aborted : await pause(durationMs(delay), signal)
  if (!goesOn || answer.form === 'hang') return { kind: 'stopped' }
  const usage = answer.words.usage === undefined ? {} : { usage: answer.words.usage }
  const filled = (text: string): string => text.replaceAll('{{nonce}}', question.nonce)
  switch (answer.form) {
    case 'unavailable':
      return { kind: 'unavailable', detail: answer.words.unavailable, ...usage }
    case 'text':
      return { kind: 'reply', reply: { channel: 'text', body: filled(answer.words.text) }, ...usage }
    case 'raw': {
      const { raw, channel = 'text', finish } = answer.words
      return { kind: 'reply', reply: { channel, body: filled(raw), ...(finish === undefined ? {} : { finish }) }, ...usage }
    }
    case 'accept': {
      const expanded = expandGrade(answer.words, question)
      if ('unknown' in expanded) return { kind: 'unavailable', detail: `${place}: ${expanded.unknown}`, ...usage }
      return { kind: 'reply', reply: { channel: 'tool', body: JSON.stringify(expanded.verdict) }, ...usage }
    }
  }
}
