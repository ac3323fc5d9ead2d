import type { Command } from 'commander'
import { marked } from '../../../contract/source/shown.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { App, ExitCode } from '../app.ts'
import { oneLine, type Output } from '../output.ts'
import { findProject } from '../project.ts'
import { type Candidate, complete } from './complete.ts'
import { scripts, type Shell } from './scripts.ts'

/** A menu longer than this helps nobody. */
const mostIds = 1000

/** `assay completion <shell>`: the script that the shell reads. */
export async function completionCommand(output: Output, shell: Shell): Promise<ExitCode> {
  output.data(scripts[shell].trimEnd())
  return 0
}

/** `assay __complete <words…>`: what may come next, a line each with its description after a tab; nothing where the shell's own file names do. */
export async function candidatesCommand(app: App, output: Output, program: Command, words: readonly string[]): Promise<ExitCode> {
  const completion = complete(program, words)
  if (completion.kind === 'files') return 0
  const found = completion.kind === 'words' ? completion.words : await idsOf(app, output, completion.of)
  for (const { word, description } of found.slice(0, mostIds)) output.data(`${word}\t${oneLine(description, 80)}`)
  return 0
}

/** Ids that the journal here knows; none where there is no journal, or none that can be opened: a prompt is no place for complaints. */
async function idsOf(app: App, output: Output, of: 'task' | 'mission' | 'request'): Promise<Candidate[]> {
  const found = findProject(output.terminal, {})
  if (!found.ok) return []
  const engine = await opened(() => app.open({ folder: found.value.folder, project: found.value.project, create: false }))
  if (!engine) return []
  try {
    return (await listed[of](engine)).filter(({ word }) => word === marked(word))
  } finally {
    await engine.close()
  }
}

async function opened(open: () => Promise<Engine | null>): Promise<Engine | null> {
  try {
    return await open()
  } catch (error) {
    if ((error as Error).name === 'JournalFault') return null
    throw error
  }
}

const listed: Record<'task' | 'mission' | 'request', (engine: Engine) => Promise<Candidate[]>> = {
  task: async (engine) => (await engine.taskRows()).map(({ id, title }) => ({ word: id, description: title })),
  mission: async (engine) => (await engine.missions()).map(({ id, name }) => ({ word: id, description: name })),
  request: async (engine) => (await engine.requests()).map(({ request, title }) => ({ word: request, description: title })),
}
