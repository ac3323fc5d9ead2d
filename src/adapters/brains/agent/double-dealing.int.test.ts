import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readReply } from '../../../core/verdict/read.ts'
import type { JudgeEnding } from '../../../ports/brain.ts'
import { openStage, type Stage } from '../../../testing/agents/stand-in.ts'
import { judgeQuestion } from '../../../testing/model-server/model-judge.ts'
import { sampleCase } from '../../../testing/model-server/model-worker.ts'
import { acceptingVerdict, rejectingVerdict } from '../../../testing/sample-verdict.ts'

const accept = JSON.stringify(acceptingVerdict(judgeQuestion()))
const reject = JSON.stringify(rejectingVerdict(judgeQuestion()))
const fencedCase = `\`\`\`json\n${sampleCase}\n\`\`\``

let stage: Stage
beforeEach(() => {
  stage = openStage()
})
afterEach(() => stage.remove())

/** What a judge that prints this comes to. */
async function judged(agent: 'claude' | 'codex' | 'gemini' | 'opencode', lines: readonly string[]): Promise<string> {
  stage.cast(agent, { does: `cat <<'END-OF-PAGE'\n${lines.join('\n')}\nEND-OF-PAGE` })
  return outcome(await stage.judge(agent))
}

function outcome(ending: JudgeEnding): string {
  if (ending.kind !== 'reply') return ending.kind
  const read = readReply(ending.reply, judgeQuestion())
  return read.kind === 'verdict' ? read.verdict.verdict : read.kind
}

/** Claude's result, with members as they are written, so that one can be there twice. */
function claudeSays(result: string, structured: string | undefined, more = ''): string[] {
  const own = structured === undefined ? '' : `,"structured_output":${structured}`
  return [
    `{"type":"result","subtype":"success","is_error":false,"api_error_status":null,"total_cost_usd":0.01,"result":${JSON.stringify(result)}${own}${more}}`,
  ]
}

describe('an agent that gives two different verdicts', () => {
  it('Claude, one in structure and one in words', async () => {
    expect(await judged('claude', claudeSays('Done.', accept))).toBe('accept')
    expect(await judged('claude', claudeSays(accept, accept))).toBe('accept')
    const reordered = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(accept) as object).reverse()))
    expect(await judged('claude', claudeSays(reordered, accept)), 'the same in another order').toBe('accept')
    for (const other of [reject, `\`\`\`json\n${reject}\n\`\`\``, `On second thoughts: ${reject}`, reject.replaceAll('"', "'")])
      expect(await judged('claude', claudeSays(other, accept))).toBe('unreadable')
    const withoutNonce = JSON.stringify({ ...(JSON.parse(reject) as object), nonce: '' })
    expect(await judged('claude', claudeSays(withoutNonce, accept))).toBe('unreadable')
  })

  it.each(['result', 'structured_output', 'is_error', 'subtype', 'stop_reason'])('Claude, by saying %s twice', async (key) => {
    const first = {
      result: '"x"',
      structured_output: reject,
      is_error: 'true',
      subtype: '"error"',
      stop_reason: '"max_tokens","stop_reason":null',
    }
    const [line = ''] = claudeSays(accept, accept)
    const twice = line.replace('{', () => `{"${key}":${first[key as keyof typeof first]},`)
    expect(await judged('claude', [twice])).toBe('unavailable')
  })

  it('Codex, one after the other', async () => {
    const says = (text: string) => JSON.stringify({ type: 'item.completed', item: { type: 'agent_message', text } })
    const done = JSON.stringify({ type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } })
    expect(await judged('codex', [says('I look at the files.'), says(accept), done])).toBe('accept')
    expect(await judged('codex', [says(accept), says(accept), done])).toBe('accept')
    expect(await judged('codex', [says(reject), says(accept), done])).toBe('unreadable')
    const twice = says(accept).replace('"text":', () => `"text":${JSON.stringify(reject)},"text":`)
    expect(await judged('codex', [twice, done])).not.toBe('accept')
  })

  it('opencode, one after the other', async () => {
    const says = (messageID: string, text: string) => JSON.stringify({ type: 'text', part: { messageID, text } })
    const step = (messageID: string, reason: string) =>
      JSON.stringify({ type: 'step_finish', part: { messageID, reason, tokens: {}, cost: 0 } })
    const two = (first: string) => [says('m1', first), step('m1', 'tool-calls'), says('m2', accept), step('m2', 'stop')]
    expect(await judged('opencode', two('I look at the files.'))).toBe('accept')
    expect(await judged('opencode', two(reject))).toBe('unreadable')
  })

  it('Gemini, by saying its response twice', async () => {
    expect(await judged('gemini', [JSON.stringify({ response: accept })])).toBe('accept')
    expect(await judged('gemini', [`{"response":${JSON.stringify(reject)},"response":${JSON.stringify(accept)}}`])).toBe('unavailable')
  })
})

describe('an error beside an accept', () => {
  it.each(['"api_error_status":529', '"errors":["overloaded"]', '"errors":[{"message":"overloaded"}]', '"errors":"overloaded"'])(
    'of Claude is no verdict: %s',
    async (member) => {
      const [line = ''] = claudeSays(accept, accept)
      const without = member.startsWith('"api') ? line.replace('"api_error_status":null,', '') : line
      expect(await judged('claude', [without.replace('{', () => `{${member},`)])).toBe('unavailable')
    },
  )

  it('and an empty list of errors is none', async () => {
    const [line = ''] = claudeSays(accept, accept)
    expect(await judged('claude', [line.replace('{', '{"errors":[],')])).toBe('accept')
  })
})

describe('what Claude says that it has cost', () => {
  const worked = (cost: string) =>
    stage.cast('claude', {
      does: `cat <<'END-OF-PAGE'\n${claudeSays(fencedCase, undefined).join('').replace('"total_cost_usd":0.01', cost)}\nEND-OF-PAGE`,
    })

  it('is held against what an attempt may cost, whatever it held itself to', async () => {
    worked('"total_cost_usd":0.03')
    expect(await stage.work('claude', { budgetUsd: 0.02 })).toMatchObject({
      kind: 'failed',
      failure: 'error',
      detail: 'claude has cost $0.0300; at most $0.02 may be spent on an attempt',
      usage: { costUsd: 0.03 },
    })
    expect(await stage.work('claude', { budgetUsd: 0.03 })).toMatchObject({ kind: 'finished', raw: sampleCase })
  })

  it('is unknown where it does not say so', async () => {
    worked('"total_cost_usd":null')
    const ending = await stage.work('claude')
    expect(ending).toMatchObject({ kind: 'finished' })
    expect(ending).not.toHaveProperty('usage.costUsd')
  })
})
