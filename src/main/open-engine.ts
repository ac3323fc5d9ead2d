import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { createCheckRunner } from '../adapters/checks/runner.ts'
import { isAlive, pidNamespace, readProcess } from '../adapters/process/census/identity.ts'
import { killOrphans } from '../adapters/process/census/members.ts'
import { sandboxState } from '../adapters/process/sandbox.ts'
import { openNotifier } from '../adapters/notify/open.ts'
import { copiesFolder, materialise, removeStaleCopies } from '../adapters/snapshots/materialise.ts'
import { openSnapshotStore } from '../adapters/snapshots/store.ts'
import { openSqliteJournal } from '../adapters/sqlite/journal.ts'
import { openWorkspaces } from '../adapters/workspace/workspaces.ts'
import { durationMs } from '../contract/config/duration.ts'
import { formatProblem } from '../contract/source/problem.ts'
import { Engine } from '../engine/engine.ts'
import { judgingCommands, type Project, withJudgeFiles } from '../engine/project.ts'
import { StoreFault } from '../engine/store-fault.ts'
import { engineViews } from '../engine/views/tasks.ts'
import { tokenPath, tokenToEnrol } from './authority.ts'
import { digestsOf, watchedFiles } from './brain-files.ts'
import { openBrain } from './brains.ts'
import { endWorkersOnExit } from './leftovers.ts'

/** Copies that a killed process left behind are removed after this time. */
const staleCopyMs = 24 * 3600_000

/** Puts the embedded parts together: everything lives in `.assay/` beside the configuration. Null where there is none and none is to be made. */
export async function openEngine({
  folder,
  project,
  create,
}: {
  folder: string
  project: Project
  create: boolean
}): Promise<Engine | null> {
  const home = join(folder, '.assay')
  if (!create && !existsSync(join(home, 'assay.db'))) return null
  const { config } = project
  const { limits } = config
  const journal = await openSqliteJournal({ path: join(home, 'assay.db'), views: engineViews })
  // Workers that a killed process left behind are ended before their work is given to anybody else.
  await journal.reclaim((owner) => isDeadOwner(owner) && killOrphans() >= 0)
  endWorkersOnExit()
  const snapshots = openSnapshotStore({
    folder: join(home, 'objects'),
    maxTotalBytes: limits.snapshotBytes,
    maxFiles: limits.snapshotFiles,
  })
  keepOutOfGit(home)
  const copies = copiesFolder(folder)
  const hidden = [dirname(tokenPath(process.env)), copies]
  mkdirSync(join(home, 'private'), { recursive: true, mode: 0o700 })
  await removeStaleCopies(copies, staleCopyMs)
  const watching = new Map(Object.entries(config.brains).map(([name, brain]) => [name, watchedFiles(brain, folder)]))
  const sandbox = await sandboxState()
  const workspaces = openWorkspaces({ folder: join(home, 'work'), projectRoot: folder, snapshots })
  const enrolled = create ? tokenToEnrol(process.env) : undefined
  return new Engine({
    config,
    rules: withJudgeFiles(project.rules, digestsOf(judgingCommands(config), watching, folder)),
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
        hidden,
        notice: (message) => process.stderr.write(`assay: ${message}\n`),
        watching: watching.get(name) ?? [],
      })
      if (!opened.ok) throw new Error(opened.error.map(formatProblem).join('; '))
      return opened.value
    },
    openNotifier: (channel) => openNotifier(channel, { env: process.env, stderr: process.stderr }),
    materialise: async (digest, { packagesFor } = {}) => {
      const packagesOf = packagesFor && (workspaces.shared(packagesFor)?.folder ?? folder)
      const copy = await materialise(snapshots, digest as never, copies, packagesOf === undefined ? {} : { packagesOf })
      if (!copy.ok) throw new StoreFault('a copy for review could not be made', copy.problem)
      return copy
    },
    fetchPage: async (url, options) => (await import('./subjects/page.ts')).fetchPage(url, options),
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    random: { id: () => randomUUID(), nonce: () => randomBytes(16).toString('hex') },
    owner: ownName(),
    ...(telemetryWanted(process.env) && { telemetry: (await import('../adapters/telemetry/otel.ts')).openTelemetry() }),
    sandboxed: sandbox.usable,
    ...(enrolled !== undefined && { ownerToken: enrolled }),
  })
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
