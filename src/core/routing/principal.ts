import type { Agent, Brain, Organisation } from '../../contract/agent.ts'
import { type Digest, digestOf } from '../../contract/canonical.ts'
import { nameKey, normalText } from './look-alike.ts'

/**
 * Who an agent really is: the digest of what thinks (the brain's definition, not its name), as what (role) and told what (instructions).
 * Two agents that differ by name alone are one principal, however the difference is dressed up.
 * An agent outside the organisation is known by its name alone, and so is a brain that is not defined.
 */
export function principalOf(agentName: string, organisation: Organisation): Digest {
  const name = memberNamed(agentName, organisation)
  const agent = name === undefined ? undefined : organisation.agents[name]
  if (agent === undefined) return digestOf({ outside: nameKey(agentName) })
  const brain = brainNamed(agent.brain, organisation)
  if (brain === undefined) return principalDigest({ undefined: agent.brain }, agent)
  const before = known.get(agent)
  if (before?.brain === brain) return before.principal
  const principal = principalDigest(identityOf(brain), agent)
  known.set(agent, { brain, principal })
  return principal
}

/** Every verdict asks who its judge is, and definitions do not change once they are loaded: the answer is kept with the agent's. */
const known = new WeakMap<Agent, { brain: Brain; principal: Digest }>()

function principalDigest(brain: object, agent: Agent): Digest {
  return digestOf({ brain, role: normalText(agent.role).toLowerCase(), instructions: normalText(agent.instructions ?? '') })
}

/** The configured agent that a name means: itself, or the one that reads the same. */
export function memberNamed(name: string, organisation: Organisation): string | undefined {
  if (Object.hasOwn(organisation.agents, name)) return name
  const key = nameKey(name)
  return Object.keys(organisation.agents).find((candidate) => nameKey(candidate) === key)
}

export function brainNamed(name: string, organisation: Organisation): Brain | undefined {
  return Object.hasOwn(organisation.brains, name) ? organisation.brains[name] : undefined
}

/** What of a brain makes it somebody. Time limits and the key's variable do not: the same model thinks, behind whichever key. */
export function identityOf(brain: Brain): Record<string, unknown> {
  switch (brain.kind) {
    case 'model':
      return { kind: brain.kind, provider: brain.provider, model: modelKey(brain.model), endpoint: endpointOf(brain.baseURL) }
    case 'command':
      return {
        kind: brain.kind,
        argv: [programOf(brain.argv), ...brain.argv.slice(1)],
        cwd: plainPath(brain.cwd ?? '.'),
        env: sortedUnique(brain.env ?? []),
      }
    case 'agent':
      return { kind: brain.kind, agent: brain.agent, model: brain.model === undefined ? null : modelKey(brain.model) }
    case 'scripted':
      return { kind: brain.kind, file: plainPath(brain.file) }
    case 'outside':
      return { kind: brain.kind }
  }
}

/** Model names are compared without regard to case: no provider has two that differ only in it. */
export function modelKey(model: string): string {
  return normalText(model).toLowerCase()
}

/** The program of a command; one without a slash is looked up in PATH and stays as it is. */
export function programOf(argv: readonly string[]): string {
  const program = argv[0] ?? ''
  if (!program.includes('/')) return program
  return program.startsWith('/') ? plainPath(program) : `./${plainPath(program)}`
}

/** An API address without the differences that lead to the same place; what is no address is taken as written. */
export function endpointOf(baseURL: string | undefined): string | null {
  if (baseURL === undefined) return null
  const written = baseURL.trim()
  if (!URL.canParse(written)) return written
  const url = new URL(written)
  if (url.origin === 'null') return written
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}${url.search}`
}

/** A path without empty, `.` and resolvable `..` steps, so that two spellings of one file are one. */
export function plainPath(path: string): string {
  const steps: string[] = []
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue
    if (step === '..' && steps.length > 0 && steps.at(-1) !== '..') steps.pop()
    else steps.push(step)
  }
  return (path.startsWith('/') ? '/' : '') + steps.join('/')
}

function sortedUnique(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}
