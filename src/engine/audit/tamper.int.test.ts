import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkSignature, openSigner } from '../../adapters/signing/key.ts'
import { openSqliteJournal } from '../../adapters/sqlite/journal.ts'
import type { Checkpoint } from '../../contract/attest/checkpoint.ts'
import { Dice } from '../../testing/tamper/dice.ts'
import { makeHome } from '../../testing/tamper/home.ts'
import { auditHome, mutations, tryMutation } from '../../testing/tamper/trial.ts'
import { engineViews } from '../views/tasks.ts'
import { makeCheckpoint, openCheckpoint } from './checkpoint.ts'

const timeout = 300_000
const folder = mkdtempSync(join(tmpdir(), 'assay-tamper-'))
const home = join(folder, 'home')
const signer = openSigner(join(folder, 'keys'))
let kept: Checkpoint
let text = ''

async function checkpointOf(of: string) {
  const journal = await openSqliteJournal({ path: join(of, 'assay.db'), views: engineViews })
  try {
    return await makeCheckpoint(journal, signer, Date)
  } finally {
    await journal.close()
  }
}

beforeAll(async () => {
  mkdirSync(home)
  await makeHome(home)
  const made = await checkpointOf(home)
  if (!made.ok) throw new Error(made.error)
  text = made.value.text
  kept = made.value.checkpoint
}, timeout)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a state that nobody touched', () => {
  it('verifies, with its objects and against its checkpoint', { timeout }, async () => {
    const report = await auditHome(home, kept)
    expect(report).toMatchObject({ breaks: [], rollback: false, checkpoint: kept.at, streams: kept.streams.length })
    expect(report.events).toBeGreaterThan(50)
    expect(report.objects).toBeGreaterThan(10)
  })
})

describe('a damaged state, against a checkpoint kept from before', () => {
  it.each(Object.keys(mutations))('%s: is found, and its place is named', { timeout }, async (mutation) => {
    for (const seed of [11, 12]) {
      const trial = await tryMutation(home, join(folder, 'copy'), kept, mutation, new Dice(seed))
      expect(trial.report.breaks, `${mutation} (${trial.what})`).not.toEqual([])
      expect(trial.named, `${trial.what}: ${JSON.stringify(trial.report.breaks.slice(0, 3))}`).toBe(true)
    }
  })

  it('is never signed for', { timeout }, async () => {
    await tryMutation(home, join(folder, 'copy'), kept, 'head: changed', new Dice(3))
    expect(await checkpointOf(join(folder, 'copy'))).toEqual({ ok: false, error: expect.stringContaining('nothing is signed') })
  })
})

describe('a checkpoint', () => {
  it('is used with the key that signed it', () => {
    expect(openCheckpoint(text, signer.publicKey, checkSignature)).toEqual({ ok: true, value: kept })
  })

  it.each([
    [
      'its text was changed',
      () => text.replace(`position ${kept.position}`, `position ${kept.position - 1}`),
      'changed after it was signed',
    ],
    ['its time was changed', () => text.replace(/^at .*$/m, 'at 2020-01-01T00:00:00.000Z'), 'changed after it was signed'],
    ['its signature is of other bytes', () => text.replace(/signature ...../, 'signature AAAAA'), 'changed after it was signed'],
    ['it is no checkpoint', () => 'hello', 'this is no checkpoint'],
  ])('is refused where %s', (_what, forged, why) => {
    expect(forged()).not.toBe(text)
    expect(openCheckpoint(forged(), signer.publicKey, checkSignature)).toEqual({ ok: false, error: expect.stringContaining(why) })
  })

  it('is refused where somebody else signed it, with whatever key they name in it', async () => {
    const other = openSigner(join(folder, 'other-keys'))
    const journal = await openSqliteJournal({ path: join(home, 'assay.db'), views: engineViews })
    const forged = await makeCheckpoint(journal, other, Date)
    await journal.close()
    if (!forged.ok) throw new Error(forged.error)
    expect(openCheckpoint(forged.value.text, signer.publicKey, checkSignature)).toEqual({
      ok: false,
      error: expect.stringContaining('another key'),
    })
  })
})
