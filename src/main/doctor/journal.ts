import { existsSync } from 'node:fs'
import type { Digest } from '../../contract/canonical.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import type { DiagnoseRequest, Finding } from '../../doors/cli/doctor/finding.ts'
import { openLost, restoreQueue } from '../../engine/audit/queue/lost.ts'
import type { Engine } from '../../engine/engine.ts'
import { owedTasks, owedText } from '../../engine/mission/owed.ts'
import { pendingNotifications } from '../../engine/notify/flush.ts'
import { deadLetters } from '../../engine/notify/views.ts'
import { ownerToken } from '../authority.ts'
import { tokenPath } from '../token-path.ts'
import { openEngine } from '../open-engine.ts'

/** Tellings given up longer ago are history: whoever mended the channel since cannot mend them. */
const recentMs = 24 * 3600_000
/** Clocks of machines that share a folder differ by less. */
const skewMs = 5 * 60_000
/** Nothing of Assay is older. */
const firstDay = Date.parse('2026-01-01T00:00:00Z')

/** The journal and what hangs on it: chains, views, snapshots, tellings that were given up, and the clock that it was written by. */
export async function* journalFindings({ env, project, rebuild }: DiagnoseRequest): AsyncIterable<Finding> {
  if (!project.ok) {
    yield { id: 'journal', state: 'none', detail: 'not looked at: the configuration does not load' }
    return
  }
  let engine: Engine | null = null
  try {
    engine = await openEngine({ folder: project.value.folder, project: project.value.project, create: false })
    if (!engine) {
      yield { id: 'journal', state: 'none', detail: `there is no .assay/ in ${project.value.folder} yet`, fix: 'assay run <mission>' }
      yield clockFinding(undefined)
      return
    }
    yield await chainFinding(engine)
    yield rebuild ? await rebuiltFinding(engine) : await viewFinding(engine)
    yield* rebuild ? await requeuedFinding(engine) : []
    yield* await idleFinding(engine)
    yield* await owedFinding(engine)
    yield await snapshotFinding(engine)
    yield await tellingFinding(engine)
    yield* await strangerFinding(engine, env)
    yield clockFinding(await newest(engine))
  } catch (error) {
    if (!isStoreFault(error)) throw error
    yield { id: 'journal', state: 'bad', detail: error.message, fix: 'assay audit verify; assay reset puts it away' }
  } finally {
    await engine?.close()
  }
}

/** A store that fails is a finding, not a bug. */
function isStoreFault(error: unknown): error is Error {
  return error instanceof Error && ['JournalFault', 'UnknownEvent', 'SnapshotFault', 'StoreFault'].includes(error.name)
}

async function chainFinding({ parts }: Engine): Promise<Finding> {
  const { events, streams, breaks } = await parts.journal.verify()
  const [first] = breaks
  if (first === undefined) return { id: 'journal', state: 'ok', detail: `${events} events in ${streams} chains, none broken` }
  const more = breaks.length > 1 ? `, and ${breaks.length - 1} more` : ''
  return {
    id: 'journal',
    state: 'bad',
    detail: `broken at ${first.stream}@${first.version}: ${first.problem}${more}`,
    fix: 'assay audit verify',
  }
}

async function viewFinding({ parts }: Engine): Promise<Finding> {
  const differing = await parts.journal.compareViews()
  if (differing.length === 0) return { id: 'views', state: 'ok', detail: 'every row is what the journal comes to' }
  return { id: 'views', state: 'bad', detail: `${rowsText(differing)} from what the journal comes to`, fix: 'assay doctor --rebuild' }
}

/** Open tasks that nothing would ever happen to. */
async function idleFinding({ parts }: Engine): Promise<Finding[]> {
  const idle = (await openLost(parts.journal, parts.rules.policy)).map(({ link }) => link)
  const [first] = idle
  if (first === undefined) return []
  const more = idle.length > 1 ? `, and ${idle.length - 1} more` : ''
  return [{ id: 'work', state: 'bad', detail: `${first.stream}: ${first.problem}${more}`, fix: 'assay doctor --rebuild' }]
}

/** Endings in finished missions that nobody has shown to the owner. */
async function owedFinding({ parts }: Engine): Promise<Finding[]> {
  const tasks = await owedTasks(parts.journal)
  return tasks.length === 0 ? [] : [{ id: 'cards', state: 'bad', detail: owedText(tasks), fix: 'assay resume' }]
}

