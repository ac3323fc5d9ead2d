import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { durationMs } from '../../contract/config/duration.ts'
import { formatProblem } from '../../contract/source/problem.ts'
import type { HookQuestion } from '../../doors/cli/app.ts'
import { findProject, type FoundProject } from '../../doors/cli/project.ts'
import type { HookCall } from '../../doors/hook/call.ts'
import { type Dialect, dialects, readCall } from '../../doors/hook/dialects.ts'
import { type HookWords, wordsFor } from '../../doors/hook/words.ts'
import type { Engine } from '../../engine/engine.ts'
import { readProject } from '../../engine/project.ts'
import {
  reviewSession,
  sessionBusy,
  type SessionEnd,
  type SessionStop,
  sessionGround,
  sessionReleased,
  sessionStarted,
  sessionUnreviewed,
  stillThere,
} from '../../engine/sessions/session.ts'
import { brainProblems } from '../brains.ts'
import { openEngine } from '../open-engine.ts'
import { protectedFiles } from '../brain-files.ts'
import { changedSinceCommit, lastCommit, takeFolder } from './folder.ts'
import { projectFolder, sessionName } from './place.ts'
import { type Look, lookOf } from './look.ts'

/**
 * Answers a coding agent's hook with the one object that the agent reads. It never fails: whatever goes wrong, the agent is let go, and that its
 * work is unreviewed is said and, where there is a journal, on record.
 */
