import { digestOf } from '../../contract/canonical.ts'
import type { RejectedBefore } from '../../contract/review.ts'
import { implicitCase } from '../../core/case/read.ts'
import { subjectOf } from '../../core/task/reviewing.ts'
import type { DecidedContent, TaskState } from '../../core/task/state.ts'
import type { JudgedRow } from '../views/judged.ts'
import type { Bench } from '../work/bench.ts'

/**
 * The rejection that stands on work which is brought to be reviewed, where another task came to it: exactly this content, by the same criteria, rubric and policy,
 * is not judged for a better draw, whoever brings it. A case that argues anew is heard once more. Work that was rejected as part of a larger change is another thing.
 */
export async function rejectedBefore(
  { parts, tasks }: Pick<Bench, 'parts' | 'tasks'>,
  state: TaskState,
): Promise<RejectedBefore | undefined> {
  const { spec, current } = state
  if (spec.outside !== true || spec.deliverable || !current?.content) return undefined
  const subject = digestOf(subjectOf(state))
  const row = (await parts.journal.viewRow('judged', subject)) as JudgedRow | undefined
  const found: { from: TaskState; decided: DecidedContent }[] = []
  for (const task of row?.tasks ?? []) {
    const from = task === spec.id ? undefined : (await tasks.load(task)).state
    if (!from) continue
    const decided = from.decided.filter((one) => digestOf(one.subject) === subject)
    const turned = from.rejectedByOwner[current.content.digest]
    if (turned !== undefined) return { task, owner: turned }
    const paths = new Set(current.content.paths)
    const isPart = from.contents[current.content.digest]?.paths.every((path) => paths.has(path)) ?? false
    if (isPart) found.push(...decided.map((one) => ({ from, decided: one })))
  }
  const last = found.at(-1)
  if (!last?.decided.decision.graded || last.decided.decision.outcome !== 'reject' || last.decided.overruled !== undefined) return undefined
  const { from, decided } = last
  const argued = digestOf(current.case)
  const isAnswer = argued !== digestOf(implicitCase(current.content)) && argued !== decided.caseDigest
  if (isAnswer && found.length === 1) return undefined
  const { review, caseDigest, decision, judges } = decided
  return { task: from.spec.id, review, subject: decided.subject, caseDigest, decision, judges }
}
