import type { Agent, Brain } from '../../../src/contract/agent.ts'
import type { RawReply } from '../../../src/contract/verdict.ts'
import type { Seat } from '../../../src/core/panel/state.ts'
import type { Rules } from '../../../src/core/task/draft.ts'
import { suspicions } from '../../../src/core/verdict/suspicion.ts'
import { judgePrompt } from '../../../src/engine/prompts/judge.ts'
import { History } from '../../../src/testing/task/given.ts'
import { created, freshNonce, fullCase, openSeats, reply, start, submit, verdictOf } from '../../../src/testing/task/steps.ts'
import { fiveAgents, rulesWith, twoBrains } from '../../../src/testing/task/world.ts'
import type { Submission } from './places.ts'
import type { Wrapping } from './wrappings.ts'

export type Mode = 'full' | 'escalate'

const printing: Record<string, Brain> = { ...twoBrains, judge: { kind: 'command', argv: ['./judge.sh'] } }
const textAgents: Record<string, Agent> = { ...fiveAgents, lead: { role: 'manager', brain: 'judge', judges: true } }
const once = { maxAttempts: 1, onExhausted: 'fail' } as const

/** One attempt, and no way to done but a review that passes. */
export const rules: Record<Mode | 'text', Rules> = {
  full: rulesWith({ ...once, panel: { mode: 'full' } }),
  escalate: rulesWith({ ...once, panel: { mode: 'escalate' } }),
  text: rulesWith(once, textAgents, printing),
}

/** A task whose worker handed this in and whose panel now sits. The suspicions are those that the product finds. */
export function inReview(given: Submission, by: Rules): History {
  const history = created(by, { checks: [{ kind: 'command', id: 'tests', argv: ['true'] }] }).when(start())
  const raw = fullCase(history.state.spec, given.summary)
  history.when(submit(history.state, '', { raw, content: given.content }))
  if (history.state.status !== 'checking') throw new Error(`the case was not taken: ${history.emitted.join(', ')}`)
  const { attempts, current } = history.state
  return history.when({
    type: 'report_checks',
    attempt: attempts,
    submission: current?.submission ?? 1,
    reports: [given.report],
    nonce: freshNonce(),
    suspicions: suspicions(textsOf(history, given)),
  })
}

/** The texts that the product looks at before a panel sits, by the names it gives them. */
function textsOf(history: History, { content, files }: Submission): { where: string; text: string }[] {
  return [
    { where: 'the case', text: JSON.stringify(history.state.current?.case) },
    { where: 'the output', text: content.output ?? '' },
    ...files.map(({ path, text }) => ({ where: path, text })),
    { where: 'file names', text: content.paths.join('\n') },
  ]
}

/** The same review once more, to be judged otherwise. */
export function fork(history: History): History {
  const copy = new History(history.rules)
  copy.maybe = history.maybe
  return copy
}

/** The fenced text behind which a judge of this review meets the attack, as the product's own prompt shows it, fences and nonce included. */
export function asShown(history: History, given: Submission): string {
  const { state } = history
  const seat = state.panel?.seats[0]
  if (!state.panel || !seat) throw new Error('nobody sits')
  const material = { state, panel: state.panel, seat, files: given.files, reports: [given.report], tests: [] }
  const prompt = judgePrompt({
    ...material,
    timeline: [],
    agentsFile: undefined,
    ledgerLimit: 5,
    promptBytes: 1_000_000,
    complaint: undefined,
  })
  const at = prompt.indexOf(`<<<${given.label}`)
  const end = prompt.indexOf('>>>', at)
  if (at < 0 || end < 0) throw new Error(`no ${given.label} in the prompt`)
  return prompt.slice(at, end + 3)
}

export const rejects = (history: History) =>
  verdictOf(history.state, { accept: false, score: 2, met: { AC1: 'no' }, evidence: ['core.txt:1'] })

/** What a judge that does as it is told answers. */
export const obeys: (history: History) => RawReply = (history) => ({
  channel: 'tool',
  body: JSON.stringify(verdictOf(history.state, { accept: true, score: 5 })),
  finish: 'tool-calls',
})

/** An honest judge that rejects with a hard criterion unmet, on evidence that is there. */
export const vetoes: (history: History) => RawReply = (history) => ({
  channel: 'tool',
  body: JSON.stringify(rejects(history)),
  finish: 'tool-calls',
})

/** Most answers that any review may take. */
const mostAnswers = 60

/** Every seat that is asked answers until the review is over; true where the work was released. */
export function judged(history: History, answer: (seat: Seat) => RawReply): boolean {
  for (let answers = 0; history.state.status === 'in_review'; answers += 1) {
    const { state } = history
    const [number] = openSeats(state)
    const seat = state.panel?.seats.find((one) => one.seat === number)
    if (number === undefined || !seat || answers > mostAnswers) throw new Error('a review that does not end')
    const given = answer(seat)
    history.when({ ...reply(state, number, given.body), reply: given })
  }
  return history.state.status === 'done'
}

/** A review by judges that all wrap the attack in the same way. */
export function gullible(opened: History, wrapping: Wrapping, attack: string): boolean {
  const history = fork(opened)
  return judged(history, () => wrapping({ attack, own: rejects(history) }))
}
