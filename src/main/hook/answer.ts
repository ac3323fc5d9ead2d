import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { formatProblem } from '../../contract/source/problem.ts'
import type { HookQuestion } from '../../doors/cli/app.ts'
import { findProject, type FoundProject } from '../../doors/cli/project.ts'
import type { HookCall } from '../../doors/hook/call.ts'
import { type Dialect, dialects, readCall } from '../../doors/hook/dialects.ts'
import { type HookWords, wordsFor } from '../../doors/hook/words.ts'
import type { Engine } from '../../engine/engine.ts'
import { readProject } from '../../engine/project.ts'
import { sessionUnreviewed } from '../../engine/sessions/session.ts'
import { tokenPath } from '../token-path.ts'
import { brainProblems } from '../brains.ts'
import { openEngine } from '../open-engine.ts'
import { hookTime } from './deadline.ts'
import { noteProject } from './known-projects.ts'
import { type Place, projectFolder, sessionName } from './place.ts'
import { answerCall, underWay } from './review.ts'

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

/** Why it failed, without the place of the owner's token: an agent reads it. */
function reasonOf(error: unknown): string {
  const place = tokenPath(process.env)
  const text = error instanceof Error ? error.message : String(error)
  return text.replaceAll(place, "the owner's token").replaceAll(dirname(place), "the folder of the owner's token")
}

async function wordsOf(question: HookQuestion, dialect: Dialect): Promise<HookWords> {
  const { agent, env } = question
  const call = readCall(dialect, question.input)
  // A rehearsal shows that the hook is called; there is nothing to review.
  if (env.ASSAY_HOOK_REHEARSAL === '1') return { message: 'Assay: a rehearsal: nothing was reviewed' }
  if (!call || call.event === 'unknown') return unreadable(question, dialect)
  if (call.event === 'other') return {}
  if (question.fault !== undefined) return misused(question, dialect, call, question.fault)
  const place = projectFolder(agent, dialect, call, question)
  if (place === undefined) {
    if (call.busy) return underWay
    const where = call.cwd || question.cwd
    return call.event === 'stop'
      ? wordsFor({ kind: 'unreviewed', reason: `there is no assay.yaml in ${where} or above (assay init)${nowhere}` })
      : {}
  }
  const { folder, journals } = place
  const gone = !existsSync(join(folder, 'assay.yaml'))
  if (gone) return withoutProject(question, sessionName(call), journals, `assay.yaml, under which this session began in ${folder}, is gone`)
  noteProject(env, folder)
  const found = findProject({ cwd: folder, env }, {})
  if (!found.ok) return withoutProject(question, sessionName(call), journals, found.error.map(formatProblem).join('; '))
  return contested(question, call, place, await inProject(question, call, found.value, journals))
}

/** What more than one project has on record, or may have had, is held where the one that was there first says so, and passes nowhere. */
async function contested(question: HookQuestion, call: HookCall, { folder, rivals }: Place, words: HookWords): Promise<HookWords> {
  if (rivals.length === 0 || call.event !== 'stop' || call.busy || words.block !== undefined) return words
  const reason = `nobody can tell which project judges this session: ${folder} has it on record, and so has, or may have had, ${rivals.join(' and ')}`
  for (const rival of rivals) await recordedIn(question, sessionName(call), rival, reason)
  return withoutProject(question, sessionName(call), [folder], reason)
}

/** A call that does not say what happened may have been the end of something: that nobody looked is said, and on record where there is a journal. */
function unreadable(question: HookQuestion, dialect: Dialect): Promise<HookWords> {
  const reason = `${question.agent} told the hook nothing that could be read`
  const named = dialect.folderVariable === undefined ? undefined : question.env[dialect.folderVariable]
  return withoutProject(question, 'default', journalsAbove(named ?? question.cwd), reason)
}

