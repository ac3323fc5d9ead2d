import type { Agent, Brain, Organisation } from '../../contract/agent.ts'
import type { EligibleJudge, ReviewerStanding } from '../../contract/review.ts'
import { nameKey } from './look-alike.ts'
import { isManager, isReviewerRole } from './organisation.ts'
import { brainNamed, memberNamed, principalOf } from './principal.ts'
import { type Sharing, sharingOf } from './sharing.ts'

export interface RoutingQuestion {
  organisation: Organisation
  assignee: string
  /** The manager who handed the task down. */
  delegatedBy?: string
  /** Agents other than the assignee that took part in the attempt. */
  participants: readonly string[]
  independence: 'agent' | 'model' | 'provider'
}

export type Route =
  | { kind: 'panel'; roster: EligibleJudge[]; warnings: string[]; refused: { agent: string; why: string }[] }
  /** No other agent is configured at all. */
  | { kind: 'solo' }
  /** Others exist, and none of them may judge. */
  | { kind: 'none'; refused: { agent: string; why: string }[] }

const order: readonly ReviewerStanding[] = ['delegator', 'reviewer', 'manager', 'other']

/**
 * Who may review, in the order of SPEC §2: the delegator, then reviewers, the assignee's manager, anybody else; each in the order of the configuration.
 * Nobody who had a hand in the work sits, under whatever name.
 */
export function route(question: RoutingQuestion): Route {
  const { organisation } = question
  const assignee = memberNamed(question.assignee, organisation)
  const others = Object.entries(organisation.agents).filter(([name]) => name !== assignee)
  if (others.length === 0) return { kind: 'solo' }

  const hands = handsIn(question)
  const seated: { judge: EligibleJudge; warning: string | undefined }[] = []
  const refused: { agent: string; why: string }[] = []
  for (const [name, agent] of others) {
    const found = examine(name, agent, question, hands)
    if ('why' in found) refused.push({ agent: name, why: found.why })
    else seated.push(found)
  }
  if (seated.length === 0) return { kind: 'none', refused }
  const ordered = order.flatMap((standing) => seated.filter(({ judge }) => judge.standing === standing))
  return {
    kind: 'panel',
    roster: ordered.map(({ judge }) => judge),
    warnings: [...ordered.flatMap(({ warning }) => (warning === undefined ? [] : [warning])), ...unaskedDelegator(question, refused)],
    refused,
  }
}

/** Whoever handed the task down judges it first; where that cannot be, it is said. */
function unaskedDelegator({ delegatedBy, organisation }: RoutingQuestion, refused: readonly { agent: string; why: string }[]): string[] {
  const name = delegatedBy === undefined ? undefined : memberNamed(delegatedBy, organisation)
  const found = refused.find(({ agent }) => agent === name)
  return found ? [`${found.agent}, who handed the task down, does not judge it: it ${found.why}`] : []
}

/** Everybody who had a hand in the work, by how they read and by who they are, with how they took part. */
interface Hands {
  names: Map<string, string>
  principals: Map<string, string>
}

function handsIn({ organisation, assignee, participants }: RoutingQuestion): Hands {
  const hands: Hands = { names: new Map(), principals: new Map() }
  for (const [name, part] of [[assignee, 'is the assignee'], ...participants.map((name) => [name, 'took part in the attempt'])] as [
    string,
    string,
  ][]) {
    const key = nameKey(name)
    if (!hands.names.has(key)) hands.names.set(key, part)
    const principal = principalOf(name, organisation)
    if (!hands.principals.has(principal)) hands.principals.set(principal, `is ${name} under another name, who ${part}`)
  }
  return hands
}

function examine(
  name: string,
  agent: Agent,
  question: RoutingQuestion,
  hands: Hands,
): { judge: EligibleJudge; warning: string | undefined } | { why: string } {
  const { organisation } = question
  const principal = principalOf(name, organisation)
  const hand = hands.names.get(nameKey(name)) ?? hands.principals.get(principal)
  if (hand !== undefined) return { why: hand }
  const brain = brainNamed(agent.brain, organisation)
  if (brain === undefined) return { why: `has the brain ${agent.brain}, which is not defined` }
  if (brain.kind === 'command' && !isReviewerRole(agent.role) && agent.judges !== true) {
    return { why: 'is a command without a reviewer role or judges: true' }
  }
  const standing = standingOf(name, agent, question)
  // What a manager handed down it judges, wherever it works; who is a manager is the configuration's to say, not the caller's.
  const ofOwnHands = standing === 'delegator' && isManager(name, organisation)
  if (brain.kind === 'outside' && !isReviewerRole(agent.role) && agent.judges !== true && !ofOwnHands) {
    return { why: 'works outside, without a reviewer role or judges: true' }
  }
  const worker = knownBrainOf(question.assignee, organisation)
  const sharing: Sharing = worker === undefined ? { shares: 'nothing', what: '' } : sharingOf(worker, brain)
  const tooClose = closeness(question, worker, brain, sharing)
  if (tooClose !== undefined) return { why: tooClose }
  const judge = { judge: name, principal, standing, form: formOf(brain), shares: sharing.shares }
  return {
    judge: brain.kind === 'outside' ? { ...judge, outside: true } : judge,
    warning: sharing.shares === 'nothing' ? undefined : `${name} shares ${sharing.what} with the worker ${question.assignee}`,
  }
}

/** Why a judge is not far enough from the worker. A brain that nobody knows is far from no one: the distance asked for cannot be shown. */
function closeness(
  { assignee, independence }: RoutingQuestion,
  worker: Brain | undefined,
  judge: Brain,
  { shares, what }: Sharing,
): string | undefined {
  if (independence === 'agent') return undefined
  if (judge.kind === 'outside') return `works outside: nobody knows what thinks for it (independence: ${independence})`
  if (worker === undefined)
    return `cannot be shown to be independent of ${assignee}, whose brain is not known (independence: ${independence})`
  const close = independence === 'provider' ? shares !== 'nothing' : shares === 'model'
  return close ? `shares ${what} with the worker ${assignee} (independence: ${independence})` : undefined
}

function standingOf(name: string, agent: Agent, { organisation, assignee, delegatedBy }: RoutingQuestion): ReviewerStanding {
  if (delegatedBy !== undefined && memberNamed(delegatedBy, organisation) === name) return 'delegator'
  if (isReviewerRole(agent.role)) return 'reviewer'
  const worker = memberNamed(assignee, organisation)
  const manager = worker === undefined ? undefined : organisation.agents[worker]?.reportsTo
  return manager === name ? 'manager' : 'other'
}

/** Nobody knows what thinks for a worker outside. */
function knownBrainOf(agentName: string, organisation: Organisation): Brain | undefined {
  const name = memberNamed(agentName, organisation)
  const agent = name === undefined ? undefined : organisation.agents[name]
  const brain = agent === undefined ? undefined : brainNamed(agent.brain, organisation)
  return brain?.kind === 'outside' ? undefined : brain
}

/** Models, command-line agents and whoever comes from outside answer in structure; what only prints may also answer with a score line. */
function formOf(brain: Brain): EligibleJudge['form'] {
  return brain.kind === 'model' || brain.kind === 'agent' || brain.kind === 'outside' ? 'structured' : 'text'
}
