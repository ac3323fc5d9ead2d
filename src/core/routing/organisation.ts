import type { Organisation } from '../../contract/agent.ts'
import { excerpt } from '../verdict/excerpt.ts'
import { nameKey } from './look-alike.ts'

/** One thing wrong with an organisation; `path` leads to the offending value. */
export interface OrganisationProblem {
  path: (string | number)[]
  message: string
}

/** Actors that the journal names beside agents; an agent called so could not be told from them. */
const reservedNames = ['owner', 'runtime']

/** Everything that makes an organisation unusable, in the order of its agents. Empty means that it may be loaded. */
export function organisationProblems(organisation: Organisation): OrganisationProblem[] {
  return [...memberProblems(organisation), ...nameProblems(organisation), ...cycleProblems(organisation)]
}

/** Whether a role makes its holder a reviewer: one of four words, whole, in any ASCII case. */
export function isReviewerRole(role: string): boolean {
  const plain = role.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  return /(?<![\p{L}\p{M}\p{N}])(?:reviewer|qa|evaluator|judge)(?![\p{L}\p{M}\p{N}])/u.test(plain)
}

/** Whether anybody reports to an agent. */
export function isManager(name: string, { agents }: Pick<Organisation, 'agents'>): boolean {
  return Object.values(agents).some(({ reportsTo }) => reportsTo === name)
}

function memberProblems({ agents, brains }: Organisation): OrganisationProblem[] {
  const problems: OrganisationProblem[] = []
  for (const [name, agent] of Object.entries(agents)) {
    if (!Object.hasOwn(brains, agent.brain)) {
      problems.push({
        path: ['agents', name, 'brain'],
        message: `${quoted(name)} has the brain ${quoted(agent.brain)}, which is not defined under brains`,
      })
    }
    if (agent.reportsTo === name) {
      problems.push({ path: ['agents', name, 'reportsTo'], message: `${quoted(name)} reports to itself` })
    } else if (agent.reportsTo !== undefined && !Object.hasOwn(agents, agent.reportsTo)) {
      problems.push({
        path: ['agents', name, 'reportsTo'],
        message: `${quoted(name)} reports to ${quoted(agent.reportsTo)}, who is not an agent`,
      })
    }
    if (isReviewerRole(agent.role) && (agent.skills ?? []).length > 0) {
      problems.push({
        path: ['agents', name, 'skills'],
        message: `${quoted(name)} has a reviewer's role (${quoted(agent.role)}) and skills: a reviewer loads none`,
      })
    }
  }
  return problems
}

/** Names are identities: two that read alike would let one agent pass for another. */
function nameProblems({ agents }: Organisation): OrganisationProblem[] {
  const problems: OrganisationProblem[] = []
  const firstWith = new Map<string, string>()
  for (const name of Object.keys(agents)) {
    const key = nameKey(name)
    const earlier = firstWith.get(key)
    if (key === '') problems.push({ path: ['agents', name], message: `${quoted(name)} is not a name that anybody can see` })
    else if (reservedNames.includes(key)) problems.push({ path: ['agents', name], message: `${quoted(name)} is reserved for the ${key}` })
    else if (earlier !== undefined)
      problems.push({ path: ['agents', name], message: `${quoted(name)} and ${quoted(earlier)} read as the same name` })
    else firstWith.set(key, name)
  }
  return problems
}

/** Every cycle of two or more, once, named from the agent that comes first in the configuration. */
function cycleProblems({ agents }: Organisation): OrganisationProblem[] {
  const problems: OrganisationProblem[] = []
  const settled = new Set<string>()
  for (const start of Object.keys(agents)) {
    const way = new Set<string>()
    let name: string | undefined = start
    while (name !== undefined && !settled.has(name) && !way.has(name)) {
      way.add(name)
      name = agents[name]?.reportsTo
    }
    if (name !== undefined && way.has(name)) {
      const cycle = [...way].slice([...way].indexOf(name))
      if (cycle.length > 1) problems.push(cycleProblem(rotated(cycle, Object.keys(agents))))
    }
    for (const passed of way) settled.add(passed)
  }
  return problems
}

/** The same cycle reads the same wherever the search entered it. */
function rotated(cycle: string[], order: string[]): string[] {
  const first = order.find((name) => cycle.includes(name)) ?? ''
  const at = cycle.indexOf(first)
  return [...cycle.slice(at), ...cycle.slice(0, at)]
}

function cycleProblem(cycle: string[]): OrganisationProblem {
  const [first = ''] = cycle
  return { path: ['agents', first, 'reportsTo'], message: `agents report to each other in a circle: ${[...cycle, first].join(' → ')}` }
}

/** With every character visible: names that differ in one that is not are exactly what some problems are about. */
function quoted(name: string): string {
  return excerpt(name, 80)
}
