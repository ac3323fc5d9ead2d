import { type Digest, textOrder } from '../../contract/canonical.ts'
import type { AssayEvent, EventData } from '../../contract/events/manifest.ts'
import type { Engine } from '../engine.ts'
import { notificationsOf } from '../notify/outbox.ts'
import { firstUse } from '../policy/owner.ts'
import { asNew } from '../task/task-store.ts'
import { type SessionTools, sessionToolsKey } from '../views/session-tools.ts'
import { groundWithRejected } from './rejected.ts'
import { sessionStream } from './stream.ts'

export interface Who {
  agent: string
  session: string
}

/** How a session began: the folder that its work is measured against, the policy in force, and what programs load beside the folder's snapshot. */
export interface Beginning {
  snapshot: Digest
  policy: string
  tools?: Digest
  /** Nobody saw it: the snapshot is the last that was reviewed before. */
  unseen: boolean
}

/** What is noted of a folder when a session begins in it. */
export interface Found {
  snapshot: Digest
  tools?: Digest
}

/** How often a fact is written anew because another writer was first. */
const maxTries = 10

/**
 * The folder and the policy as the session finds them. Only the first word counts. Work that another session was sent back for, and left, is not what
 * this one began with: it is still to be judged. The first policy that a journal sees is the one to trust, before an agent can change it.
 */
export async function sessionStarted(engine: Engine, who: Who, { snapshot, tools }: Found): Promise<void> {
  const ground = await groundWithRejected(engine, snapshot, snapshot)
  const { digest } = engine.parts.rules
  const data = { agent: who.agent, session: who.session, snapshot: ground, policy: digest, ...(tools !== undefined && { tools }) }
  for (let tries = 0; tries < maxTries; tries += 1) {
    if (await isKnown(engine, who)) return
    if (await append(engine, who, 0, { type: 'session.started', data }, true)) return
  }
  throw new Error(`other writers were first ${maxTries} times in a row`)
}

/** What is known of tools from sessions before, and what the owner accepted of them. */
export async function toolsKnown({ parts }: Engine): Promise<SessionTools> {
  return ((await parts.journal.viewRow('session_tools', sessionToolsKey)) as SessionTools | undefined) ?? {}
}

/** Whether anything is on record of a session: then it is too late for a start. */
export async function isKnown({ parts }: Engine, { agent, session }: Who): Promise<boolean> {
  return (await parts.journal.head(sessionStream(agent, session))) > 0
}

/** How the session began, as it is on record. What began it counts only as its very first word: a start that comes later was not seen. */
export async function beginningOf({ parts }: Engine, { agent, session }: Who): Promise<Beginning | undefined> {
  const facts = await parts.journal.readStream(sessionStream(agent, session))
  const starts = facts.flatMap(({ type, data }, at) => {
    if (type !== 'session.started') return []
    const start = data as EventData<'session.started'>
    return at === 0 || start.unseen ? [start] : []
  })
  const [start] = starts
  if (!start) return undefined
  const { snapshot, policy, tools, unseen = false } = start
  return { snapshot: snapshot as Digest, policy, unseen, ...(tools !== undefined && { tools: tools as Digest }) }
}

/**
 * That nobody saw the session begin is its beginning from now on, measured against `found`, with what was rejected since. `now` is the folder as it is.
 * Nobody stands behind the policy because of it.
 */
export async function sessionUnseen(engine: Engine, who: Who, { snapshot, tools }: Found, now: Digest): Promise<Beginning> {
  const ground = await groundWithRejected(engine, snapshot, now)
  const policy = engine.parts.rules.digest
  const { agent, session } = who
  const data = { agent, session, snapshot: ground, policy, unseen: true as const, ...(tools !== undefined && { tools }) }
  for (let tries = 0; tries < maxTries; tries += 1) {
    const version = await engine.parts.journal.head(sessionStream(agent, session))
    const known = await beginningOf(engine, who)
    if (known) return known
    await append(engine, who, version, { type: 'session.started', data }, false)
  }
  throw new Error(`other writers were first ${maxTries} times in a row`)
}

async function append({ parts }: Engine, who: Who, expected: number, fact: AssayEvent, trusts: boolean): Promise<boolean> {
  const at = new Date(parts.clock.now()).toISOString()
  const own = { stream: sessionStream(who.agent, who.session), expected, events: [asNew(fact)] }
  const streams = [own, ...(trusts ? await firstUse(parts) : [])]
  return (await parts.journal.append({ streams, meta: { at, actor: who.agent }, enqueue: notificationsOf(streams, at, parts.config) })).ok
}

/** The last state of the folder that a session's review came to an accepted end with, and the task that it was. */
export async function lastReviewed(engine: Engine): Promise<{ task: string; snapshot: Digest } | undefined> {
  const rows = (await engine.taskRows())
    .filter(({ id, status, flag }) => /-session-.*\/work$/.test(id) && status === 'done' && flag !== 'unreviewed')
    .sort((one, other) => textOrder(other.updated, one.updated))
  for (const { id } of rows) {
    const state = await engine.task(id)
    const snapshot = state?.contents[state.done?.content ?? '']?.snapshot
    if (snapshot !== undefined) return { task: id, snapshot: snapshot as Digest }
  }
  return undefined
}
