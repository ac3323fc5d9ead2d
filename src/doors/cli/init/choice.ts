import { type AgentName, type Survey, type TemplateName, templateNames } from './survey.ts'

/** Something chosen, and why, for people. */
export interface Chosen<T> {
  what: T
  why: string
}

export type BrainChoice = { kind: 'agent'; agent: AgentName } | { kind: 'model'; provider: string; model: string; apiKeyEnv: string }

/** Which maker stands behind an agent's or a key's models: a judge of another maker is further from the worker. */
const makers: Record<string, string> = {
  claude: 'anthropic',
  codex: 'openai',
  gemini: 'google',
  ANTHROPIC_API_KEY: 'anthropic',
  OPENAI_API_KEY: 'openai',
  GEMINI_API_KEY: 'google',
  GOOGLE_GENERATIVE_AI_API_KEY: 'google',
}

/** Variables in which a provider's key is looked for, in the order in which one is chosen. */
export const keyVariables = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']

/** A suggestion that the user may change: which models an account has is known to the provider alone, and `assay doctor --ping` asks it. */
const suggestedModels: Record<string, string> = {
  anthropic: 'claude-opus-4-5',
  openai: 'gpt-5.2',
  google: 'gemini-3-pro',
}

export function isTemplate(name: string): name is TemplateName {
  return (templateNames as readonly string[]).includes(name)
}

/** The template that fits what is there. */
export function chooseTemplate({ build, apiDescription, pages, documents }: Survey): Chosen<TemplateName> {
  if (apiDescription !== undefined) return { what: 'api', why: `${apiDescription} describes an API` }
  if (build?.serves !== undefined) return { what: 'api', why: `${build.file} depends on ${build.serves}` }
  if (build) return { what: 'code', why: `${build.file} is here` }
  const [page] = pages
  if (page !== undefined) return { what: 'landing-page', why: `${page} is here, and no code beside it` }
  const [document] = documents
  if (document !== undefined) return { what: 'document', why: `${document} is here, and no code beside it` }
  return { what: 'code', why: 'nothing here says otherwise' }
}

/** Who works: an agent that is installed, else a model whose key is there. */
export function chooseWorker({ agents, keys }: Survey, model: string | undefined): Chosen<BrainChoice> | undefined {
  const [agent] = agents
  if (agent !== undefined) return { what: { kind: 'agent', agent }, why: `${agent} is installed` }
  const [key] = keys
  return key === undefined ? undefined : { what: modelBrain(key, model), why: `${key} is set` }
}

/** Who judges: a model of another maker than the worker's where there is one, then any model, then an agent, another one first. */
export function chooseJudge(
  { agents, keys }: Survey,
  worker: BrainChoice | undefined,
  model: string | undefined,
): Chosen<BrainChoice> | undefined {
  const maker = worker && (worker.kind === 'model' ? worker.provider : makers[worker.agent])
  const key = keys.find((name) => makers[name] !== maker) ?? keys[0]
  if (key !== undefined) {
    const near = makers[key] === maker ? `; it is of the same maker as the worker, which is recorded with every verdict` : ''
    return { what: modelBrain(key, model), why: `${key} is set${near}` }
  }
  const other = agents.find((name) => worker?.kind !== 'agent' || name !== worker.agent)
  const agent = other ?? agents[0]
  if (agent === undefined) return undefined
  const why =
    other === undefined ? `no other agent or key was found: it judges in a fresh context of its own` : 'it is installed, and not the worker'
  return { what: { kind: 'agent', agent }, why }
}

function modelBrain(apiKeyEnv: string, model: string | undefined): BrainChoice {
  const provider = makers[apiKeyEnv] ?? 'openai'
  return { kind: 'model', provider, model: model ?? suggestedModels[provider] ?? '', apiKeyEnv }
}
