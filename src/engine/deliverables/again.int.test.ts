import { afterEach, describe, expect, it } from 'vitest'
import { eyesOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { type BroughtDeliverable, reviewDeliverable } from './review.ts'

const stop = new AbortController().signal
const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})

/** A gate whose judge scores by what the text says, and counts what it is asked. */
function workshop(score: (title: string) => number) {
  const asked: string[] = []
  const shop = openWorkshop({
    config: {
      brains: { eyes: { kind: 'scripted', file: 'eyes.yaml' } },
      agents: { qa: { role: 'reviewer', brain: 'eyes' } },
      review: { panel: { size: 1, quorum: 1 } },
    },
    brains: {
      eyes: eyesOf(({ task: { title } }) => {
        asked.push(title)
        return `Hm.\nSCORE: ${score(title)}`
      }),
    },
  })
  open.push(shop)
  const bring = async (deliverable: string, text: string, more: Partial<BroughtDeliverable> = {}) => {
    const { snapshots } = shop.parts
    const digest = await snapshots.putBytes(Buffer.from(text))
    const snapshot = await snapshots.compose([{ path: `${deliverable}.md`, size: text.length, digest, executable: false }])
    const brought = {
      deliverable,
      kind: 'file' as const,
      title: deliverable,
      producer: 'ana',
      snapshot,
      base: await snapshots.compose([]),
      digest,
      ...more,
    }
    return reviewDeliverable(shop.engine, brought, stop)
  }
  const send = (deliverable: string, from = 'ana') =>
    shop.engine.emitCard(
      { type: 'report_ready', title: 't', body: '', priority: 'normal', metadata: { deliverableId: deliverable } },
      { from },
    )
  return { ...shop, asked, bring, send }
}

describe('a deliverable that was judged', () => {
  it('is not judged again for a better draw: neither unchanged nor under another id or file name', async () => {
    const { bring, asked } = workshop((title) => (title === 'd' ? 20 : 90))
    expect(await bring('d', 'thin')).toMatchObject({ ok: true, value: { verdict: 'NEEDS_REVISION', attempt: 1, score: { on100: 20 } } })
    expect(await bring('d', 'thin')).toMatchObject({ ok: true, value: { verdict: 'NEEDS_REVISION', attempt: 1, score: { on100: 20 } } })
    expect(await bring('e', 'thin')).toMatchObject({ ok: false, error: { message: expect.stringContaining('judged before and rejected') } })
    expect(asked).toEqual(['d'])
  })

  it('keeps the owner’s word: turned down, its card is no PASS any more, and the bytes do not come back under another id', async () => {
    const { bring, send, engine } = workshop(() => 90)
    const passed = await bring('n', 'fine')
    expect(await send('n')).toMatchObject({ ok: true, card: { flag: 'pass' } })
    const task = passed.ok ? passed.value.task : ''
    await engine.handle(task, { type: 'overrule_task', outcome: 'fail', by: 'owner', reason: 'no' }, 'owner')
    expect((await engine.inbox()).filter(({ type }) => type === 'report_ready')).toMatchObject([{ state: 'expired' }])
    expect(await send('n')).toMatchObject({ ok: false })
    expect(await bring('n-again', 'fine')).toMatchObject({ ok: false, error: { message: expect.stringContaining('rejected') } })
  })

  it('is judged again against criteria that are new, and they are not dropped in silence', async () => {
    const { bring, asked } = workshop(() => 90)
    await bring('q', 'x', { criteria: ['A'] })
    expect(await bring('q', 'x', { criteria: ['A'] })).toMatchObject({ ok: true, value: { verdict: 'PASS' } })
    expect(asked).toHaveLength(1)
    await bring('q', 'x', { criteria: ['it mentions the moon'] })
    expect(asked).toHaveLength(2)
    const shop = workshop(() => 20)
    await shop.bring('r', 'x', { criteria: ['A'] })
    expect(await shop.bring('r', 'y', { criteria: ['A', 'B'] })).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('B') },
    })
  })

  it('is refused before anything is recorded where it has no producer or title, and is nobody else’s to send', async () => {
    const { bring, send, engine } = workshop(() => 90)
    expect(await bring('w', 'x', { producer: '' })).toMatchObject({ ok: false, error: { code: 'bad_command' } })
    expect(await bring('w', 'x', { title: ' ' })).toMatchObject({ ok: false, error: { code: 'bad_command' } })
    expect(await engine.missions()).toEqual([])
    await bring('w', 'x')
    const head = await engine.parts.journal.head('deliverable/w')
    const [anothers, nobodys] = [await send('w', 'bob'), await send('v', 'bob')]
    expect(anothers).toMatchObject({ ok: false, code: 'deliverable_unknown' })
    expect(JSON.stringify(anothers).replaceAll(/\bw\b/g, 'v'), 'that it exists is not told').toBe(JSON.stringify(nobodys))
    expect(await engine.parts.journal.head('deliverable/w'), 'whoever has no part in it does not move it').toBe(head)
    const recorded = (await engine.events(0, 1000)).filter(({ type }) => type === 'release.refused').map(({ data }) => data)
    expect(recorded).toMatchObject([
      { deliverable: 'w', by: 'bob', verdict: 'PASS', bypass: false, message: "w is ana's: bob cannot hand it over" },
      { deliverable: 'v', by: 'bob', bypass: false },
    ])
    expect(await send('w', 'runtime')).toMatchObject({ ok: false, code: 'type_reserved' })
    const [last] = (await engine.events(0, 1000)).filter(({ type }) => type === 'release.refused').slice(-1)
    expect(last?.data).toMatchObject({ deliverable: 'w', by: 'runtime', code: 'type_reserved', bypass: false })
  })
})
