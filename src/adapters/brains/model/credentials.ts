import type { Result } from '../../../contract/errors.ts'
import type { Problem } from '../../../contract/source/problem.ts'
import type { ModelBrain } from './provider.ts'

/** Where a key is looked for when the configuration names no variable. A server of one's own may well want no key. */
const usualNames = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  'openai-compatible': undefined,
}

export interface Credentials {
  key: string | undefined
  /** Something that the operator should know. */
  notice?: string
}

/** The key of a brain, or why nothing can be asked of it. No message ever quotes a value. */
export function findCredentials(
  name: string,
  brain: ModelBrain,
  env: Readonly<Record<string, string | undefined>>,
): Result<Credentials, Problem[]> {
  const address = addressProblem(brain)
  if (address !== undefined) return problem(name, 'baseURL', ...address)
  const variable = brain.apiKeyEnv ?? usualNames[brain.provider]
  const key = variable === undefined ? undefined : env[variable]?.trim()
  if (key === undefined || key === '') {
    if (brain.provider !== 'openai-compatible') {
      return problem(name, 'apiKeyEnv', `the key for ${brain.provider} is not there: ${variable} is not set`, `set ${variable}`)
    }
    const notice = variable && `brain ${name}: ${variable} is not set, so no key is sent`
    return { ok: true, value: { key: undefined, ...(notice ? { notice } : {}) } }
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    return problem(name, 'apiKeyEnv', `the value of ${variable} cannot be a key: it has characters that no header can carry`)
  }
  return { ok: true, value: { key } }
}

function addressProblem({ provider, baseURL }: ModelBrain): [message: string, fix: string] | undefined {
  if (baseURL === undefined) {
    return provider === 'openai-compatible'
      ? ['baseURL is missing', 'name the address of the server, e.g. http://127.0.0.1:8080/v1']
      : undefined
  }
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    return ['baseURL is no http(s) address', 'write e.g. http://127.0.0.1:8080/v1']
  if (url.username !== '' || url.password !== '') return ['baseURL carries a user name or a password', 'use `apiKeyEnv`']
  return undefined
}

function problem(name: string, field: string, message: string, fix?: string): Result<never, Problem[]> {
  return { ok: false, error: [{ file: 'assay.yaml', path: `brains.${name}.${field}`, message, ...(fix === undefined ? {} : { fix }) }] }
}
