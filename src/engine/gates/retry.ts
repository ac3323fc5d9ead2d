import type { Engine } from '../engine.ts'

export interface Retried {
  changed: string[]
  refused: { task: string; code: string; message: string }[]
}

/** The owner opens failed and skipped tasks again, with one more attempt each. The door has checked the authority. */
export async function retryMission(engine: Engine, mission: string, { by, reason }: { by: string; reason: string }): Promise<Retried> {
  const retried: Retried = { changed: [], refused: [] }
  const rows = await engine.taskRows(`${mission}/`)
  const wanted = rows.filter(({ status }) => status === 'failed' || status === 'skipped').map(({ id }) => id)
  const { open, shut } = await engine.retryable(wanted)
  for (const [task, message] of shut) retried.refused.push({ task, code: 'wrong_status', message })
  for (const task of open) {
    const handled = await engine.handle(task, { type: 'reopen_task', by, reason }, by)
    if (handled.ok) retried.changed.push(task)
    else retried.refused.push({ task, code: handled.error.code, message: handled.error.message })
  }
  return retried
}
