import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Digest } from '../../contract/canonical.ts'
import type { FoundProject } from '../../doors/cli/project.ts'
import type { HookCall } from '../../doors/hook/call.ts'
import { type HookWords, wordsFor } from '../../doors/hook/words.ts'
import type { Engine } from '../../engine/engine.ts'
import {
  type Beginning,
  beginningOf,
  isKnown,
  lastReviewed,
  sessionStarted,
  sessionUnseen,
  type Who,
} from '../../engine/sessions/beginning.ts'
import {
  reviewSession,
  sessionBusy,
  type SessionEnd,
  type SessionStop,
  sessionReleased,
  stillThere,
} from '../../engine/sessions/session.ts'
import { sentBack } from '../../engine/sessions/rejected.ts'
import { type Rules, takeFolder, type TakenFolder } from './folder.ts'
import type { Ignoring } from './ignoring.ts'
import { oldFilesOf, withAcceptedJudges } from './tools/judge-files.ts'
import { type Look, lookOf } from './look.ts'
import { equipmentOf, equipTask } from './tools/session-place.ts'
import { acceptedTools, doubtedTools, toolsToHoldTo } from './tools/known.ts'
import { readTools, type Tools, toolsChanged, toolsMoment, toolsUnseen } from './tools/tools.ts'

/** A hook's call in the project that it belongs to. */
export interface Visit {
  engine: Engine
  found: FoundProject
  call: HookCall
  who: Who
  env: NodeJS.ProcessEnv
  /** Ends a review that takes too long. */
  signal: AbortSignal
}

export const underWay: HookWords = { message: 'Assay: not reviewed yet: the agent has work under way' }

export async function answerCall(visit: Visit): Promise<HookWords> {
  if (visit.call.event === 'start') return begin(visit)
  const seen = await seenNow(visit)
  const { asked, said, busy } = visit.call
  const stop: SessionStop = { ...visit.who, asked, said, snapshot: seen.taken.digest, began: seen.began }
  if (!busy) return reviewed(visit, stop, seen)
  await sessionBusy(visit.engine, stop)
  return underWay
}

/** Notes what the session begins with. A start that comes when the agent has worked already is none that was seen. */
async function begin({ engine, found, call, who }: Visit): Promise<HookWords> {
  if (await isKnown(engine, who)) return {}
  const taken = await takeFolder(engine.parts.snapshots, found.folder)
  if (call.late) {
    await unseenBeginning(engine, found, who, taken.digest)
    return {}
  }
  const ignoring = (await rulesOfRejected(engine, found, taken)) ?? taken.ignoring
  const tools = await toolsToHoldTo(engine, placeOf(engine, found), taken, ignoring)
  await sessionStarted(engine, who, { snapshot: taken.digest, tools })
  return {}
}

/**
 * The rules that counted before a session whose work was sent back and left, where some of that work does not show by the rules of now: hidden or under
 * another name, it is still to be judged.
 */
async function rulesOfRejected(engine: Engine, found: FoundProject, { isListed }: TakenFolder): Promise<Ignoring | undefined> {
  const shows = (path: string) => isListed(path) && existsSync(join(found.folder, path))
  for (const { task, paths } of await sentBack(engine)) {
    const ignoring = paths.every(shows) ? undefined : equipmentOf(workOf(found), task)?.tools.ignoring
    if (ignoring) return ignoring
  }
  return undefined
}

const placeOf = (engine: Engine, { folder, project }: FoundProject) => ({
  folder,
  config: project.config,
  snapshots: engine.parts.snapshots,
})
const workOf = ({ folder }: FoundProject): string => join(folder, '.assay', 'work')

/** What is measured against where nobody saw the beginning: what was reviewed last in this folder, or nothing; never what was committed meanwhile. */
async function unseenBeginning(engine: Engine, found: FoundProject, who: Who, now: Digest): Promise<Beginning> {
  const { snapshots } = engine.parts
  const last = await lastReviewed(engine)
  const snapshot = last?.snapshot ?? (await snapshots.compose([]))
  const tools = last && equipmentOf(workOf(found), last.task)?.tools
  return sessionUnseen(engine, who, { snapshot, ...(tools && { tools: await snapshots.putText(JSON.stringify(tools)) }) }, now)
}

