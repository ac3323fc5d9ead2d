import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSigner } from '../../../adapters/signing/key.ts'
import { stageMission } from '../../../testing/engine/gated-mission.ts'
import { attestDeliverable, attestTask } from '../../audit/attest.ts'
import { handCard } from '../export.ts'
import { deliverableStanding } from '../look.ts'

const timeout = 120_000
const text = (id: string) => ({ kind: 'text' as const, id })

/** `c` rests on `b`, which rests on `a`; each hands over what it printed. */
async function threeReports() {
  const scene = await stageMission({
    tasks: {
      a: { deliverable: text('da') },
      b: { dependsOn: ['a'], deliverable: text('db') },
      c: { dependsOn: ['b'], deliverable: text('dc') },
      other: { deliverable: text('do') },
    },
  })
  await scene.run()
  const cardOf = async (id: string) => {
    const [card] = (await scene.engine.inbox()).filter(({ deliverable }) => deliverable === id)
    if (!card) throw new Error(`${id} has no card`)
    return card
  }
  const states = async () => {
    const found: Record<string, string> = {}
    for (const id of ['da', 'db', 'dc', 'do']) found[id] = (await cardOf(id)).state
    return found
  }
  const say = (title: string, outcome: 'pass' | 'fail') =>
    scene.engine.handle(`plan-1/${title}`, { type: 'overrule_task', outcome, by: 'owner', reason: 'because' }, 'owner')
  /** Opens `a` and tells nobody: as far behind as nothing is told at once, or by rows that somebody deleted. */
  const openSilently = async () => {
    const { journal } = scene.parts
    const stream = 'task/plan-1/a'
    const events = [{ type: 'task.reopened', v: 1, data: { by: 'owner', reason: 'because' } }]
    const meta = { at: new Date().toISOString(), actor: 'owner' }
    return journal.append({ streams: [{ stream, expected: await journal.head(stream), events }], meta })
  }
  return { ...scene, cardOf, states, say, openSilently }
}

const standing = { da: 'pending', db: 'pending', dc: 'pending', do: 'pending' }

describe('a card whose work rests on something that was taken back', () => {
  it('counts for nothing from that moment, however far down, though nobody was told; and counts again where that lands as it was', {
    timeout,
  }, async () => {
    const { engine, openSilently, cardOf, states, say, parts } = await threeReports()
    expect(await states()).toEqual(standing)
    const before = { b: await cardOf('db'), c: await cardOf('dc') }
    expect(await openSilently()).toMatchObject({ ok: true })
    expect((await engine.task('plan-1/b'))?.status, 'it was not told').toBe('done')
    expect(await states()).toEqual({ da: 'expired', db: 'expired', dc: 'expired', do: 'pending' })

    const folder = mkdtempSync(join(tmpdir(), 'assay-rests-on-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    for (const card of Object.values(before)) {
      const shown = await engine.card(card.card)
      expect(shown).toMatchObject({ state: 'expired', closed: { by: 'runtime', reason: expect.stringContaining('plan-1/a, which is') } })
      for (const row of [card, { ...card, state: 'handled' as const }])
        expect(await handCard(engine, row, join(folder, 'out'))).toMatchObject({ ok: false, error: { code: 'wrong_status' } })
      expect(await engine.closeCard(card.card, { state: 'handled', by: 'owner', reason: '' })).toMatchObject({
        ok: false,
        error: { message: expect.stringContaining('rests on plan-1/a') },
      })
    }
    const gate = (await deliverableStanding(engine, 'dc', async () => undefined))?.gate
    expect(gate?.outcome).toMatchObject({ kind: 'refused', code: 'upstream_changed' })
    const from = (await engine.deliverables()).find(({ deliverable }) => deliverable === 'dc')?.producer ?? ''
    const request = { type: 'report_ready' as const, title: 't', body: '', priority: 'normal' as const, metadata: { deliverableId: 'dc' } }
    expect(await engine.emitCard(request, { from })).toMatchObject({ ok: false, code: 'upstream_changed' })
    const signer = openSigner(join(folder, 'keys'))
    const unsaid = { ok: false, error: expect.stringContaining('rests on plan-1/a') }
    expect(await attestTask(parts, 'plan-1/c', signer)).toMatchObject(unsaid)
    expect(await attestDeliverable(parts, 'db', signer)).toMatchObject(unsaid)

    expect(await say('a', 'pass')).toMatchObject({ ok: true, state: { status: 'done' } })
    expect(await states()).toMatchObject(standing)
  })

  it('is taken as it is where the owner accepted it after that, and so is what rests on it', { timeout }, async () => {
    const { engine, states, say, run } = await threeReports()
    expect(await say('a', 'fail')).toMatchObject({ ok: true })
    expect(await states()).toMatchObject({ db: 'expired', dc: 'expired' })
    expect(await say('b', 'pass')).toMatchObject({ ok: true, state: { status: 'done', done: { flag: 'owner-accepted' } } })
    const request = { type: 'report_ready' as const, title: 't', body: '', priority: 'normal' as const, metadata: { deliverableId: 'db' } }
    const from = (await engine.deliverables()).find(({ deliverable }) => deliverable === 'db')?.producer ?? ''
    expect(await engine.emitCard(request, { from })).toMatchObject({ ok: true, card: { flag: 'owner-accepted' } })
    expect(await states()).toMatchObject({ db: 'pending' })
    await run()
    expect((await engine.task('plan-1/c'))?.status).toBe('done')
    expect(await states()).toEqual(standing)
  })
})
