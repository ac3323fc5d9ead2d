import { afterEach, describe, expect, it } from 'vitest'
import { eyesOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { reviewDeliverable } from '../deliverables/review.ts'
import type { Engine } from '../engine.ts'
import { reviewOnce } from '../review/one-shot.ts'
import { sessionStarted } from '../sessions/beginning.ts'
import { reviewSession } from '../sessions/session.ts'

const stop = new AbortController().signal
const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})

function workshop() {
  const shop = openWorkshop({
    config: {
      brains: { away: { kind: 'outside' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
      agents: { dev: { role: 'engineer', brain: 'away' }, qa: { role: 'reviewer', brain: 'eyes' } },
      review: { panel: { size: 1, quorum: 1 } },
    },
    brains: { eyes: eyesOf(() => 'Hm.\nSCORE: 20') },
  })
  open.push(shop)
  return shop
}

type Shop = ReturnType<typeof workshop>

async function treeOf({ parts }: Shop, text?: string) {
  if (text === undefined) return parts.snapshots.compose([])
  const digest = await parts.snapshots.putBytes(Buffer.from(text))
  return parts.snapshots.compose([{ path: 'a.md', size: text.length, digest, executable: false }])
}

/** Each kind of work that is brought, rejected once: resolves to its task. */
const brought: Record<string, (shop: Shop) => Promise<string>> = {
  deliverable: async (shop) => {
    const [snapshot, base] = [await treeOf(shop, 'thin'), await treeOf(shop)]
    const version = { deliverable: 'd', kind: 'text' as const, title: 'd', producer: 'dev', snapshot, base, digest: snapshot }
    const reviewed = await reviewDeliverable(shop.engine, version, stop)
    return reviewed.ok ? reviewed.value.task : reviewed.error.message
  },
  session: async (shop) => {
    const [snapshot, base] = [await treeOf(shop, 'thin'), await treeOf(shop)]
    const who = { agent: 'dev', session: 's' }
    await sessionStarted(shop.engine, who, { snapshot: base })
    const began = { snapshot: base, policy: shop.parts.rules.digest, unseen: false }
    const end = await reviewSession(shop.engine, { ...who, asked: '', said: '', snapshot, began }, stop)
    return end.kind === 'blocked' ? end.task : end.kind
  },
  'one-shot review': async (shop) => {
    const [snapshot, base] = [await treeOf(shop, 'thin'), await treeOf(shop)]
    const { dimensions, threshold: bar } = shop.parts.config.review
    const task = { id: 'review', description: '', criteria: [], checks: [], dimensions, bar, author: 'dev' }
    return (await reviewOnce(shop.engine, { title: 'r', snapshot, base }, task, stop)).task
  },
}

const refused = { ok: false, error: { code: 'not_assignee', message: expect.stringContaining("nobody's to take") } }

describe('work that is brought to be reviewed', () => {
  it.each(Object.keys(brought))('is no task that a worker outside takes, holds or submits a case for: %s', async (kind) => {
    const shop = workshop()
    const task = (await brought[kind]?.(shop)) ?? ''
    const before = await shop.engine.task(task)
    expect(before).toMatchObject({ attempts: 1, decided: [{ decision: { outcome: 'reject' } }] })
    const { outside } = shop.engine
    expect(await outside.take(task, 'dev')).toMatchObject(refused)
    expect(await outside.beat(task, 'dev')).toMatchObject(refused)
    expect(await outside.submit({ task, worker: 'dev', attempt: 1, raw: '{}' })).toMatchObject(refused)
    expect(await shop.engine.task(task)).toEqual(before)
  })

  it('stays closed also where whoever brought it died between its attempt and its case', async () => {
    const shop = workshop()
    const task = (await brought.session?.(shop)) ?? ''
    const begin = { type: 'start_attempt' as const, worker: 'dev', participants: [], sandboxed: false, outside: true as const }
    expect(await shop.engine.handle(task, { ...begin, conversational: true }, 'dev')).toMatchObject({ ok: false })
    expect(await shop.engine.handle(task, { ...begin, conversational: false }, 'dev')).toMatchObject({ ok: true })
    const { outside } = shop.engine
    expect(await outside.take(task, 'dev')).toMatchObject(refused)
    expect(await outside.beat(task, 'dev')).toMatchObject(refused)
    expect(await outside.submit({ task, worker: 'dev', attempt: 2, raw: '{}' })).toMatchObject(refused)
    expect(await heartbeats(shop.engine, task)).toBe(0)
  })
})

describe('a session of a coding agent', () => {
  it('is one task, however many of its stops come at once', async () => {
    const shop = workshop()
    const tasks = await Promise.all([1, 2, 3].map(() => brought.session?.(shop)))
    expect(new Set(tasks)).toEqual(new Set(['dev-session-s-1/work']))
    expect((await shop.engine.task('dev-session-s-1/work'))?.attempts).toBe(1)
  })

  it('carries a rejection over from another one, and no more than that', async () => {
    const shop = workshop()
    const first = (await brought['one-shot review']?.(shop)) ?? ''
    const again = (await brought['one-shot review']?.(shop)) ?? ''
    const types = async (task: string) => (await shop.parts.journal.readStream(`task/${task}`)).map(({ type }) => type)
    expect(await types(first)).toContain('review.decided')
    expect(await types(again)).toContain('decision.carried')
    expect(await types(again)).not.toContain('seat.asked')
    expect(await shop.engine.task(again)).toMatchObject({ status: 'failed', ledger: [{ source: 'panel', outcome: 'reject' }] })
    // What the owner has turned to a pass rejects nobody any more.
    await shop.engine.handle(first, { type: 'overrule_task', outcome: 'pass', by: 'owner', reason: 'fine by me' }, 'owner')
    const third = (await brought['one-shot review']?.(shop)) ?? ''
    expect(await types(third)).not.toContain('decision.carried')
  })
})

async function heartbeats({ parts }: Engine, task: string): Promise<number> {
  return (await parts.journal.readStream(`task/${task}`)).filter(({ type }) => type === 'attempt.beat').length
}
