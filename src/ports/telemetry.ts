/** What a decision came to, in the words of the GenAI conventions for evaluations. */
export interface EvaluationResult {
  name: string
  /** On the scale of 1 to 5; absent where nobody graded. */
  score?: number
  label: 'pass' | 'needs_revision'
  explanation: string
  attributes: Record<string, string | number | boolean>
}

/** Where spans and evaluation results go. It never decides anything, and never fails what it looks at. */
export interface Telemetry {
  span<T>(name: string, attributes: Record<string, string | number | boolean>, run: () => Promise<T>): Promise<T>
  evaluation(result: EvaluationResult): void
}
