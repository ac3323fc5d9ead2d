import type { Result } from '../../../contract/errors.ts'
import type { Problem } from '../../../contract/source/problem.ts'
import { type Project, readProject } from '../../../engine/project.ts'

/** Which variable holds a provider's key where nothing else is said. */
const keyVariables: Record<string, string> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  google: 'GEMINI_API_KEY',
  'openai-compatible': 'OPENAI_API_KEY',
}

export interface JudgeFlags {
  provider?: string
  model?: string
  baseUrl?: string
  apiKeyEnv?: string
}

/** A configuration of one model judge, from flags and environment alone; or exactly what is missing. */
export function projectFromEnvironment(
  flags: JudgeFlags,
  env: NodeJS.ProcessEnv,
  knobs: Record<string, string | boolean | undefined>,
): Result<Project, Problem[]> {
  const provider = flags.provider ?? env.ASSAY_PROVIDER ?? guessedProvider(env)
  const model = flags.model ?? env.ASSAY_MODEL
  const baseURL = flags.baseUrl ?? env.ASSAY_BASE_URL
  const key = flags.apiKeyEnv ?? env.ASSAY_API_KEY_ENV ?? keyVariables[provider ?? '']
  const missing: string[] = []
  if (provider === undefined) missing.push(`a provider: --provider or ASSAY_PROVIDER (${Object.keys(keyVariables).join(', ')})`)
  else if (!(provider in keyVariables)) missing.push(`a known provider; ${provider} is none (${Object.keys(keyVariables).join(', ')})`)
  if (model === undefined) missing.push('a model: --model or ASSAY_MODEL')
  if (provider === 'openai-compatible' && baseURL === undefined) missing.push('an address: --base-url or ASSAY_BASE_URL')
  if (provider !== undefined && provider !== 'openai-compatible' && key !== undefined && !env[key]) missing.push(`the key in ${key}`)
  if (knobs['--max-cost'] !== undefined) missing.push('prices to count with, for --max-cost: only the brains of an assay.yaml have them')
  if (missing.length > 0) {
    const fix = 'or write an assay.yaml with brains and reviewers'
    return { ok: false, error: missing.map((what) => ({ file: 'no assay.yaml', path: '', message: `a review needs ${what}`, fix })) }
  }
  const brain = { kind: 'model', provider, model, ...(baseURL !== undefined && { baseURL }), ...(key !== undefined && { apiKeyEnv: key }) }
  const config = {
    version: 1,
    brains: { judge: brain },
    agents: { judge: { role: 'reviewer', brain: 'judge' } },
    review: { panel: { size: 1, quorum: 1 } },
  }
  return readProject({ text: JSON.stringify(config), file: 'flags and environment', env, flags: knobs })
}

/** The one provider whose key is set; none where there are several. */
function guessedProvider(env: NodeJS.ProcessEnv): string | undefined {
  const set = ['anthropic', 'openai', 'google'].filter((provider) => env[keyVariables[provider] ?? ''])
  return set.length === 1 ? set[0] : undefined
}
