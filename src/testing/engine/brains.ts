import type { BrainPort, JudgeQuestion, WorkEnding, WorkOrder } from '../../ports/brain.ts'

/** A worker made of a function: what it returns is what it printed, or how its turn ended. */
export function handsOf(work: (order: WorkOrder) => string | WorkEnding): BrainPort {
  return {
    conversational: false,
    work: async (order) => {
      const done = work(order)
      return typeof done === 'string' ? { kind: 'finished', raw: null, output: done, sandboxed: false } : done
    },
    judge: async () => ({ kind: 'unavailable', detail: 'a worker does not judge' }),
    close: async () => {},
  }
}

/** A judge made of a function: its reply as text, or undefined where it cannot be reached. */
export function eyesOf(answer: (question: JudgeQuestion) => string | undefined): BrainPort {
  return {
    conversational: false,
    work: async () => ({ kind: 'failed', failure: 'error', detail: 'a judge does not work', output: '', beforeEffect: false }),
    judge: async (question) => {
      const body = answer(question)
      return body === undefined ? { kind: 'unavailable', detail: '503' } : { kind: 'reply', reply: { channel: 'text', body } }
    },
    close: async () => {},
  }
}
