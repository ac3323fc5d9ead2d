import type { Assay } from 'assay'

/** What the OpenAI Agents SDK calls with an agent's final output (`outputGuardrails` of an `Agent`). */
interface OutputGuardrail {
  name: string
  execute(args: { agentOutput: unknown }): Promise<{ tripwireTriggered: boolean; outputInfo: unknown }>
}

/**
 * `new Agent({ name: 'writer', outputGuardrails: [assayGuardrail(assay, ['…'])] })`: an output that does not pass never leaves the agent.
 * No clear verdict trips it as well: what nobody could judge is no pass.
 */
export function assayGuardrail(assay: Assay, criteria: string[]): OutputGuardrail {
  return {
    name: 'assay',
    async execute({ agentOutput }) {
      const text = typeof agentOutput === 'string' ? agentOutput : JSON.stringify(agentOutput, null, 2)
      const review = await assay.review({ title: 'Answer', work: { text }, criteria, author: 'agent' })
      const passed = review.ok && review.value.verdict === 'PASS'
      return { tripwireTriggered: !passed, outputInfo: review.ok ? review.value : review.error }
    },
  }
}
