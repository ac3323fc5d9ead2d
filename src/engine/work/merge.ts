import type { Acceptance } from '../../contract/events/merge.ts'
import type { TaskState } from '../../core/task/state.ts'
import { StoreFault } from '../store-fault.ts'
import type { CommitNote, Integration } from '../../ports/workspace.ts'
import { type Bench, type Runner, settleRefused } from './bench.ts'
import { checkContent, suspect } from './checks.ts'
import { contentOf } from './attempt/content.ts'

/** Merges accepted content with what the mission has, without moving the mission's branch, and checks what comes out. Safe to repeat. */
export const mergeWork: Runner = async (bench, lease, signal) => {
  const { journal, random, snapshots } = bench.parts
  const { task, content: wanted } = lease.payload as { task: string; content: string }
  const { state } = await bench.tasks.load(task)
  const integration = awaited(bench, state)
  const accepted = state?.contents[wanted]
  if (!state?.merging || state.merging.merge || state.merging.acceptance.content !== wanted || !integration || !accepted)
    return void (await journal.complete(lease))
  const { snapshot, base } = accepted
  const prepared = await integration.prepare({ snapshot: snapshot as never, base: base as never }, noteFor(state, state.merging.acceptance))
  if (prepared.kind === 'conflict') {
    const { paths, detail } = prepared
    const handled = await bench.tasks.handle(
      task,
      { type: 'report_merge', content: wanted, result: { kind: 'conflict', paths, detail }, nonce: random.nonce(), suspicions: [] },
      { actor: 'runtime', settles: lease },
    )
    return settleRefused(bench, lease, handled)
  }
  const merged = await snapshots.manifest(prepared.snapshot)
  if (!merged) throw new StoreFault(`the merge of ${task} is missing from .assay/objects`)
  const content = await contentOf(snapshots, state.spec, { snapshot: merged, base: prepared.base, output: accepted.output ?? '' })
  const reports = await checkContent(bench, state, content, signal, true)
  if (signal.aborted) return void (await journal.release(lease, 0))
  const { commit, onto } = prepared
  const handled = await bench.tasks.handle(
    task,
    {
      type: 'report_merge',
      content: wanted,
      result: { kind: 'merged', commit, onto, content, reports },
      nonce: random.nonce(),
      suspicions: await suspect(bench, state, content, reports),
    },
    { actor: 'runtime', settles: lease },
  )
  await settleRefused(bench, lease, handled)
}

/** Moves the mission's branch to the checked merge; then the acceptance is recorded. */
export const publishMerge: Runner = async (bench, lease) => {
  const { journal } = bench.parts
  const { task, commit } = lease.payload as { task: string; commit: string }
  const { state } = await bench.tasks.load(task)
  const integration = awaited(bench, state)
  const merge = state?.merging?.merge
  if (merge?.commit !== commit || !integration) return void (await journal.complete(lease))
  const outcome = await integration.publish(merge)
  const handled = await bench.tasks.handle(task, { type: 'confirm_published', commit, outcome }, { actor: 'runtime', settles: lease })
  await settleRefused(bench, lease, handled)
}

function awaited({ parts }: Bench, state: TaskState | undefined): Integration | undefined {
  return state?.status === 'in_review' && state.merging ? parts.workspaces.integration(state.spec) : undefined
}

/** What the commit says of how it was accepted: clean work and work below the bar are told apart in git too. */
function noteFor({ spec, current }: TaskState, acceptance: Acceptance): CommitNote {
  const flag = acceptance.kind === 'force_accepted' ? 'below-threshold' : acceptance.flag
  return {
    subject: spec.title,
    trailers: {
      'Assay-Task': spec.id,
      'Assay-Accepted': flag,
      ...(acceptance.score && { 'Assay-Score': `${acceptance.score.on100}/100` }),
      ...(acceptance.kind === 'force_accepted' &&
        acceptance.vetoes.length > 0 && { 'Assay-Veto': acceptance.vetoes.map((veto) => veto.criterion).join(', ') }),
      'Assay-Content': acceptance.content ?? '',
      'Assay-Worker': current?.worker ?? spec.assignee,
    },
  }
}
