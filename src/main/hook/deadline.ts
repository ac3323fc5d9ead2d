import { durationMs } from '../../contract/config/duration.ts'
import { HookSettings } from '../../contract/config/hook.ts'
import { findProject } from '../../doors/cli/project.ts'
import { dialects } from '../../doors/hook/dialects.ts'

/** Agents give the hook of a session's start a minute. */
const startMs = 55_000

/** What is kept of a hook's time for its answer, and before that for a review to end in good order. */
const share = { answer: 0.05, ending: 0.1 }
const most = { answer: 1_000, ending: 5_000 }

/** Milliseconds until the hook has to answer, from the start of the process, by the configuration around a folder. */
export function leftMs(cwd: string, env: NodeJS.ProcessEnv): number {
  const named = Object.values(dialects).flatMap(({ folderVariable = '' }) => env[folderVariable] ?? [])
  const found = findProject({ cwd: named[0] ?? cwd, env }, {})
  const { timeout } = found.ok ? found.value.project.config.hook : HookSettings.parse({})
  return hookTime(timeout, 'stop').answer
}

/** When a review is to be ended, and when the hook answers whatever is still going on, in milliseconds from now. */
export function hookTime(timeout: string, event: 'start' | 'stop'): { ending: number; answer: number } {
  const all = event === 'start' ? Math.min(durationMs(timeout), startMs) : durationMs(timeout)
  const answer = all - Math.min(all * share.answer, most.answer) - performance.now()
  const ending = answer - Math.min(all * share.ending, most.ending)
  return { ending: Math.max(0, Math.floor(ending)), answer: Math.max(0, Math.floor(answer)) }
}