/** A hook whose command is wrong reviews nothing: at the end of a turn that is on record. */
async function misused(question: HookQuestion, dialect: Dialect, call: HookCall, fault: string): Promise<HookWords> {
  const reason = `the hook is called wrongly (${fault}): assay hook install puts it right`
  if (call.event !== 'stop') return wordsFor({ kind: 'unreviewed', reason })
  const { journals } = projectFolder(question.agent, dialect, call, question) ?? { journals: journalsAbove(question.cwd) }
  return withoutProject(question, sessionName(call), journals, reason)
}

async function inProject(question: HookQuestion, call: HookCall, found: FoundProject, journals: readonly string[]): Promise<HookWords> {
  const { agent, env } = question
  const who = { agent, session: sessionName(call) }
  const time = hookTime(found.project.config.hook.timeout, call.event === 'start' ? 'start' : 'stop')
  let engine: Engine | null = null
  const record = async (reason: string): Promise<HookWords> => {
    const open = engine
    if (!open) return withoutProject(question, who.session, journals, reason)
    const recorded = await open.parts.journal
      .position()
      .then(() => sessionUnreviewed(open, agent, who.session, reason))
      .then(
        () => true,
        () => false,
      )
    return wordsFor({ kind: 'unreviewed', reason: `${reason}${recorded ? '' : nowhere}` })
  }
  const answer = async (): Promise<HookWords> => {
    try {
      const problems = await brainProblems(found)
      if (problems.length > 0) throw new Error(problems.map(formatProblem).join('; '))
      engine = await openEngine({ ...found, create: true })
      if (!engine) throw new Error('.assay/ could not be made')
      return await answerCall({ engine, found, call, who, env, signal: AbortSignal.timeout(time.ending) })
    } catch (error) {
      return await record(reasonOf(error))
    } finally {
      await engine?.close()
    }
  }
  return within(time.answer, answer(), () =>
    record(`the hook did not come to an end within hook.timeout (${found.project.config.hook.timeout})`),
  )
}

/** The answer, or what is said instead when it takes too long. Then nothing that still goes on keeps the process: the agent waits for it. */
async function within(ms: number, answer: Promise<HookWords>, late: () => Promise<HookWords>): Promise<HookWords> {
  const passed = Symbol('passed')
  let timer: NodeJS.Timeout | undefined
  const first = await Promise.race([
    answer,
    new Promise<typeof passed>((resolve) => {
      timer = setTimeout(() => resolve(passed), ms)
    }),
  ])
  clearTimeout(timer)
  if (first !== passed) return first
  setTimeout(() => process.exit(0), graceMs)
  return Promise.race([late(), new Promise<HookWords>((resolve) => setTimeout(() => resolve(wordsFor(untold)), graceMs / 2))])
}

/** For the last fact to be written and the answer to be read. */
const graceMs = 500
const untold = {
  kind: 'unreviewed',
  reason: 'the hook did not come to an end within hook.timeout, and that could not be recorded',
} as const
const nowhere = ' (this is on record nowhere: no journal is open)'

/** A configuration that cannot be read reviews nothing; in the first of these folders that has a journal which opens, that is on record all the same. */
async function withoutProject(question: HookQuestion, session: string, folders: readonly string[], reason: string): Promise<HookWords> {
  for (const folder of folders) if (await recordedIn(question, session, folder, reason)) return wordsFor({ kind: 'unreviewed', reason })
  return wordsFor({ kind: 'unreviewed', reason: `${reason}${nowhere}` })
}

async function recordedIn({ agent, env }: HookQuestion, session: string, folder: string, reason: string): Promise<boolean> {
  const plain = readProject({ text: undefined, file: 'assay.yaml', env, flags: {} })
  if (!plain.ok || !existsSync(join(folder, '.assay', 'assay.db'))) return false
  let engine: Engine | null = null
  try {
    engine = await openEngine({ folder, project: plain.value, create: false })
    if (engine) await sessionUnreviewed(engine, agent, session, reason)
    return engine !== null
  } catch {
    // A journal that cannot be written is told by what is said: on record nowhere, where no other can be.
    return false
  } finally {
    await engine?.close()
  }
}

function journalsAbove(from: string): string[] {
  const found: string[] = []
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.assay', 'assay.db'))) found.push(folder)
    if (dirname(folder) === folder) return found
  }
}
