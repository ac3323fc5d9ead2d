import type { Brain } from '../../contract/agent.ts'
import { canonicalJson } from '../../contract/canonical.ts'
import type { EligibleJudge } from '../../contract/review.ts'
import { endpointOf, identityOf, modelKey, plainPath, programOf } from './principal.ts'

type Shares = EligibleJudge['shares']

/** What two brains have in common, and its name for people. */
export interface Sharing {
  shares: Shares
  /** `the model any`, `the provider anthropic`; empty where nothing is shared. */
  what: string
}

/** Whose models a known command-line agent runs; opencode runs anybody's and stands for itself. */
const providerOfAgent = { claude: 'anthropic', codex: 'openai', gemini: 'google', opencode: 'opencode' } as const

/** Providers reached through a compatible API are still themselves. */
const providerOfHost: Record<string, string> = {
  'api.anthropic.com': 'anthropic',
  'api.openai.com': 'openai',
  'generativelanguage.googleapis.com': 'google',
}

/** How far a judge's brain is from the worker's: same model, same provider, or nothing shared. */
export function sharingOf(worker: Brain, judge: Brain): Sharing {
  if (sameModel(worker, judge)) return { shares: 'model', what: modelLabel(judge) }
  const provider = providerOf(judge)
  if (providerOf(worker) === provider) return { shares: 'provider', what: `the provider ${provider}` }
  return { shares: 'nothing', what: '' }
}

/**
 * The same definition is the same model. Beyond that, two models are one when their names agree and their providers do too;
 * `openai-compatible` says how a model is spoken to, not whose it is, so a name behind it agrees with any provider's.
 */
function sameModel(a: Brain, b: Brain): boolean {
  if (canonicalJson(identityOf(a)) === canonicalJson(identityOf(b))) return true
  const [one, other] = [modelOf(a), modelOf(b)]
  if (one === undefined || other === undefined || one.name !== other.name) return false
  return one.vendor === other.vendor || one.vendor === 'openai-compatible' || other.vendor === 'openai-compatible'
}

function modelOf(brain: Brain): { vendor: string; name: string } | undefined {
  if (brain.kind === 'model') return { vendor: brain.provider, name: modelKey(brain.model) }
  if (brain.kind === 'agent' && brain.model !== undefined) return { vendor: providerOfAgent[brain.agent], name: modelKey(brain.model) }
  return undefined
}

/** Who serves the thinking. Two compatible endpoints at different addresses are different providers. */
function providerOf(brain: Brain): string {
  switch (brain.kind) {
    case 'model': {
      if (brain.provider !== 'openai-compatible') return brain.provider
      const endpoint = endpointOf(brain.baseURL) ?? ''
      if (!URL.canParse(endpoint)) return brain.provider
      const url = new URL(endpoint)
      return providerOfHost[url.hostname] ?? `${brain.provider} at ${url.host}`
    }
    case 'agent':
      return providerOfAgent[brain.agent]
    case 'command':
      return `command ${programOf(brain.argv)}`
    case 'scripted':
      return `script ${plainPath(brain.file)}`
    case 'outside':
      return 'outside'
  }
}

function modelLabel(brain: Brain): string {
  switch (brain.kind) {
    case 'model':
      return `the model ${brain.model}`
    case 'agent':
      return brain.model === undefined ? `the model of ${brain.agent}` : `the model ${brain.model}`
    case 'command':
      return `the command ${brain.argv[0]}`
    case 'scripted':
      return `the script ${brain.file}`
    case 'outside':
      return 'whoever works outside'
  }
}
