import type { Digest } from '../../../contract/canonical.ts'
import type { Case, Content } from '../../../contract/case.ts'
import type { CheckReport } from '../../../contract/check.ts'
import type { EvidenceResolution } from '../../../contract/verdict.ts'
import type { Panel } from '../../../core/panel/state.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { EngineParts } from '../../parts.ts'
import type { JudgeMaterial } from '../../prompts/judge.ts'
import { taskStream } from '../../streams.ts'
import type { Bench } from '../bench.ts'
import { type EvidenceSource, resolveEvidence } from './evidence.ts'
import { agentsFileOf, changedFiles, testFiles } from './exhibits.ts'
import { timelineOf } from './timeline.ts'

/** What every judge of a panel is shown alike. */
export type PanelMaterial = Pick<JudgeMaterial, 'files' | 'tests' | 'timeline' | 'agentsFile' | 'astray'>

interface Subject {
  state: TaskState
  panel: Panel
  reports: readonly CheckReport[]
}

const beingMade = new WeakMap<EngineParts, Map<string, Promise<PanelMaterial>>>()

/** The same for all judges of a panel: those that are asked at once share one reading of the snapshots, and nothing is kept afterwards. */
export function panelMaterial(bench: Bench, subject: Subject, promptBytes: number): Promise<PanelMaterial> {
  const { spec, current } = subject.state
  const { review, attempt } = subject.panel
  const key = JSON.stringify([spec.id, review, attempt, current?.submission, current?.content?.snapshot, promptBytes])
  const shared = beingMade.get(bench.parts) ?? new Map<string, Promise<PanelMaterial>>()
  beingMade.set(bench.parts, shared)
  const material = shared.get(key) ?? makeMaterial(bench, subject, promptBytes).finally(() => shared.delete(key))
  shared.set(key, material)
  return material
}

async function makeMaterial(bench: Bench, { state, panel, reports }: Subject, promptBytes: number): Promise<PanelMaterial> {
  const { snapshots, journal } = bench.parts
  const content = state.current?.content
  if (!content) return { files: [], tests: [], timeline: [], agentsFile: undefined, astray: [] }
  return {
    files: await changedFiles(snapshots, content, promptBytes),
    tests: await testFiles(snapshots, content, state.spec.checks),
    timeline: content.paths.length === 0 ? timelineOf(await journal.readStream(taskStream(state.spec.id)), panel.attempt) : [],
    agentsFile: await agentsFileOf(snapshots, content),
    astray: await astray(bench, content, state.current?.case, reports),
  }
}

/** Where the worker's case points and nothing is found: a judge is told before it goes there. */
async function astray(
  bench: Bench,
  content: Content,
  argued: Case | undefined,
  reports: readonly CheckReport[],
): Promise<EvidenceResolution[]> {
  const pointers = [...new Set(argued?.ac_coverage.map(({ pointer }) => pointer))]
  if (pointers.length === 0) return []
  const looked = await resolveEvidence(pointers, { ...(await sourceOf(bench, content)), reports, unseenCounts: false })
  return looked.filter(({ resolved }) => !resolved)
}

/** Where evidence about a piece of work is looked up. */
export async function sourceOf({ parts }: Bench, content: Content): Promise<Omit<EvidenceSource, 'reports' | 'unseenCounts'>> {
  const { snapshots } = parts
  const manifest = await snapshots.manifest(content.snapshot as Digest)
  return { snapshots, snapshot: content.snapshot, manifest, output: content.output ?? '' }
}
