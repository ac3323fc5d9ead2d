import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AgentName, openStage, type Stage } from '../../../testing/agents/stand-in.ts'
import { sampleCase } from '../../../testing/model-server/model-worker.ts'

let stage: Stage
beforeEach(() => {
  stage = openStage()
})
afterEach(() => stage.remove())

const says = `All done.\n\n\`\`\`json\n${sampleCase}\n\`\`\``
const cast = (agent: AgentName, from: string, to: string, does = '') =>
  stage.cast(agent, { prints: `${agent}/worked.out`, says, instead: [[from, to]], does })

describe('a worker whose last message was cut', () => {
  it.each([
    ['claude', '"stop_reason":"end_turn"', '"stop_reason":"max_tokens"', 'max_tokens'],
    ['claude', '"stop_reason":"end_turn"', '"stop_reason":"refusal"', 'refusal'],
    ['claude', '"stop_reason":"end_turn"', '"stop_reason":"model_context_window_exceeded"', 'model_context_window_exceeded'],
    ['opencode', '"reason":"stop"', '"reason":"length"', 'length'],
    ['opencode', '"reason":"stop"', '"reason":"content-filter"', 'content-filter'],
  ] as const)('has handed in no case, not even in its file (%s, %s -> %s)', async (agent, from, to, word) => {
    cast(agent, from, to, `printf '%s' '${sampleCase}' > "$ASSAY_CASE_FILE"`)
    expect(await stage.work(agent)).toMatchObject({
      kind: 'failed',
      failure: 'output',
      detail: expect.stringContaining(word),
      beforeEffect: false,
      usage: { inputTokens: 100, outputTokens: 20 },
    })
  })

  it('is told from one that says nothing of it', async () => {
    cast('claude', '"stop_reason":"end_turn"', '"stop_reason":null')
    expect(await stage.work('claude')).toMatchObject({ kind: 'finished', raw: sampleCase })
  })
})

describe('a cost that cannot be', () => {
  const unusable = ['"99"', '-5', 'null', '1e999', '{}']
  const cases = [
    ...unusable.map((cost) => ['claude', '"total_cost_usd":0.0008', `"total_cost_usd":${cost}`] as const),
    ['claude', '"total_cost_usd":0.0008,', ''] as const,
    ...unusable.map((cost) => ['opencode', '"cost":0', `"cost":${cost}`] as const),
  ]

  it.each(cases)('does not keep a bound: %s, %s -> %s', async (agent, from, to) => {
    cast(agent, from, to)
    expect(await stage.work(agent, { budgetUsd: 1 })).toMatchObject({
      kind: 'failed',
      failure: 'error',
      detail: expect.stringContaining('limits.attemptCost'),
      usage: { costUsd: 1, estimated: true },
    })
    const free = await stage.work(agent)
    expect(free, 'where nothing is bound').toMatchObject({ kind: 'finished', raw: sampleCase })
    expect((free as { usage: object }).usage).not.toHaveProperty('costUsd')
  })
})
