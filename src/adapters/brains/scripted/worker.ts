import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { durationMs } from '../../../contract/config/duration.ts'
import type { WorkEnding, WorkOrder } from '../../../ports/brain.ts'
import { CappedOutput } from '../../process/output.ts'
import { pause } from './pause.ts'
import type { WorkStep } from './script.ts'

/** Most bytes kept of what a scripted worker prints. */
const maxOutputBytes = 1024 * 1024

/** Plays one turn. `spoiled` tells whether the fault of the step happens this time. */
export async function playTurn(step: WorkStep, order: WorkOrder, spoiled: boolean, signal: AbortSignal): Promise<WorkEnding> {
  const fault = spoiled ? step.fault : undefined
  const usage = step.usage === undefined ? {} : { usage: step.usage }
  if (fault === 'not_found' || fault === 'spawn_error') {
    return { kind: 'failed', failure: fault, detail: `the script says so: ${fault}`, output: '', beforeEffect: true, ...usage }
  }
  const stopped: WorkEnding = { kind: 'stopped', detail: 'the turn was stopped', output: '' }
  if (step.delay !== undefined && !(await pause(durationMs(step.delay), signal))) return stopped
  if (signal.aborted) return stopped
  await changeFiles(step, order.workspace)
  const output = printed(step.print)
  if (fault === 'throw') throw new Error('the script says so: the brain throws')
  if (fault === 'hang') {
    await pause(undefined, signal)
    return { ...stopped, output }
  }
  if (fault === 'timeout')
    return { kind: 'failed', failure: 'timeout', detail: 'the script says so: out of time', output, beforeEffect: false, ...usage }
  if (fault === 'crash') return { kind: 'failed', failure: 'signal', detail: 'ended by SIGSEGV', output, beforeEffect: false, ...usage }
  if (step.exit !== undefined)
    return { kind: 'failed', failure: 'exit', detail: `exit code ${step.exit}`, output, beforeEffect: false, ...usage }
  return { kind: 'finished', raw: caseText(step, order), output, sandboxed: false, ...usage }
}

async function changeFiles(step: WorkStep, workspace: string): Promise<void> {
  for (const [path, text] of Object.entries(step.write ?? {})) await writeFile(await placeFor(path, workspace), text)
  for (const [path, text] of Object.entries(step.append ?? {})) await appendFile(await placeFor(path, workspace), text)
  for (const path of step.delete ?? []) await rm(join(workspace, path), { recursive: true, force: true })
}

async function placeFor(path: string, workspace: string): Promise<string> {
  const place = join(workspace, path)
  await mkdir(dirname(place), { recursive: true })
  return place
}

function printed(print: WorkStep['print']): string {
  if (print === undefined || typeof print === 'string') return print ?? ''
  const output = new CappedOutput(maxOutputBytes)
  const chunk = Buffer.from(print.text)
  for (let time = 0; time < print.times; time++) output.push(chunk)
  return output.text()
}

function caseText(step: WorkStep, { task, attempt }: WorkOrder): string | null {
  const words = step.case ?? 'auto'
  if (words === 'none') return null
  if (typeof words === 'object' && 'raw' in words && typeof words.raw === 'string') return words.raw
  if (typeof words === 'object' && !('auto' in words)) return JSON.stringify(words)
  const [changed] = [...Object.keys(step.write ?? {}), ...Object.keys(step.append ?? {})]
  const pointer = typeof words === 'object' ? String(words.auto) : changed === undefined ? 'output:1' : `${changed}:1`
  const summary = typeof words === 'object' && words.summary !== undefined ? words.summary : `Attempt ${attempt} at ${task.title}`
  return JSON.stringify({ summary, ac_coverage: task.criteria.map(({ id }) => ({ criterion: id, pointer })) })
}
