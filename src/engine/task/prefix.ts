import type { Score } from '../../contract/score.ts'
import type { TaskInput } from '../../contract/task.ts'
import type { TaskState } from '../../core/task/state.ts'

/** What dependents read before the output of work that was not accepted clean. */
export function prefixOf(done: { flag: string; score?: Score }, vetoes: readonly { criterion: string }[]): string {
  if (done.flag === 'below-threshold') {
    const veto = vetoes.length > 0 ? `, VETO: ${vetoes.map((one) => one.criterion).join(', ')}` : ''
    return `[ACCEPTED BELOW QUALITY BAR, score ${done.score?.on100 ?? 'unknown'}${veto}]`
  }
  return done.flag === 'unreviewed' ? '[ACCEPTED UNREVIEWED]' : ''
}

/** A finished task as input of a dependent; undefined where it is not done. */
export function inputFrom(state: TaskState): TaskInput | undefined {
  if (state.status !== 'done' || !state.done) return undefined
  const { done, vetoes, spec } = state
  return { task: spec.id, digest: done.content ?? '', flag: done.flag, prefix: prefixOf(done, vetoes) }
}
