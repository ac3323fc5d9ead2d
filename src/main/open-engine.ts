import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { createCheckRunner } from '../adapters/checks/runner.ts'
import { isAlive, pidNamespace, readProcess } from '../adapters/process/census/identity.ts'
import { killOrphans } from '../adapters/process/census/members.ts'
import { sandboxState } from '../adapters/process/sandbox.ts'
import { openNotifier } from '../adapters/notify/open.ts'
import { copiesFolder, materialise, removeStaleCopies } from '../adapters/snapshots/materialise.ts'
import { openSnapshotStore } from '../adapters/snapshots/store.ts'
import { refuseGone } from '../adapters/sqlite/file/gone.ts'
import { isWritable } from '../adapters/sqlite/file/open.ts'
import { openSqliteJournal } from '../adapters/sqlite/journal.ts'
import { openWorkspaces } from '../adapters/workspace/workspaces.ts'
import { durationMs } from '../contract/config/duration.ts'
import { formatProblem } from '../contract/source/problem.ts'
import { visible } from '../contract/source/shown.ts'
import { Engine } from '../engine/engine.ts'
import { judgingBrains, type Project, withJudgeFiles } from '../engine/project.ts'
import type { EngineParts } from '../engine/parts.ts'
import { StoreFault } from '../engine/store-fault.ts'
import { engineViews } from '../engine/views/tasks.ts'
import type { Journal } from '../ports/journal.ts'
import { tokenToEnrol } from './authority.ts'
import { tokenPath } from './token-path.ts'
import { digestsOf, watchedFiles } from './brain-files.ts'
import { openBrain } from './brains.ts'
import { processClock } from './clock.ts'
import { withSessions } from './hook/tools/session-place.ts'
import { endWorkersOnExit } from './leftovers.ts'
import { standBehindStart } from './stand-behind.ts'

/** Copies that a killed process left behind are removed after this time. */
const staleCopyMs = 24 * 3600_000

/** Puts the embedded parts together: everything lives in `.assay/` beside the configuration. Null where there is none and none is to be made. */
export async function openEngine({
  folder,
  project,
  create,
  serves = false,
}: {
  folder: string
  project: Project
  create: boolean
  /** Opened by a server. */
  serves?: boolean
}): Promise<Engine | null> {
  const home = join(folder, '.assay')
  const journal = await openHome(home, create)
  if (!journal) return null
  const { config } = project
  const { limits } = config
  const snapshots = openSnapshotStore({
    folder: join(home, 'objects'),
    maxTotalBytes: limits.snapshotBytes,
    maxFiles: limits.snapshotFiles,
  })
  const copies = copiesFolder(folder)
  const hidden = [dirname(tokenPath(process.env)), copies]
  await removeStaleCopies(copies, staleCopyMs)
  const watching = new Map(Object.entries(config.brains).map(([name, brain]) => [name, watchedFiles(brain, folder)]))
  const places = { folder: join(home, 'work'), projectRoot: folder, snapshots }
  const workspaces = withSessions(openWorkspaces(places), places)
  const enrolled = create ? tokenToEnrol(process.env) : undefined
  const engine = new Engine({
    config,
    rules: withJudgeFiles(project.rules, digestsOf(judgingBrains(config), watching, folder)),
    journal,
    snapshots,
    workspaces,
    checks: createCheckRunner({
      hidden,
      ...(config.chrome !== undefined && { chrome: config.chrome }),
      projectRoot: folder,
      timeoutMs: durationMs(limits.checkTimeout),
      maxOutputBytes: limits.outputBytes,
    }),
    openBrain: async (name) => {
      const opened = openBrain(name, folder, config, {
        privateRoot: join(home, 'private'),
        judgeRoot: copies,
        hidden,
        notice: (message) => process.stderr.write(`assay: ${visible(message)}\n`),
        watching: watching.get(name) ?? [],
      })
      if (!opened.ok) throw new Error(opened.error.map(formatProblem).join('; '))
      return opened.value
    },
    openNotifier: (channel) => openNotifier(channel, { env: process.env, stderr: process.stderr }),
    materialise: copying({ snapshots, workspaces }, folder, copies),
    fetchPage: async (url, options) => (await import('./subjects/page.ts')).fetchPage(url, options),
    clock: processClock(),
    random: { id: () => randomUUID(), nonce: () => randomBytes(16).toString('hex') },
    owner: ownName(),
    ...(telemetryWanted(process.env) && { telemetry: (await import('../adapters/telemetry/otel.ts')).openTelemetry() }),
    sandboxed: async () => (await sandboxState()).usable,
    ...(enrolled !== undefined && { ownerToken: enrolled }),
  })
  if (create) await standBehindStart(engine, serves)
  return engine
}