export async function answerHook(question: HookQuestion): Promise<string> {
  // Whose dialect nobody knows may have a place for a message; most have.
  const dialect = dialects[question.agent] ?? dialects.claude
  if (!dialect) throw new Error(`no dialect of ${question.agent}`)
  const words = await wordsOf(question, dialect).catch((error: unknown) => wordsFor({ kind: 'unreviewed', reason: reasonOf(error) }))
  if (words.message !== undefined) question.say(words.message)
  return JSON.stringify(words.block === undefined ? dialect.release(words.message) : dialect.block(words.block))
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

async function wordsOf(question: HookQuestion, dialect: Dialect): Promise<HookWords> {
  const { agent, env } = question
  const call = readCall(dialect, question.input)
  // A rehearsal shows that the hook is called; there is nothing to review.
  if (env.ASSAY_HOOK_REHEARSAL === '1') return { message: 'Assay: a rehearsal: nothing was reviewed' }
  if (!call || call.event === 'unknown') return unreadable(question, dialect)
  if (call.event === 'other') return {}
  if (question.fault !== undefined) return misused(question, dialect, call, question.fault)
  const folder = projectFolder(agent, dialect, call, question)
  if (folder === undefined) {
    if (call.busy) return underWay
    const where = call.cwd || question.cwd
    return call.event === 'stop' ? wordsFor({ kind: 'unreviewed', reason: `there is no assay.yaml in ${where} or above (assay init)` }) : {}
  }
  const found = findProject({ cwd: folder, env }, {})
  if (!found.ok) return withoutProject(question, sessionName(call), folder, found.error.map(formatProblem).join('; '))
  return inProject(question, call, found.value)
}

const underWay: HookWords = { message: 'Assay: not reviewed yet: the agent has work under way' }

/** A call that does not say what happened may have been the end of something: that nobody looked is said, and on record where there is a journal. */
function unreadable(question: HookQuestion, dialect: Dialect): Promise<HookWords> {
  const reason = `${question.agent} told the hook nothing that could be read`
  const named = dialect.folderVariable === undefined ? undefined : question.env[dialect.folderVariable]
  return withoutProject(question, 'default', named ?? question.cwd, reason)
}

/** A hook whose command is wrong reviews nothing: at the end of a turn that is on record. */
async function misused(question: HookQuestion, dialect: Dialect, call: HookCall, fault: string): Promise<HookWords> {
  const reason = `the hook is called wrongly (${fault}): assay hook install puts it right`
  if (call.event !== 'stop') return wordsFor({ kind: 'unreviewed', reason })
  const folder = projectFolder(question.agent, dialect, call, question) ?? question.cwd
  return withoutProject(question, sessionName(call), folder, reason)
}

async function inProject({ agent, env }: HookQuestion, call: HookCall, found: FoundProject): Promise<HookWords> {
  const session = sessionName(call)
  let engine: Engine | null = null
  try {
    const problems = await brainProblems(found)
    if (problems.length > 0) throw new Error(problems.map(formatProblem).join('; '))
    engine = await openEngine({ ...found, create: true })
    if (!engine) throw new Error('.assay/ could not be made')
    if (call.event === 'start') {
      await sessionStarted(engine, agent, session, (await takeFolder(engine.parts.snapshots, found.folder)).digest)
      return {}
    }
    const told = { agent, session, asked: call.asked, said: call.said }
    if (!call.busy) return wordsFor(await reviewed(engine, told, found, env))
    const { base, snapshot } = await seenNow(engine, told, found.folder)
    await sessionBusy(engine, { ...told, base, snapshot })
    return underWay
  } catch (error) {
    const reason = reasonOf(error)
    await engine?.parts.journal.position().then(
      () => engine && sessionUnreviewed(engine, agent, session, reason),
      () => undefined,
    )
    return wordsFor({ kind: 'unreviewed', reason })
  } finally {
    await engine?.close()
  }
}

type Told = Pick<SessionStop, 'agent' | 'session' | 'asked' | 'said'>

async function reviewed(engine: Engine, told: Told, { folder, project }: FoundProject, env: NodeJS.ProcessEnv): Promise<SessionEnd> {
  const { agent, session } = told
  const looked = { at: BigInt(Date.now()) * 1_000_000n, look: glance(folder, env) }
  const { ground, taken, ...seen } = await seenNow(engine, told, folder)
  const [changed] = await changedSinceCommit(folder, protectedFiles(folder, project.config))
  const doubt = changed === undefined ? {} : { doubt: `nobody saw this session begin, and ${changed} is not as it was committed` }
  const stop = { ...told, ...seen, ...doubt }
  const deadline = AbortSignal.timeout(durationMs(project.config.hook.timeout))
  const found = await reviewSession(engine, stop, deadline)
  const end =
    found.kind === 'passed'
      ? await stillThere(engine, stop, found, (await takeFolder(engine.parts.snapshots, folder, ground)).digest)
      : found
  const { look } = looked
  // What git does not list, a look does not see.
  const settled = look !== undefined && !taken.hides && look.newest < looked.at - tick && glance(folder, env)?.digest === look.digest
  if (settled && (end.kind === 'nothing' || end.kind === 'passed'))
    await sessionReleased(engine, agent, session, { snapshot: stop.snapshot, look: look.digest })
  return end
}

/** The folder as it is, and as the session began or the last commit has it. */
async function seenNow(engine: Engine, { agent, session }: Told, folder: string) {
  const { snapshots } = engine.parts
  const base = await lastCommit(snapshots, folder, join(folder, '.assay', 'drafts'))
  const ground = await sessionGround(engine, agent, session, base)
  const taken = await takeFolder(snapshots, folder, ground)
  return { base, ground, taken, snapshot: taken.digest }
}

/** Nanoseconds within which two changes of a file may bear the same time. */
const tick = 50_000_000n

/** Where the look cannot be had, the next answer takes the long way again. */
function glance(folder: string, env: NodeJS.ProcessEnv): Look | undefined {
  try {
    return lookOf(folder, env)
  } catch {
    return undefined
  }
}

/** A configuration that cannot be read reviews nothing; where there is a journal, that is on record all the same. */
async function withoutProject({ agent, env }: HookQuestion, session: string, cwd: string, reason: string): Promise<HookWords> {
  const folder = journalAbove(cwd)
  const plain = readProject({ text: undefined, file: 'assay.yaml', env, flags: {} })
  if (folder !== undefined && plain.ok) {
    const engine = await openEngine({ folder, project: plain.value, create: false }).catch(() => null)
    try {
      if (engine) await sessionUnreviewed(engine, agent, session, reason)
    } finally {
      await engine?.close()
    }
  }
  return wordsFor({ kind: 'unreviewed', reason })
}

function journalAbove(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.assay', 'assay.db'))) return folder
    if (dirname(folder) === folder) return undefined
  }
}
