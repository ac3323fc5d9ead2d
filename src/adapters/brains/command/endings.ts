import { excerpt } from '../../../contract/source/shown.ts'
import type { JudgeEnding, WorkEnding } from '../../../ports/brain.ts'
import { readPlainFile } from '../../process/files/plain-file.ts'
import type { ProcessEnding } from '../../process/process.ts'
import { findPrintedCase } from './case-block.ts'

type Ran = Exclude<ProcessEnding, { kind: 'not_started' }>

/** What a worker's turn came to. Only a turn that provably never began may be tried again. */
export async function workEnding(ending: ProcessEnding, caseFile: string, maxCaseBytes: number): Promise<WorkEnding> {
  if (ending.kind === 'not_started') {
    const failure = ending.code === 'ENOENT' ? 'not_found' : 'spawn_error'
    return { kind: 'failed', failure, detail: ending.message, output: '', beforeEffect: true }
  }
  const usage = { durationMs: ending.durationMs }
  const output = printed(ending)
  if (ending.kind === 'stopped') return { kind: 'stopped', detail: 'the turn was stopped', output }
  if (ending.kind === 'exited' && ending.code === 0) return await finished(ending, caseFile, maxCaseBytes)
  const failure = ending.kind === 'exited' ? 'exit' : ending.kind === 'timed_out' ? 'timeout' : 'signal'
  return { kind: 'failed', failure, detail: mishap(ending), output, beforeEffect: false, usage }
}

/** The case file if there is one, else the last JSON block printed, else none: then the case is built from the work. */
async function finished(ending: Ran, caseFile: string, maxCaseBytes: number): Promise<WorkEnding> {
  const { sandboxed } = ending
  const usage = { durationMs: ending.durationMs }
  const file = await readPlainFile(caseFile, maxCaseBytes)
  if ('bytes' in file) return { kind: 'finished', raw: file.bytes.toString('utf8'), output: ending.stdout, usage, sandboxed }
  if (file.code !== 'missing') {
    const unreadable = `the case file cannot be read: ${file.message}`
    return { kind: 'finished', raw: '', unreadable, output: ending.stdout, usage, sandboxed }
  }
  const found = findPrintedCase(ending.stdout, maxCaseBytes)
  return { kind: 'finished', raw: found?.raw ?? null, output: found?.rest ?? ending.stdout, usage, sandboxed }
}

/** What a judge's sitting came to. A reply that had to be cut is marked so: it could hold anything in the middle. */
export function judgeEnding(ending: ProcessEnding): JudgeEnding {
  if (ending.kind === 'not_started') return { kind: 'unavailable', detail: ending.message }
  if (ending.kind === 'stopped') return { kind: 'stopped' }
  const usage = { durationMs: ending.durationMs }
  if (ending.kind !== 'exited' || ending.code !== 0) return { kind: 'unavailable', detail: mishap(ending), usage }
  return { kind: 'reply', reply: { channel: 'text', body: ending.stdout, ...(ending.stdoutCut ? { finish: 'length' } : {}) }, usage }
}

function printed({ stdout, stderr }: Ran): string {
  return stdout === '' || stderr === '' ? stdout + stderr : `${stdout}\n--- standard error ---\n${stderr}`
}

/** How a process failed, with the last thing that it said about it. */
function mishap(ending: Exclude<Ran, { kind: 'stopped' }>): string {
  const last = ending.stderr.trim().split('\n').at(-1) ?? ''
  return last === '' ? howItEnded(ending) : `${howItEnded(ending)}: ${excerpt(last)}`
}

function howItEnded(ending: Exclude<Ran, { kind: 'stopped' }>): string {
  switch (ending.kind) {
    case 'exited':
      return `exit code ${ending.code}`
    case 'signalled':
      return `ended by ${ending.signal}`
    case 'timed_out':
      return `ended after its time limit of ${ending.timeoutMs} ms`
  }
}
