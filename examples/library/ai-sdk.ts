import { generateText, type LanguageModel, type ModelMessage } from 'ai'
import type { Assay } from 'assay'

export interface Reviewed {
  text: string
  /** PASS only where an independent panel accepted this very text. */
  verdict: 'PASS' | 'FAIL' | 'INCONCLUSIVE'
  rounds: number
}

/** A Vercel AI SDK call whose answer is judged by somebody else, and which goes on with the feedback until it passes or the rounds are used up. */
export async function generateReviewed(
  assay: Assay,
  { model, prompt, criteria, rounds = 3 }: { model: LanguageModel; prompt: string; criteria: string[]; rounds?: number },
): Promise<Reviewed> {
  const messages: ModelMessage[] = [{ role: 'user', content: prompt }]
  for (let round = 1; ; round += 1) {
    const { text } = await generateText({ model, messages, maxRetries: 0, maxOutputTokens: 4_000 })
    const review = await assay.review({ title: 'Answer', task: prompt, work: { text }, criteria, author: 'writer' })
    const verdict = review.ok ? review.value.verdict : 'INCONCLUSIVE'
    if (verdict !== 'FAIL' || round === rounds) return { text, verdict, rounds: round }
    const points = review.ok ? [review.value.concern, ...review.value.nextSteps] : []
    messages.push({ role: 'assistant', content: text }, { role: 'user', content: `A reviewer rejects this. Address every point:\n${points.join('\n')}` })
  }
}
