import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openInventory } from '../../adapters/snapshots/inventory.ts'
import type { BrainPort } from '../../ports/brain.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'
import { unqueuedTasks } from './queued.ts'
import { verifyEverything } from './verify.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, ada: { role: 'reviewer', brain: 'eyes' } },
  review: { maxAttempts: 2, panel: { size: 1 } },
}
const close = async () => undefined
const hands: BrainPort = {
  conversational: false,
  work: async ({ workspace }) => {
    writeFileSync(join(workspace, 'work.txt'), 'work\n')
    return { kind: 'finished', raw: null, output: 'done', sandboxed: false }
  },
  judge: async () => ({ kind: 'unavailable', detail: 'a worker does not judge' }),
  close,
}
const eyes: BrainPort = {
  conversational: false,
  work: async () => ({ kind: 'failed', failure: 'error', detail: 'a judge does not work', output: '', beforeEffect: false }),
  judge: async () => ({ kind: 'reply', reply: { channel: 'text', body: 'Fine.\nSCORE: 90\n' } }),
  close,
}

const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})

/** A mission of one task, which has not begun. */
async function begun() {
  const shop = openWorkshop({ config, brains: { hands, eyes } })
  open.push(shop)
  const tasks = [specWith({ id: 'plan/one', mission: 'plan', criteria: [] })]
  const started = await shop.engine.start({ id: 'plan', name: 'Plan', tasks })
  if (!started.ok) throw new Error(started.error.message)
  const { mission } = started.value
  const run = () => shop.engine.run({ missions: [mission], stop: new AbortController().signal })
  return { ...shop, id: `${mission}/one`, run }
}

describe('open tasks and the queue', () => {
  it('agree before and after a run', async () => {
    const { parts, run } = await begun()
    expect(await unqueuedTasks(parts.journal, parts.rules.policy)).toEqual([])
    expect((await run()).rows).toMatchObject([{ status: 'done', flag: 'clean' }])
    expect(await unqueuedTasks(parts.journal, parts.rules.policy)).toEqual([])
  })

  it('do not agree where the work is gone: the audit names the task, a run asks its owner, and another try queues it anew', async () => {
    const { parts, engine, run, id, folder } = await begun()
    const [lease] = await parts.journal.claim({ owner: 'thief', limit: 1, leaseMs: 1000 })
    expect(lease?.kind).toBe('run_attempt')
    expect(lease && (await parts.journal.complete(lease))).toBe(true)

    const { journal, snapshots, rules } = parts
    const inventory = openInventory(join(folder, 'objects'))
    const report = await verifyEverything({ journal, snapshots, inventory, policy: rules.policy })
    expect(report.breaks).toMatchObject([
      { stream: `task/${id}`, problem: expect.stringContaining('no work for it (run_attempt)') as string },
    ])

    expect((await run()).rows).toMatchObject([{ status: 'held', held: 'operator' }])
    const [request] = await engine.requests()
    expect(request).toMatchObject({ subject: id })
    const task = await engine.task(id)
    const asked = task?.requests[0]?.request ?? ''
    const answer = { type: 'answer_request', request: asked, answer: 'retry', by: 'owner', reason: '', nonce: 'nonce-0001' } as const
    expect(await engine.handle(id, answer, 'owner')).toMatchObject({ ok: true })
    expect((await run()).rows).toMatchObject([{ status: 'done', flag: 'clean' }])
  })

  it('leaves alone what somebody outside is to do', async () => {
    const { parts } = await begun()
    const [lease] = await parts.journal.claim({ owner: 'thief', limit: 1, leaseMs: 1000 })
    if (lease) await parts.journal.complete(lease)
    const outside = { ...parts.rules.policy, brains: { ...parts.rules.policy.brains, hands: { kind: 'outside' as const } } }
    expect(await unqueuedTasks(parts.journal, outside as never)).toEqual([])
    expect(await unqueuedTasks(parts.journal, parts.rules.policy)).toHaveLength(1)
  })
})