/** The journal of a home that is ready for work; null where there is none and none is to be made. Whoever only looks may look at what cannot be written. */
async function openHome(home: string, create: boolean): Promise<Journal | null> {
  const path = join(home, 'assay.db')
  refuseGone(home, path)
  if (!create && !existsSync(path)) return null
  const journal = await openSqliteJournal({ path, views: engineViews, looking: !create })
  endWorkersOnExit()
  if (!create && !isWritable(path)) return journal
  // Workers that a killed process left behind are ended before their work is given to anybody else.
  await journal.reclaim((owner) => isDeadOwner(owner) && killOrphans() >= 0)
  keepOutOfGit(home)
  mkdirSync(join(home, 'private'), { recursive: true, mode: 0o700 })
  return journal
}

/** Copies of snapshots for checks and judges, with what is installed for the work where that is asked for. */
function copying(
  { snapshots, workspaces }: Pick<EngineParts, 'snapshots' | 'workspaces'>,
  folder: string,
  copies: string,
): EngineParts['materialise'] {
  return async (digest, { packagesFor, withoutPackages } = {}) => {
    const shared = packagesFor && workspaces.shared(packagesFor)
    const packages = packagesFor && {
      folder: shared?.folder ?? folder,
      itself: shared !== undefined || packagesFor.workspace.kind !== 'scratch',
      ...(withoutPackages && { without: withoutPackages }),
    }
    const copy = await materialise(snapshots, digest as never, copies, packages ? { packages } : {})
    if (!copy.ok) throw new StoreFault('a copy for review could not be made', copy.problem)
    for (const path of shared?.kept ?? []) linkKept(join(shared?.folder ?? folder, path), join(copy.folder, path))
    return copy
  }
}

/** What is in no snapshot and holds programs of judges and checks is there for a copy too. */
function linkKept(target: string, place: string): void {
  if (lstatSync(place, { throwIfNoEntry: false })) return
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(target, place)
}

/** Spans cost a little even where nobody listens, so they are made where somebody set OpenTelemetry up: by its variables, or by loading its SDK. */
function telemetryWanted(env: NodeJS.ProcessEnv): boolean {
  if (env.OTEL_SDK_DISABLED === 'true') return false
  const registered = Object.getOwnPropertySymbols(globalThis).some(
    (symbol) => symbol.description?.startsWith('opentelemetry.js.api') === true,
  )
  return registered || Object.keys(env).some((name) => name.startsWith('OTEL_'))
}

/** Nobody commits the journal by accident. */
function keepOutOfGit(home: string): void {
  const file = join(home, '.gitignore')
  if (!existsSync(file)) writeFileSync(file, '*\n')
}

/** Names this process for good: host and pid namespace, pid and its start time. */
function ownName(): string {
  const start = readProcess(process.pid)?.start ?? 0
  return `${hostname()}/${pidNamespace()}/${process.pid}/${start}/${randomUUID().slice(0, 8)}`
}

/** A process of this machine that is gone for certain. Where that cannot be told, its leases run out by themselves. */
function isDeadOwner(owner: string): boolean {
  const [host, namespace, pid, start] = owner.split('/')
  if (host !== hostname() || namespace !== pidNamespace() || namespace === '0') return false
  return !isAlive({ pid: Number(pid), start: Number(start) })
}
