import { resolve } from 'node:path'
import { stringify } from 'yaml'
import { explainConfig } from '../../../contract/config/knobs/explain.ts'
import { configJsonSchema, missionJsonSchema } from '../../../contract/config/knobs/json-schema.ts'
import type { Problem } from '../../../contract/source/problem.ts'
import { formatProblem } from '../../../contract/source/problem.ts'
import { readPlan } from '../../../engine/project.ts'
import type { App, ExitCode } from '../app.ts'
import { oneLine, type Output } from '../output.ts'
import { type ConfigFlags, findProject, readText } from '../project.ts'
import { refuse } from './run.ts'

/** `assay config`: what is in force; with `--explain`, every knob. */
export async function configCommand(output: Output, flags: ConfigFlags & { explain?: boolean }): Promise<ExitCode> {
  const found = findProject(output.terminal, flags)
  if (!found.ok) return refuse(output, found.error)
  const { config, parsed } = found.value.project
  for (const notice of parsed.notices) output.note(`note: ${formatProblem(notice)}`)
  if (!flags.explain) {
    output.data(output.json ? JSON.stringify(config) : stringify(config).trimEnd())
    return 0
  }
  for (const knob of explainConfig(config, parsed.origins)) {
    if (output.json) output.jsonLine(knob)
    else output.data(explainText(output, knob))
  }
  return 0
}

function explainText(output: Output, knob: ReturnType<typeof explainConfig>[number]): string {
  const { path, type, description, ...rest } = knob as unknown as Record<string, unknown> & {
    path: string
    type: string
    description: string
  }
  const facts = Object.entries(rest)
    .filter(([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return `${output.paint('bold', path)}  (${oneLine(type)})\n    ${oneLine(description, 500)}\n    ${oneLine(facts.join('  ·  '), 500)}`
}

/** `assay config schema`. */
export async function schemaCommand(output: Output, what: string): Promise<ExitCode> {
  if (what !== 'config' && what !== 'mission') {
    output.note(`assay: there is no schema of ${oneLine(what)}; there are: config, mission`)
    return 2
  }
  output.data(JSON.stringify(what === 'config' ? configJsonSchema() : missionJsonSchema(), null, 2))
  return 0
}

/** `assay config validate [missions…]`: every problem of every file. */
export async function validateCommand(app: App, output: Output, missions: string[], flags: ConfigFlags): Promise<ExitCode> {
  const found = findProject(output.terminal, flags)
  if (!found.ok) return refuse(output, found.error)
  const problems: Problem[] = await app.problems(found.value)
  for (const mission of missions) {
    const text = readText(resolve(output.terminal.cwd, mission), mission)
    const plan = text.ok ? readPlan({ text: text.value, file: mission }, found.value.project) : text
    if (!plan.ok) problems.push(...plan.error)
  }
  if (problems.length > 0) return refuse(output, problems)
  for (const notice of found.value.project.parsed.notices) output.note(`note: ${formatProblem(notice)}`)
  const files = [found.value.file ?? 'no file: defaults', ...missions]
  output.data(output.json ? JSON.stringify({ kind: 'valid', files }) : `valid: ${files.join(', ')}`)
  return 0
}
