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
import { reviewSession, sessionStarted, sessionUnreviewed } from '../../engine/sessions/session.ts'
import { brainProblems } from '../brains.ts'
import { openEngine } from '../open-engine.ts'
import { lastCommit, takeFolder } from './folder.ts'

/**
 * Answers a coding agent's hook with the one object that the agent reads. It never fails: whatever goes wrong, the agent is let go, and that its
 * work is unreviewed is said and, where there is a journal, on record.
 */
export async function answerHook(question: HookQuestion): Promise<string> {
  const dialect = dialects[question.agent]
  if (!dialect) throw new Error(`no dialect of ${question.agent}`)
  const words = await wordsOf(question, dialect)
  if (words.message !== undefined) question.say(words.message)
  return JSON.stringify(words.block === undefined ? dialect.release(words.message) : dialect.block(words.block))
}

async function wordsOf(question: HookQuestion, dialect: Dialect): Promise<HookWords> {
  const call = readCall(dialect, question.input)
  if (!call) return { message: `Assay: UNREVIEWED: ${question.agent} told the hook nothing that could be read` }
  // A rehearsal shows that the hook is called; there is nothing to review.
  if (call.event === 'other' || question.env.ASSAY_HOOK_REHEARSAL === '1') return {}
  if (call.busy) return { message: 'Assay: not reviewed yet: the agent has work under way' }
  const cwd = call.cwd || question.cwd
  const found = findProject({ cwd, env: question.env }, {})
  if (!found.ok) return withoutProject(question, call, cwd, found.error.map(formatProblem).join('; '))
  if (found.value.file === null)
    return call.event === 'stop' ? { message: 'Assay: nothing is reviewed here: there is no assay.yaml (assay init)' } : {}
  return inProject(question, call, found.value)
}

async function inProject({ agent }: HookQuestion, call: HookCall, found: FoundProject): Promise<HookWords> {
  const session = call.session || 'default'
  let engine: Engine | null = null
  try {
    const problems = await brainProblems(found)
    if (problems.length > 0) throw new Error(problems.map(formatProblem).join('; '))
    engine = await openEngine({ ...found, create: true })
    if (!engine) throw new Error('.assay/ could not be made')
    const { snapshots } = engine.parts
    const snapshot = await takeFolder(snapshots, found.folder)
    if (call.event === 'start') {
      await sessionStarted(engine, agent, session, snapshot)
      return {}
    }
    const base = await lastCommit(snapshots, found.folder, join(found.folder, '.assay', 'drafts'))
    const { asked, said } = call
    const deadline = AbortSignal.timeout(durationMs(found.project.config.hook.timeout))
    return wordsFor(await reviewSession(engine, { agent, session, asked, said, snapshot, base }, deadline))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    await engine?.parts.journal.position().then(
      () => engine && sessionUnreviewed(engine, agent, session, reason),
      () => undefined,
    )
    return wordsFor({ kind: 'unreviewed', reason })
  } finally {
    await engine?.close()
  }
}

/** A configuration that cannot be read reviews nothing; where there is a journal, that is on record all the same. */
async function withoutProject({ agent, env }: HookQuestion, call: HookCall, cwd: string, reason: string): Promise<HookWords> {
  const folder = journalAbove(cwd)
  const plain = readProject({ text: undefined, file: 'assay.yaml', env, flags: {} })
  if (folder !== undefined && plain.ok) {
    const engine = await openEngine({ folder, project: plain.value, create: false }).catch(() => null)
    try {
      if (engine) await sessionUnreviewed(engine, agent, call.session || 'default', reason)
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
