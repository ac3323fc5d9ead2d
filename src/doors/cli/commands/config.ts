import { resolve } from 'node:path'
import { stringify } from 'yaml'
import { defaultWords, explainConfig, inline, otherNames, typeWords } from '../../../contract/config/knobs/explain.ts'
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
  const names = otherNames(knob)
  const { origin, value } = knob
  const facts = [
    ...(knob.section ? [] : [`default ${defaultWords(knob)}`]),
    ...(origin && origin.source !== 'default' ? [`now ${inline(value)} (${origin.name ?? origin.source})`] : []),
    ...(names.length > 0 ? [`also ${names.join(', ')}`] : []),
  ]
  const lines = [`${output.paint('bold', knob.path)}  (${oneLine(typeWords(knob))})`, `    ${oneLine(knob.description ?? '', 500)}`]
  return [...lines, ...(facts.length > 0 ? [`    ${oneLine(facts.join('  ·  '), 500)}`] : [])].join('\n')
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
