import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findChrome } from '../../adapters/checks/browser/find-chrome.ts'
import { buildEnv } from '../../adapters/process/environment.ts'
import { findProgram } from '../../adapters/process/program.ts'
import { runProcess } from '../../adapters/process/run.ts'
import type { Terminal } from '../../doors/cli/app.ts'
import { keyVariables } from '../../doors/cli/init/choice.ts'
import { agentNames, type Survey } from '../../doors/cli/init/survey.ts'
import { findBuild } from './build.ts'

const apiFiles = ['openapi.yaml', 'openapi.yml', 'openapi.json', 'swagger.yaml', 'swagger.json']
const pageFiles = ['index.html', 'public/index.html', 'site/index.html', 'docs/index.html']
/** Names with other characters could be patterns or drives to a check. */
const documentName = /^[\p{L}\p{N}_][\p{L}\p{N}_ .-]*\.(md|txt|adoc|rst|tex)$/iu
/** Papers that most projects have, whatever they are. */
const usualPapers = /^(readme|license|licence|changelog|contributing|code_of_conduct|security|agents|claude|gemini|notice|authors)\b/i

/** Looks at a folder and at the machine, and changes neither. Programs are looked for where workers will be. */
export async function surveyPlace({ cwd, env }: Pick<Terminal, 'cwd' | 'env'>): Promise<Survey> {
  const { PATH = '' } = buildEnv({ from: env })
  const build = findBuild(cwd)
  const apiDescription = apiFiles.find((name) => existsSync(join(cwd, name)))
  return {
    agents: agentNames.filter((name) => 'file' in findProgram(name, cwd, PATH)),
    keys: keyVariables.filter((name) => (env[name] ?? '').trim() !== ''),
    git: await gitState(cwd, env),
    ...(build && { build }),
    ...(apiDescription !== undefined && { apiDescription }),
    pages: pageFiles.filter((name) => existsSync(join(cwd, name))),
    documents: readdirSync(cwd, { withFileTypes: true })
      .filter((entry) => entry.isFile() && documentName.test(entry.name) && !usualPapers.test(entry.name))
      .map(({ name }) => name)
      .sort()
      .slice(0, 20),
    chrome: 'program' in findChrome({ env }),
  }
}

/** Whether the folder lies in a git repository that has a commit to start from. */
async function gitState(cwd: string, env: NodeJS.ProcessEnv): Promise<Survey['git']> {
  const git = (args: string[]) =>
    runProcess({ argv: ['git', ...args], cwd, env: buildEnv({ from: env }), timeoutMs: 20_000, maxOutputBytes: 10_000, killGraceMs: 1_000 })
  const inside = await git(['rev-parse', '--is-inside-work-tree'])
  if (inside.kind !== 'exited' || inside.code !== 0 || inside.stdout.trim() !== 'true') return 'none'
  const head = await git(['rev-parse', '--verify', '--quiet', 'HEAD'])
  return head.kind === 'exited' && head.code === 0 ? 'ready' : 'empty'
}
