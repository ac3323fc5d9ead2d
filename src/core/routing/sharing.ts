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
  const workers = providersOf(worker)
  const provider = providersOf(judge).find((name) => workers.includes(name))
  if (provider === undefined) return { shares: 'nothing', what: '' }
  const at = provider.startsWith('at ') && judge.kind === 'model' ? `${judge.provider} ` : ''
  return { shares: 'provider', what: `the provider ${at}${provider}` }
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
  if (brain.kind === 'model') return { vendor: brain.provider, name: familyOf(brain.model) }
  if (brain.kind !== 'agent' || brain.model === undefined) return undefined
  return { vendor: namedProviderOf(brain) ?? providerOfAgent[brain.agent], name: familyOf(brain.model) }
}

/** A model's name without whoever serves it in front (`anthropic/claude-x`) and without the day of its edition behind (`claude-x-20260514`). */
function familyOf(model: string): string {
  const name = modelKey(model).replace(/^.*\//, '')
  return name.replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '') || name
}

/** opencode names a model with its provider in front. */
function namedProviderOf({ agent, model }: Extract<Brain, { kind: 'agent' }>): string | undefined {
  return agent === 'opencode' ? /^([^/]+)\//.exec(modelKey(model ?? ''))?.[1] : undefined
}

/**
 * Who serves the thinking, under every name: the provider that is spoken to, and the address where another one is given. Whatever answers at the same
 * address is the same provider, however it is spoken to; two compatible endpoints at different addresses are different ones.
 */
function providersOf(brain: Brain): string[] {
  switch (brain.kind) {
    case 'model': {
      const place = placeOf(brain.baseURL)
      if (brain.provider === 'openai-compatible') return [place ?? brain.provider]
      return [brain.provider, ...(place === undefined ? [] : [place])]
    }
    case 'agent': {
      const named = namedProviderOf(brain)
      return [providerOfAgent[brain.agent], ...(named === undefined ? [] : [named])]
    }
    case 'command':
      return [`command ${programOf(brain.argv)}`]
    case 'scripted':
      return [`script ${plainPath(brain.file)}`]
    case 'outside':
      return ['outside']
  }
}

/** Who is at an address: a provider that is known there, or the host and port. This machine has several names. */
function placeOf(baseURL: string | undefined): string | undefined {
  const endpoint = endpointOf(baseURL) ?? ''
  if (!URL.canParse(endpoint)) return undefined
  const url = new URL(endpoint)
  const host = url.hostname.replace(/\.$/, '')
  const here = host === 'localhost' || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host)
  return providerOfHost[host] ?? `at ${here ? '127.0.0.1' : host}${url.port === '' ? '' : `:${url.port}`}`
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
