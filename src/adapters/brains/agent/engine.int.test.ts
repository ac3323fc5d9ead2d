import { afterEach, expect, it } from 'vitest'
import type { BrainPort, JudgeQuestion } from '../../../ports/brain.ts'
import type { SpendingRow } from '../../../engine/views/spending.ts'
import { openStage } from '../../../testing/agents/stand-in.ts'
import { openWorkshop } from '../../../testing/engine/workshop.ts'
import { sampleCase } from '../../../testing/model-server/model-worker.ts'
import { rejectingVerdict } from '../../../testing/sample-verdict.ts'
import { specWith } from '../../../testing/task/world.ts'

const config = {
  brains: { hands: { kind: 'agent', agent: 'claude' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { panel: { size: 1, quorum: 1 } },
}
const rooms: { remove(): void }[] = []
afterEach(() => {
  for (const room of rooms.splice(0)) room.remove()
})

const scored =
  (...scores: number[]) =>
  () =>
    `It should say hello.\nSCORE: ${scores.shift() ?? 90}`

/** One task for Claude's stand-in; the judge says what it is told to. */
async function run(
  says: string,
  answer: (question: JudgeQuestion) => string = scored(),
  { does = 'echo "$ASSAY_ATTEMPT" > core.txt', tampered = [] as string[] } = {},
) {
  const stage = openStage()
  stage.cast('claude', { prints: 'claude/worked.out', says, does })
  const eyes: BrainPort = {
    conversational: false,
    work: () => Promise.reject(new Error('a judge does not work')),
    judge: async (question) => ({ kind: 'reply', reply: { channel: 'text', body: answer(question) } }),
    close: async () => {},
  }
  const shop = openWorkshop({ config, brains: { hands: stage.brain('claude'), eyes } })
  rooms.push(stage, shop)
  shop.parts.workspaces.tampered = async () => tampered
  const started = await shop.engine.start({ id: 'plan', name: 'Plan', tasks: [specWith({ id: 'plan/a', mission: 'plan' })] })
  if (!started.ok) throw new Error(started.error.message)
  const { counts } = await shop.engine.run({ missions: [started.value.mission], stop: new AbortController().signal })
  const events = await shop.parts.journal.readStream('task/plan-1/a')
  const spending = (await shop.parts.journal.viewRow('spending', 'agent:dev')) as SpendingRow | undefined
  return { counts, events, stdin: stage.given().stdin, working: spending?.working }
}

it('an agent is rejected, told why, and accepted', async () => {
  const { counts, stdin } = await run(`Done.\n\n\`\`\`json\n${sampleCase}\n\`\`\``, scored(30, 90))
  expect(counts).toEqual({ clean: 1 })
  expect(stdin).toContain('It should say hello.')
})

it('an agent that asks instead of working never passes, and hears that nobody answers', async () => {
  const { counts, events, stdin } = await run('Shall I go on?')
  expect(counts).not.toHaveProperty('clean')
  expect(events.map(({ type }) => type)).not.toContain('case.submitted')
  expect(stdin).toContain('claude asked a question instead of handing in a case')
})

it('an agent that claims files which do not exist never passes: what is not there is evidence', async () => {
  const claimed = sampleCase.replaceAll('core.txt:1', 'proof.txt:1')
  const { counts, events, stdin } = await run(`Done.\n\n\`\`\`json\n${claimed}\n\`\`\``, (question) => {
    const verdict = rejectingVerdict(question, { evidence: ['absent:proof.txt'], next_step: 'Write proof.txt.' })
    const criteria = verdict.criteria.map((answer) => ({ ...answer, evidence: ['absent:proof.txt'] }))
    return JSON.stringify({ ...verdict, criteria })
  })
  expect(counts).not.toHaveProperty('clean')
  const decided = events.find(({ type }) => type === 'review.decided')
  expect(decided?.data).toMatchObject({ decision: { outcome: 'reject', vetoes: [{ criterion: 'AC1', evidence: ['absent:proof.txt'] }] } })
  expect(stdin).toContain('Write proof.txt.')
})

it.each([
  ['a case that cannot be read', '```json\n{"summary":"Done."}\n```', {}, 'attempt.rejected'],
  ['a case file that is too long', 'Done.', { does: 'head -c 20000 /dev/zero > "$ASSAY_CASE_FILE"' }, 'attempt.rejected'],
  ['work that cannot be taken', `\`\`\`json\n${sampleCase}\n\`\`\``, { tampered: ['.git/config'] }, 'attempt.failed'],
])('an agent that comes with %s has its cost counted', async (_, says, how, ends) => {
  const { counts, events, working } = await run(says, scored(), how)
  expect(counts).not.toHaveProperty('clean')
  const ended = events.filter(({ type }) => type === ends)
  const unread = events.filter(({ type }) => type === 'case.parse_error')
  expect(unread).toHaveLength(ends === 'attempt.rejected' ? ended.length : 0)
  expect(ended.length).toBeGreaterThan(0)
  for (const { data } of ended) expect(data).toMatchObject({ usage: { inputTokens: 100, outputTokens: 20, costUsd: 0.0008 } })
  expect(working).toMatchObject({ calls: ended.length, unpriced: 0, inputTokens: 100 * ended.length })
  expect(working?.costUsd).toBeCloseTo(0.0008 * ended.length)
})
