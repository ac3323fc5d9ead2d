import { statSync } from 'node:fs'
import { formatProblem } from '../../contract/source/problem.ts'
import type { DiagnoseRequest, Finding } from '../../doors/cli/doctor/finding.ts'
import { keyVariables } from '../../doors/cli/init/choice.ts'
import { tokenPath } from '../token-path.ts'
import { brainProblems } from '../brains.ts'

/** Past this many, problems are counted and no longer listed. */
const mostProblems = 20

/** Whether the configuration loads; every problem is a line. */
export function* configurationFindings(project: DiagnoseRequest['project']): Iterable<Finding> {
  if (!project.ok) {
    for (const { fix, ...problem } of project.error.slice(0, mostProblems))
      yield { id: 'configuration', state: 'bad', detail: formatProblem(problem), ...(fix !== undefined && { fix }) }
    if (project.error.length > mostProblems)
      yield {
        id: 'configuration',
        state: 'bad',
        detail: `and ${project.error.length - mostProblems} more problems`,
        fix: 'assay config validate',
      }
    return
  }
  const { file } = project.value
  if (file === null)
    yield { id: 'configuration', state: 'none', detail: 'no assay.yaml here or above: defaults are in force', fix: 'assay init' }
  else yield { id: 'configuration', state: 'ok', detail: `${file} loads` }
  for (const notice of project.value.project.parsed.notices) yield { id: 'configuration', state: 'none', detail: formatProblem(notice) }
}

/** Keys by the names of their variables, never by anything of their value; and whatever else a configured brain lacks. */
export function* keyFindings({ env, project }: DiagnoseRequest): Iterable<Finding> {
  const brains = project.ok ? Object.values(project.value.project.config.brains) : []
  const named = brains.flatMap((brain) => (brain.kind === 'model' && brain.apiKeyEnv !== undefined ? [brain.apiKeyEnv] : []))
  const known = [...new Set([...named, ...keyVariables])]
  const set = known.filter((name) => (env[name] ?? '') !== '')
  const detail = set.length === 0 ? `none is set (${known.join(', ')})` : `set: ${set.join(', ')}`
  yield { id: 'keys', state: set.length === 0 ? 'none' : 'ok', detail }
  if (!project.ok) return
  const problems = brainProblems(project.value)
  for (const { fix, path, message } of problems)
    yield { id: 'brains', state: 'bad', detail: `${path}: ${message}`, ...(fix !== undefined && { fix }) }
  const count = Object.keys(project.value.project.config.agents).length
  if (problems.length === 0 && count > 0)
    yield { id: 'brains', state: 'ok', detail: `those of ${count} ${count === 1 ? 'agent' : 'agents'} can be opened` }
}

/** The owner's token: for the owner's eyes alone. */
export function tokenFinding(env: NodeJS.ProcessEnv): Finding {
  const path = tokenPath(env)
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return { id: 'owner', state: 'none', detail: `there is no token yet: it is made in ${path} on first use` }
  const mode = stat.mode & 0o777
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    return { id: 'owner', state: 'bad', detail: `others may read the token (mode ${mode.toString(8)})`, fix: `chmod 600 ${path}` }
  return { id: 'owner', state: 'ok', detail: `the token in ${path} is yours alone` }
}