/** Work that is gone is queued again and still a fault: somebody took it out by hand. */
async function requeuedFinding({ parts }: Engine): Promise<Finding[]> {
  const again = await restoreQueue(parts.journal, parts.rules.policy, new Date(parts.clock.now()).toISOString())
  const [first] = again
  if (first === undefined) return []
  const more = again.length > 1 ? `, and ${again.length - 1} more` : ''
  return [{ id: 'work', state: 'bad', detail: `queued again; before that, ${first.stream}: ${first.problem}${more}`, fix: 'assay resume' }]
}

/** Rows that differed are put right and still a fault: somebody changed them by hand, or a fold is not what it was. */
async function rebuiltFinding({ parts }: Engine): Promise<Finding> {
  const differing = await parts.journal.rebuildViews()
  if (differing.length === 0) return { id: 'views', state: 'ok', detail: 'rebuilt from the journal, and no row differed' }
  return { id: 'views', state: 'bad', detail: `rebuilt from the journal; before that, ${rowsText(differing)}`, fix: 'assay doctor' }
}

function rowsText(rows: readonly { view: string; key: string }[]): string {
  const named = rows.slice(0, 5).map(({ view, key }) => `${view} ${key}`)
  return `${rows.length} ${rows.length === 1 ? 'row differed' : 'rows differed'} (${named.join(', ')}${rows.length > named.length ? ', …' : ''})`
}

/** Whether the store still has every snapshot that was submitted. That their bytes are right is for `audit verify` to prove. */
async function snapshotFinding(engine: Engine): Promise<Finding> {
  const named = new Set<string>()
  const page = 1000
  for (let position = 0; ; ) {
    const events = await engine.events(position, page)
    for (const { type, data } of events) {
      if (type !== 'case.submitted') continue
      const { snapshot, base } = (data as EventData<'case.submitted'>).content
      named.add(snapshot).add(base)
    }
    position = events.at(-1)?.position ?? position
    if (events.length < page) break
  }
  const missing: string[] = []
  for (const digest of named) if ((await engine.parts.snapshots.manifest(digest as Digest)) === undefined) missing.push(digest)
  if (missing.length === 0) return { id: 'snapshots', state: 'ok', detail: `${named.size} of ${named.size} that events name are there` }
  const detail = `${missing.length} of ${named.size} are gone, the first is ${missing[0]}`
  return { id: 'snapshots', state: 'bad', detail, fix: 'put .assay/objects/ back from a backup' }
}

async function tellingFinding({ parts }: Engine): Promise<Finding> {
  const letters = await deadLetters(parts.journal)
  const pending = await pendingNotifications(parts.journal)
  const waiting = `${pending} ${pending === 1 ? 'waits' : 'wait'} to be sent`
  const last = letters.toSorted((a, b) => (a.at < b.at ? 1 : -1))[0]
  if (!last && pending > 0) return { id: 'notifications', state: 'none', detail: `${waiting}; none was given up`, fix: 'assay resume' }
  if (!last) return { id: 'notifications', state: 'ok', detail: 'none waits, none was given up' }
  const recent = Date.parse(last.at) > Date.now() - recentMs
  const detail = `${letters.length} ${letters.length === 1 ? 'was' : 'were'} given up, the last on ${last.channel} at ${last.at}: ${last.detail}${pending > 0 ? `; ${waiting}` : ''}`
  return { id: 'notifications', state: recent ? 'bad' : 'none', detail, fix: `assay notify test ${last.channel}` }
}

/** Whether the journal is somebody else's: then no answer of this user counts in it. */
async function strangerFinding(engine: Engine, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  if (!existsSync(tokenPath(env)) || (await engine.isOwner(ownerToken(env)))) return []
  return [
    {
      id: 'owner',
      state: 'none',
      detail: "your token is not that of this journal's owner: answers and overrules of yours will be refused",
    },
  ]
}

async function newest({ parts }: Engine): Promise<string | undefined> {
  const position = await parts.journal.position()
  return (await parts.journal.read(Math.max(0, position - 1), 1)).at(-1)?.meta.at
}

function clockFinding(lastEvent: string | undefined): Finding {
  const now = Date.now()
  const shown = new Date(now).toISOString()
  const fix = 'set the clock, e.g. timedatectl set-ntp true'
  if (now < firstDay) return { id: 'clock', state: 'bad', detail: `it says ${shown}, which cannot be`, fix }
  if (lastEvent !== undefined && Date.parse(lastEvent) > now + skewMs)
    return { id: 'clock', state: 'bad', detail: `it says ${shown}, but the journal has an event of ${lastEvent}`, fix }
  return { id: 'clock', state: 'ok', detail: shown }
}