interface Seen {
  taken: TakenFolder
  began: Beginning
  /** Whose rules of what is ignored count. */
  rules: Rules | undefined
}

/** The folder as it is, and as the session began. */
async function seenNow({ engine, found, who }: Visit): Promise<Seen> {
  const { snapshots } = engine.parts
  const known = await beginningOf(engine, who)
  const began = known ?? (await unseenBeginning(engine, found, who, (await takeFolder(snapshots, found.folder)).digest))
  // Where nobody knows anything of the time before, the rules of now are all there is.
  const isBlank = began.unseen && (await snapshots.manifest(began.snapshot))?.files.length === 0
  const rules = isBlank ? undefined : { ground: began.snapshot, ignoring: (await readTools(snapshots, began.tools))?.ignoring }
  return { began, rules, taken: await takeFolder(snapshots, found.folder, rules) }
}

async function reviewed(visit: Visit, said: SessionStop, { taken, began, rules }: Seen): Promise<HookWords> {
  const { engine, found, env, signal } = visit
  const { folder } = found
  const looked = { at: BigInt(Date.now()) * 1_000_000n, look: glance(folder, env, taken.hidden) }
  const place = placeOf(engine, found)
  const { equipment, doubt: doubtful } = await equipmentNow(visit, began, taken)
  const moment = await toolsMoment(place, equipment)
  const doubt = taken.unseen ?? doubtful
  const before = began.unseen ? await withAcceptedJudges(place, began.snapshot, engine.parts.rules.policy) : began.snapshot
  const stop: SessionStop = {
    ...said,
    ...(doubt !== undefined && { doubt }),
    ...(doubtful !== undefined && { doubted: await doubtedTools(place, taken) }),
    equip: (task) => equipTask(workOf(found), task, { before, tools: equipment }),
  }
  const confirmed = async (passed: SessionEnd) => {
    const now = (await takeFolder(engine.parts.snapshots, folder, rules)).digest
    const moved = (await toolsMoment(place, equipment)) !== moment
    return stillThere(engine, stop, passed, now, moved ? 'what judges or checks load changed while they ran' : undefined)
  }
  const judged = await reviewSession(engine, stop, signal)
  const end = judged.kind === 'passed' ? await confirmed(judged) : judged
  await letGo(visit, stop, end, looked, taken)
  return wordsFor(end, end.kind === 'nothing' ? [] : await oldFilesOf(place, began.snapshot, stop.snapshot))
}

/** What judges and checks of the session load, and why that cannot be trusted, if it cannot. */
async function equipmentNow({ engine, found }: Visit, began: Beginning, taken: TakenFolder): Promise<{ equipment: Tools; doubt?: string }> {
  const place = placeOf(engine, found)
  const tools = await readTools(engine.parts.snapshots, began.tools)
  const doubt = tools ? await toolsChanged(place, tools, taken) : await toolsUnseen(place, began.snapshot, taken)
  const accepted = doubt === undefined ? undefined : await acceptedTools(engine, place, tools, taken)
  const equipment = accepted ?? tools ?? { above: {}, kept: {} }
  return doubt === undefined || accepted ? { equipment } : { equipment, doubt }
}

/** A stop with nothing left to judge needs no second look while nothing changes. */
async function letGo(
  { engine, found, who, env }: Visit,
  { snapshot }: SessionStop,
  end: SessionEnd,
  { at, look }: { at: bigint; look: Look | undefined },
  { hidden, moved }: TakenFolder,
): Promise<void> {
  // A look goes by the rules of now.
  if (moved || (end.kind !== 'nothing' && end.kind !== 'passed')) return
  if (look === undefined || look.newest >= at - tick || glance(found.folder, env, hidden)?.digest !== look.digest) return
  await sessionReleased(engine, who.agent, who.session, { snapshot, look: look.digest, hidden })
}

/** Nanoseconds within which two changes of a file may bear the same time. */
const tick = 50_000_000n

/** Where the look cannot be had, the next answer takes the long way again. */
function glance(folder: string, env: NodeJS.ProcessEnv, hidden: readonly string[]): Look | undefined {
  try {
    return lookOf(folder, env, hidden)
  } catch {
    return undefined
  }
}
