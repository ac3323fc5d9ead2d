import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openInventory } from '../../../adapters/snapshots/inventory.ts'
import type { Policy } from '../../../contract/policy.ts'
import type { Journal, QueuedWork } from '../../../ports/journal.ts'
import type { BrainPort } from '../../../ports/brain.ts'
import { eyesOf } from '../../../testing/engine/brains.ts'
import { openWorkshop } from '../../../testing/engine/workshop.ts'
import { specWith } from '../../../testing/task/world.ts'
import { verifyEverything } from '../verify.ts'
import { walkJournal } from '../walk.ts'
import { Candidates, endingsLost, openLost } from './lost.ts'
import { strayWork } from './strays.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, ada: { role: 'reviewer', brain: 'eyes' } },
  review: { maxAttempts: 2, panel: { size: 1 } },
  notify: { channels: { hook: { kind: 'webhook', url: 'http://127.0.0.1:9/' } }, rules: [{ events: ['*'], channels: ['hook'] }] },
}
const hands: BrainPort = {
  conversational: false,
  work: async ({ workspace }) => {
    writeFileSync(join(workspace, 'work.txt'), 'work\n')
    return { kind: 'finished', raw: null, output: 'done', sandboxed: false }
  },
  judge: async () => ({ kind: 'unavailable', detail: 'a worker does not judge' }),
  close: async () => undefined,
}
const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})

/** A mission of a good and a bad task, each with a deliverable, run to its end. `claimed` sees everything that is queued whenever somebody claims. */
async function run({ steal, look }: { steal?: string; look?: (queued: QueuedWork[]) => Promise<void> }) {
  const eyes = eyesOf(({ task }) => (task.title === 'bad' ? 'No.\nSCORE: 20' : 'Yes.\nSCORE: 90'))
  const shop = openWorkshop({ config, brains: { hands, eyes } })
  open.push(shop)
  const { journal } = shop.parts
  const claim = journal.claim.bind(journal)
  let stolen = 0
  journal.claim = async (request) => {
    await look?.(await journal.queued())
    const leases = await claim(request)
    for (const lease of leases.filter(({ kind }) => kind === steal)) if (await journal.complete(lease)) stolen += 1
    return leases.filter(({ kind }) => kind !== steal)
  }
  const deliverable = { kind: 'file' as const, path: 'work.txt' }
  const task = (title: string, dependsOn: string[] = []) =>
    specWith({ id: `plan/${title}`, title, mission: 'plan', criteria: [], deliverable: { ...deliverable, id: title }, dependsOn })
  const tasks = [task('good'), task('bad'), task('after', ['plan/good'])]
  const started = await shop.engine.start({ id: 'plan', name: 'Plan', tasks })
  if (!started.ok) throw new Error(started.error.message)
  const end = await shop.engine.run({ missions: [started.value.mission], stop: new AbortController().signal })
  const inventory = openInventory(join(shop.folder, 'objects'))
  const report = await verifyEverything({ ...shop.parts, inventory, policy: shop.parts.rules.policy })
  return { report, end, stolen: () => stolen }
}

/** What would be queued again. */
async function lostNow(journal: Journal, policy: Policy): Promise<unknown[]> {
  const candidates = new Candidates()
  await walkJournal(journal, (event) => candidates.feed(event))
  return [...(await openLost(journal, policy)), ...(await endingsLost(journal, candidates))].map(({ link }) => link)
}

describe('queued work', () => {
  it('is explained by events at every moment of a run', { timeout: 120_000 }, async () => {
    const kinds = new Set<string>()
    const strays: unknown[] = []
    const shops = () => open.at(-1) as ReturnType<typeof openWorkshop>
    const look = async (queued: QueuedWork[]) => {
      for (const { kind } of queued) kinds.add(kind)
      const { journal, rules } = shops().parts
      strays.push(...(await strayWork(journal)), ...(await lostNow(journal, rules.policy)))
    }
    const { report, end } = await run({ look })
    expect(end.rows.map(({ status }) => status)).toEqual(['done', 'done', 'done'])
    expect([strays, report.breaks]).toEqual([[], []])
    expect([...kinds].sort()).toEqual(['ask_judge', 'hand_over', 'notify', 'run_attempt', 'run_checks', 'settle_dependents'])
  })

  it('that would have made a card, and is gone, is named with its task', { timeout: 120_000 }, async () => {
    const { report, stolen } = await run({ steal: 'hand_over' })
    expect(stolen(), 'the fault fired').toBe(3)
    expect(report.breaks.map(({ stream, problem }) => [stream, problem]).sort()).toEqual(
      ['after', 'bad', 'good'].map((title) => [`task/plan-1/${title}`, expect.stringContaining('no work for one (hand_over)')]),
    )
  })
})
