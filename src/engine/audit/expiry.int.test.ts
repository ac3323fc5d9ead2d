import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSigner } from '../../adapters/signing/key.ts'
import { hasExpired } from '../../contract/attest/statement.ts'
import { openGateWorld } from '../../testing/deliverables/world.ts'
import { reviewDeliverable } from '../deliverables/review.ts'
import type { Engine } from '../engine.ts'
import { type Attested, attestDeliverable, attestTask } from './attest.ts'

const hour = 3_600_000
const never = new AbortController().signal

it('the verdict on an address is attested with its expiry, and no more after it', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-expiry-'))
  const world = openGateWorld({ bars: [60], config: { gate: { urlVerdictTtl: '2h' } } })
  onTestFinished(async () => {
    await world.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const signer = openSigner(folder)
  const engine = world.engines[0] as Engine
  world.files.set('good', 'text: score=90 good')
  const parts = { ...engine.parts, clock: world.clock }
  const bring = async (id: string, kind: 'url' | 'file') => {
    const reviewed = await reviewDeliverable(engine, { ...(await world.bring(id, 'ana', 'good')), kind }, never)
    return reviewed.ok ? reviewed.value : expect.fail(reviewed.error.message)
  }
  const { task } = await bring('page', 'url')
  await bring('report', 'file')
  const attested = async () => [await attestDeliverable(parts, 'page', signer), await attestTask(parts, task, signer)]
  const expiryOf = (made: Attested | undefined) => (made?.ok ? made.value.statement.predicate.assay?.expires : made?.error)

  world.advance(hour)
  for (const made of await attested()) {
    const expires = expiryOf(made) ?? ''
    expect([hasExpired({ expires }, world.clock.now()), hasExpired({ expires }, world.clock.now() + 2 * hour)]).toEqual([false, true])
  }
  world.advance(hour)
  for (const made of await attested()) expect(made).toMatchObject({ ok: false, error: expect.stringContaining('has expired') })
  const file = await attestDeliverable(parts, 'report', signer)
  expect([file?.ok, expiryOf(file)]).toEqual([true, undefined])
})
