import { afterEach, describe, expect, it } from 'vitest'
import { eyesOf, handsOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'
import { taskStream } from '../streams.ts'

const config = {
  brains: {
    away: { kind: 'outside' },
    hands: { kind: 'scripted', file: 'hands.yaml' },
    eyes: { kind: 'scripted', file: 'eyes.yaml' },
  },
  agents: {
    dev: { role: 'engineer', brain: 'hands' },
    qa: { role: 'reviewer', brain: 'away' },
    qa2: { role: 'reviewer', brain: 'eyes' },
  },
  review: { panel: { size: 2, quorum: 2, mode: 'full' } },
  limits: { judgeRetries: 0 },
}
const id = 'plan-1/a'
const stop = new AbortController().signal

const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})

async function workshop(more: object = {}) {
  const shop = openWorkshop({
    config: { ...config, ...more },
    brains: { hands: handsOf(({ attempt }) => `hello ${attempt}`), eyes: eyesOf(() => 'Fine.\nSCORE: 90') },
  })
  open.push(shop)
  const spec = specWith({ id: 'plan/a', title: 'a', assignee: 'dev', mission: 'plan', criteria: [] })
  const started = await shop.engine.start({ id: 'plan', name: 'Plan', tasks: [spec] })
  if (!started.ok) throw new Error(started.error.message)
  const types = async () => (await shop.parts.journal.readStream(taskStream(id))).map(({ type }) => type)
  return { ...shop, run: () => shop.engine.run({ missions: ['plan-1'], stop }), types }
}

async function verdictOf({ engine }: Awaited<ReturnType<typeof workshop>>, review: string, accept: boolean): Promise<string> {
  const brief = await engine.outside.brief(review, 'qa', 4096)
  if (!brief.ok) throw new Error(brief.error.message)
  const { properties } = brief.value.schema as {
    properties: Record<string, { const: string; items: { properties: { name: { enum: string[] } } } }>
  }
  return JSON.stringify({
    nonce: properties.nonce?.const,
    prior: [],
    criteria: [],
    dimensions: properties.dimensions?.items.properties.name.enum.map((name) => ({ name, reasoning: 'seen', score: accept ? 4 : 1 })),
    verdict: accept ? 'accept' : 'reject',
    rejection_category: accept ? null : 'half_finished',
    concern: 'Seen.',
    evidence: [],
    next_step: accept ? null : 'Do more.',
  })
}

describe('a judge outside', () => {
  it('is waited for without spinning, and the panel decides once it has come', async () => {
    const shop = await workshop()
    const end = await shop.run()
    expect(end).toMatchObject({
      outcome: 'inconclusive',
      awaited: [{ task: id, agent: 'qa', for: 'verdict' }],
      rows: [{ status: 'in_review' }],
    })
    expect((await shop.run()).awaited).toHaveLength(1)
    const [awaited] = await shop.engine.outside.awaited('qa')
    expect(awaited).toMatchObject({ task: id, attempt: 1, because: 'opening' })
    expect(Date.parse(awaited?.until ?? '') - Date.parse(awaited?.asked ?? '')).toBe(600_000)
    expect(await shop.engine.outside.awaited('qa2')).toEqual([])
    const review = awaited?.review ?? ''
    const raw = await verdictOf(shop, review, true)
    expect(await shop.engine.outside.verdict({ review, judge: 'qa2', raw })).toMatchObject({ ok: false, error: { code: 'stale_seat' } })
    expect(await shop.engine.outside.verdict({ review: 'rubbish', judge: 'qa', raw })).toMatchObject({ ok: false })
    expect(await shop.engine.outside.verdict({ review, judge: 'qa', raw })).toEqual({ ok: true, value: { outcome: 'graded' } })
    expect(await shop.engine.outside.verdict({ review, judge: 'qa', raw })).toMatchObject({ ok: false, error: { code: 'stale_seat' } })
    expect(await shop.run()).toMatchObject({ exitCode: 0, counts: { clean: 1 }, awaited: [] })
  })

  it('that cannot be read is asked once more, then its seat is void', async () => {
    const shop = await workshop({ review: { panel: { size: 1, quorum: 1 }, maxAttempts: 1 } })
    await shop.run()
    const [first] = await shop.engine.outside.awaited('qa')
    const unread = await shop.engine.outside.verdict({ review: first?.review ?? '', judge: 'qa', raw: 'fine by me' })
    expect(unread).toMatchObject({ ok: true, value: { outcome: 'unreadable', again: expect.stringContaining('@1.1.2') } })
    const again = unread.ok && unread.value.outcome === 'unreadable' ? (unread.value.again ?? '') : ''
    const last = await shop.engine.outside.verdict({ review: again, judge: 'qa', raw: '{}' })
    expect(last.ok && last.value).not.toHaveProperty('again')
    expect((await shop.types()).filter((type) => type === 'task.eval.unparsed')).toHaveLength(2)
    expect(await shop.engine.outside.awaited('qa')).toEqual([])
  })

  it('that does not come within a sitting is unavailable; the work is held and nobody passes it', async () => {
    const shop = await workshop({ limits: { judgeRetries: 0, judgeRequest: '1ms', judgeSitting: '1ms' } })
    // A run leaves a seat that waits outside to whoever comes later: the run after the sitting's time finds that nobody came.
    const held = async () => (await shop.parts.journal.readStream(taskStream(id))).filter(({ type }) => type === 'task.held')
    for (let runs = 0; runs < 50 && (await held()).length === 0; runs += 1) await shop.run()
    expect((await held())[0]?.data).toMatchObject({ reason: 'judge_unavailable' })
    expect(await shop.types()).toContain('judge.unavailable')
    expect(await shop.types()).not.toContain('task.accepted')
  }, 60_000)
})
