import type { Content } from '../../../contract/case.ts'
import { visible } from '../../../contract/source/shown.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import type { Lease } from '../../../contract/work.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { WorkEnding } from '../../../ports/brain.ts'
import type { Manifest } from '../../../ports/snapshots.ts'
import type { OpenWorkspace } from '../../../ports/workspace.ts'
import type { EngineParts } from '../../parts.ts'
import { StoreFault } from '../../store-fault.ts'
import { type Bench, settleRefused } from '../bench.ts'
import { contentOf } from './content.ts'

/** What a turn that is over came to, as a command. */
export async function reportEnding(
  bench: Bench,
  lease: Lease,
  state: TaskState,
  workspace: OpenWorkspace,
  ending: Exclude<WorkEnding, { kind: 'handed_in' }>,
): Promise<void> {
  const { id, assignee } = state.spec
  const attempt = state.attempts
  const options = { actor: assignee, settles: lease }
  if (ending.kind === 'stopped') {
    const { detail, usage } = ending
    const stopped = { type: 'stop_attempt', attempt, detail, ...(usage && { usage }) } as const
    const handled = await bench.tasks.handle(id, stopped, { ...options, actor: 'runtime' })
    return settleRefused(bench, lease, handled)
  }
  if (ending.kind === 'failed') {
    const { failure, detail, output, usage } = ending
    const handled = await bench.tasks.handle(
      id,
      { type: 'fail_attempt', attempt, failure, detail, output, ...(usage && { usage }) },
      options,
    )
    return settleRefused(bench, lease, handled)
  }
  const { raw, output, usage, unreadable } = ending
  if (unreadable !== undefined) {
    const refusal = { type: 'refuse_case' as const, attempt, problems: [unreadable], raw: raw ?? '', ...(usage && { usage }) }
    return settleRefused(bench, lease, await bench.tasks.handle(id, refusal, options))
  }
  const taken = await takeContent(bench, state.spec, workspace, output)
  if (!taken.ok) {
    const { detail } = taken
    const handled = await bench.tasks.handle(
      id,
      { type: 'fail_attempt', attempt, failure: 'output', detail, output, ...(usage && { usage }) },
      options,
    )
    return settleRefused(bench, lease, handled)
  }
  const handled = await bench.tasks.handle(
    id,
    { type: 'submit_case', attempt, raw, content: taken.content, ...(usage && { usage }) },
    options,
  )
  await settleRefused(bench, lease, handled)
}

/** Snapshots the workspace: from here on nobody reads it again. */
export async function takeContent(
  bench: Bench,
  spec: TaskSpec,
  workspace: OpenWorkspace,
  output: string,
): Promise<{ ok: true; content: Content } | { ok: false; detail: string }> {
  const { snapshots, workspaces } = bench.parts
  const tampered = await workspaces.tampered(spec)
  if (tampered.length > 0) return { ok: false, detail: tamperedDetail(tampered) }
  const taken = await snapshots.take(workspace.path, (path) => workspaces.ignored(path, spec))
  if (!taken.ok) {
    if (taken.problem.code === 'disk_full' || taken.problem.code === 'io') throw new StoreFault('the work could not be kept', taken.problem)
    return { ok: false, detail: taken.problem.message }
  }
  const snapshot = await withPage(bench.parts, spec, taken.manifest)
  if ('detail' in snapshot) return { ok: false, detail: snapshot.detail }
  return { ok: true, content: await contentOf(snapshots, spec, { snapshot, base: workspace.base, output }) }
}

/** Paths that are named one by one. */
const mostNamed = 5

/** A repository that appears among the work, or settings and hooks that change, would be run by the user's git and are seen by no judge. */
function tamperedDetail(paths: readonly string[]): string {
  const more = paths.length > mostNamed ? ` and ${paths.length - mostNamed} more` : ''
  const named = paths
    .slice(0, mostNamed)
    .map((path) => visible(path))
    .join(', ')
  return `version control in the workspace was changed, which is no work and which no judge sees: ${named}${more}; make it what it was`
}

/** Where the body of a task's page stands in its snapshot. What a worker writes there itself does not count. */
export const pagePath = 'deliverable-page/page.html'

/** A page that is the deliverable is fetched now and judged with the work: whoever asks its server later may get something else. */
async function withPage({ snapshots, fetchPage }: EngineParts, spec: TaskSpec, taken: Manifest): Promise<Manifest | { detail: string }> {
  const { deliverable } = spec
  if (deliverable?.kind !== 'url') return taken
  const fetched = await fetchPage(deliverable.url, { allowPrivate: deliverable.allowPrivate ?? false })
  if (!fetched.ok) return { detail: `${deliverable.url} cannot be handed over: ${fetched.message}` }
  const { body } = fetched
  if (body.length === 0) return { detail: `${deliverable.url} cannot be handed over: the page is empty` }
  const page = { path: pagePath, size: body.length, digest: await snapshots.putBytes(body), executable: false }
  const digest = await snapshots.compose([...taken.files.filter(({ path }) => path !== pagePath), page], taken.refused)
  const manifest = await snapshots.manifest(digest)
  if (!manifest) throw new Error(`the snapshot ${digest} was not stored`)
  return manifest
}
