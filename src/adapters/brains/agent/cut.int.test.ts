import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readReply } from '../../../core/verdict/read.ts'
import { type AgentName, openStage, type Stage } from '../../../testing/agents/stand-in.ts'
import { judgeQuestion } from '../../../testing/model-server/model-judge.ts'
import { sampleCase } from '../../../testing/model-server/model-worker.ts'
import { acceptingVerdict, rejectingVerdict } from '../../../testing/sample-verdict.ts'

const accept = JSON.stringify(acceptingVerdict(judgeQuestion()))
const reject = JSON.stringify(rejectingVerdict(judgeQuestion()))
const fencedCase = `\`\`\`json\n${sampleCase}\n\`\`\``
/** Of standard output; what is printed is twice as much. */
const maxOutputBytes = 100_000

let stage: Stage
beforeEach(() => {
  stage = openStage()
})
afterEach(() => stage.remove())

interface Speech {
  /** A line of tool use that means nothing. */
  noise: string
  /** What is in the middle, which is cut out. */
  middle(text: string): string[]
  error: string
  end(text: string): string[]
}

const codexSays = (text: string) => JSON.stringify({ type: 'item.completed', item: { type: 'agent_message', text } })
const openSays = (messageID: string, text: string, reason: string) => [
  JSON.stringify({ type: 'text', part: { messageID, text } }),
  JSON.stringify({ type: 'step_finish', part: { messageID, reason, tokens: {}, cost: 0 } }),
]
const speeches: Record<AgentName, Speech> = {
  // One object: what was cut out of the middle of it may be a member of its own.
  claude: {
    noise: JSON.stringify({ type: 'tool_use' }),
    middle: (text) => [JSON.stringify({ type: 'result', subtype: 'error', is_error: true, result: text })],
    error: JSON.stringify({ type: 'result', subtype: 'error', is_error: true }),
    end: (text) => [JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: text })],
  },
  codex: {
    noise: JSON.stringify({ type: 'item.completed', item: { type: 'command_execution' } }),
    middle: (text) => [codexSays(text)],
    error: JSON.stringify({ type: 'turn.failed', error: { message: 'overloaded' } }),
    end: (text) => [codexSays(text), JSON.stringify({ type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } })],
  },
  gemini: {
    noise: JSON.stringify({ tool_use: 1 }),
    middle: (text) => [JSON.stringify({ response: text })],
    error: JSON.stringify({ error: { message: 'overloaded' } }),
    end: (text) => [JSON.stringify({ response: text })],
  },
  opencode: {
    noise: JSON.stringify({ type: 'tool_use', part: {} }),
    middle: (text) => openSays('m1', text, 'tool-calls'),
    error: JSON.stringify({ type: 'error', error: { name: 'APIError', data: { message: 'overloaded' } } }),
    end: (text) => openSays('m2', text, 'stop'),
  },
}

function prints(agent: AgentName, middle: readonly string[], end: string, first = ''): void {
  const { noise } = speeches[agent]
  const much = Array.from({ length: Math.ceil(maxOutputBytes / noise.length) }, () => noise)
  const lines = [...much, ...middle, ...much, ...speeches[agent].end(end)]
  stage.cast(agent, { does: `${first}\ncat <<'END-OF-PAGE'\n${lines.join('\n')}\nEND-OF-PAGE` })
}

describe.each(['claude', 'codex', 'gemini', 'opencode'] as const)('%s that prints more than is kept', (agent) => {
  it.each(['a rejecting verdict', 'an error'])('gives no verdict by the end of it: the middle may be %s', async (what) => {
    const middle = what === 'an error' ? [speeches[agent].error] : speeches[agent].middle(reject)
    prints(agent, middle, accept)
    const ending = await stage.judge(agent, { maxOutputBytes })
    expect(ending).toMatchObject({ kind: 'reply', reply: { channel: 'text', finish: 'length' }, usage: { durationMs: expect.any(Number) } })
    if (ending.kind !== 'reply') return
    expect(Buffer.byteLength(ending.reply.body)).toBeLessThanOrEqual(50_000)
    expect(readReply(ending.reply, judgeQuestion()).kind).toBe('unreadable')
  })

  it('hands in no case, not even in its file', async () => {
    for (const first of ['', `printf '%s' '${sampleCase}' > "$ASSAY_CASE_FILE"`]) {
      prints(agent, [speeches[agent].error], fencedCase, first)
      expect(await stage.work(agent, { maxOutputBytes })).toMatchObject({
        kind: 'failed',
        failure: 'output',
        detail: expect.stringMatching(new RegExp(`^${agent} printed more than is kept .*limits\\.outputBytes`)),
        beforeEffect: false,
      })
    }
  })

  it('and fails is told by how it failed', async () => {
    stage.cast(agent, { does: `yes '${speeches[agent].noise}' | head -c ${maxOutputBytes * 2}`, exit: 3 })
    expect(await stage.work(agent, { maxOutputBytes })).toMatchObject({ kind: 'failed', failure: 'exit' })
    expect(await stage.judge(agent, { maxOutputBytes })).toMatchObject({
      kind: 'unavailable',
      detail: expect.stringContaining('exit code 3'),
    })
  })
})
