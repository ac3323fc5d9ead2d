import { randomUUID } from 'node:crypto'
import {
  isAlive,
  listPids,
  type ProcessEntry,
  type ProcessIdentity,
  pidNamespace,
  readProcess,
  signalProcess,
  startVariable,
  systemProc,
} from './identity.ts'

/** Every process of a run inherits this variable, so that those that left its group and session are still found. */
export const runVariable = 'ASSAY_RUN_ID'

/** A run before its first process is started. */
export interface Run {
  id: string
  /** What the variable holds: a run inside a run belongs to both. */
  trail: string
  /** Pids that were taken already, as far as they are known; none of them is the run's unless the numbers have gone round. */
  before: ReadonlySet<number>
  since: number
}

/** A run's first process. `start` is 0 where the system does not tell. */
export type RunRoot = Run & ProcessIdentity

/** Within this time pids cannot have gone round. */
const roundTripMs = 1_000

let answerable: string | undefined

/** What the ids of this process's runs begin with; undefined where it has opened none. */
export function ownRuns(): string | undefined {
  return answerable && `${answerable}.`
}

/**
 * Opens a run. Its id, `<pid namespace>.<pid>.<start>.<random>`, names the process that answers for it.
 * The members of a sandboxed one are looked for only when it is ended early, so that what else runs is not listed beforehand.
 */
export function openRun(sandboxed = false): Run {
  answerable ??= `${pidNamespace()}.${process.pid}.${readProcess(process.pid)?.start ?? 0}`
  const id = `${answerable}.${randomUUID()}`
  const outer = process.env[runVariable]
  return { id, trail: outer === undefined ? id : `${outer}/${id}`, before: new Set(sandboxed ? [] : listPids()), since: performance.now() }
}

/**
 * The living processes of a run: its first process with all descendants, its group and session, and whoever carries its id.
 * What leaves the group, loses its parent and clears its environment is out of sight; only a sandbox holds that.
 */
export function membersOf(root: RunRoot, proc = systemProc): ProcessIdentity[] {
  const entries = startedWithin(root, proc)
  const children = Map.groupBy(entries, (entry) => entry.parent)
  const reused = entries.some((entry) => entry.pid === root.pid && entry.start !== root.start)
  const found = new Map<number, ProcessEntry>()
  const waiting = entries.filter(
    (entry) => (!reused && [entry.pid, entry.group, entry.session].includes(root.pid)) || carries(entry.pid, root.id, proc),
  )
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    if (found.has(entry.pid)) continue
    found.set(entry.pid, entry)
    waiting.push(...(children.get(entry.pid) ?? []))
  }
  return [...found.values()].filter((entry) => !entry.zombie).map(({ pid, start }) => ({ pid, start }))
}

function startedWithin(root: RunRoot, proc: string): ProcessEntry[] {
  const recent = performance.now() - root.since < roundTripMs
  const pids = listPids(proc).filter((pid) => !recent || !root.before.has(pid))
  return pids.flatMap((pid) => readProcess(pid, proc) ?? []).filter((entry) => entry.start >= root.start)
}

function carries(pid: number, id: string, proc: string): boolean {
  return startVariable(pid, runVariable, proc)?.split('/').includes(id) ?? false
}

/**
 * Ends processes of runs whose runtime no longer lives: it was killed before it could end them. Returns how many.
 * Runs of another pid namespace are left alone, for their runtime cannot be seen from here.
 */
export function killOrphans(): number {
  const here = pidNamespace()
  const orphans = listPids().flatMap((pid) => {
    const entry = readProcess(pid)
    const trail = entry === undefined || entry.zombie ? undefined : startVariable(pid, runVariable)
    return entry !== undefined && trail?.split('/').some((id) => isOwnerless(id, here)) ? [entry] : []
  })
  for (const orphan of orphans) signalProcess(orphan, 'SIGKILL')
  return orphans.length
}

function isOwnerless(id: string, here: string): boolean {
  const [namespace, pid, start] = id.split('.')
  if (namespace !== here || here === '0') return false
  const owner = { pid: Number(pid), start: Number(start) }
  return Number.isSafeInteger(owner.pid) && owner.start > 0 && !isAlive(owner)
}
