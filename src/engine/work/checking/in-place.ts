import { resolve } from 'node:path'
import { programWords } from '../../../contract/checks/program.ts'
import type { CheckProgram } from '../../../ports/checks.ts'
import type { Bench } from '../bench.ts'
import { copyBefore, isWithin, type Neighbour } from './neighbours.ts'
import type { DueCheck } from './regressions.ts'

/** Files that checks may run where they lie, seen from the configuration's folder. */
export function runInPlace({ parts }: Bench, due: readonly DueCheck[]): string[] {
  const words = due.flatMap(({ spec }) => (spec.kind === 'command' ? programWords(spec.argv) : []))
  return [...new Set(words.map(({ path }) => resolve(parts.workspaces.config, path)))]
}

/** A folder that others work in, and a copy of it as it was before. */
export interface Beside {
  folder: string
  copy: string
  dispose(): Promise<void>
}

/** Adds the folders that programs of a check lie in. Whoever asked disposes of the copies. */
export async function besideOf(
  bench: Bench,
  programs: readonly CheckProgram[],
  neighbours: readonly Neighbour[],
  found: Beside[],
): Promise<void> {
  const { config } = bench.parts.workspaces
  const files = programs.filter(({ inBase, ofWork }) => inBase === undefined || ofWork).map(({ path }) => resolve(config, path))
  for (const neighbour of neighbours) {
    const { folder } = neighbour
    if (!files.some((file) => isWithin(folder, file))) continue
    const copy = await copyBefore(bench, neighbour)
    if (copy) found.push({ folder, copy: copy.folder, dispose: copy.dispose })
  }
}
