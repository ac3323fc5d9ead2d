import { resolve } from 'node:path'
import type { Brain } from '../../../contract/agent.ts'
import { visible } from '../../../contract/source/shown.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import type { JudgeEnding, JudgeQuestion } from '../../../ports/brain.ts'
import type { Bench } from '../bench.ts'
import { mendPrograms, programsChanged } from '../checking/installed.ts'
import { copyBefore, lookAround, lookAtPath, type Neighbour } from '../checking/neighbours.ts'

type Beside = NonNullable<JudgeQuestion['beside']>

/**
 * Asks a judge while other tasks may be at work in folders that it loads from. A program gets these as they were before that work. Where a worker began there
 * or touched a package while it judged, or packages are left that nobody accepted, what it says does not count: it could not be reached. Nor is a program or
 * an agent asked where a worker has changed what PATH finds.
 */
export async function amongNeighbours(
  bench: Bench,
  spec: TaskSpec,
  brain: Brain | undefined,
  ask: (beside: Beside) => Promise<JudgeEnding>,
): Promise<JudgeEnding> {
  if (brain?.kind !== 'command' && brain?.kind !== 'agent') return ask([])
  const { config } = bench.parts.workspaces
  const around =
    brain.kind === 'agent'
      ? await lookAtPath(bench, spec)
      : await lookAround(
          bench,
          spec,
          brain.argv.map((word) => resolve(config, word)),
        )
  const { changed, replaced, programs = [] } = around.packages
  const foreign = [...((await bench.parts.workspaces.meddled(spec)).programs ?? []), ...programs]
  if (foreign.length > 0) return { kind: 'unavailable', detail: `${programsChanged(foreign)}: this judge is not asked. ${mendPrograms}` }
  const others = around.neighbours.filter(({ found }) => found !== undefined)
  if (others.length === 0 && changed.length + replaced.length > 0) {
    const named = [...changed, ...replaced].slice(0, 20).map((path) => visible(path))
    return {
      kind: 'unavailable',
      detail: `work that was not accepted has changed ${named.join(', ')}: this judge is not asked. Install the same again as it was`,
    }
  }
  const copies = new Copies(bench)
  try {
    const ending = await ask(others.map((one) => ({ folder: one.folder, copy: () => copies.of(one) })))
    const moved = ending.kind === 'reply' ? await around.moved() : []
    if (moved.length === 0 || ending.kind !== 'reply') return ending
    const { usage } = ending
    return { kind: 'unavailable', detail: `while it judged: ${moved.slice(0, 20).join(', ')}`, ...(usage && { usage }) }
  } finally {
    await copies.dispose()
  }
}

/** Each is made when it is first asked for. */
class Copies {
  readonly #bench: Bench
  readonly #made = new Map<string, ReturnType<typeof copyBefore>>()

  constructor(bench: Bench) {
    this.#bench = bench
  }

  async of(neighbour: Neighbour): Promise<string> {
    const made = this.#made.get(neighbour.folder) ?? copyBefore(this.#bench, neighbour)
    this.#made.set(neighbour.folder, made)
    return (await made)?.folder ?? neighbour.folder
  }

  async dispose(): Promise<void> {
    // A copy that could not be made was reported to whoever asked for it.
    for (const one of await Promise.allSettled(this.#made.values())) if (one.status === 'fulfilled') await one.value?.dispose()
  }
}
