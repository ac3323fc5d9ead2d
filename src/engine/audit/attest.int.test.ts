import { createPublicKey } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleFromJSON } from '@sigstore/bundle'
import { toSignedEntity, Verifier } from '@sigstore/verify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkSignature, openSigner, publicPem } from '../../adapters/signing/key.ts'
import { openSnapshotStore } from '../../adapters/snapshots/store.ts'
import { openSqliteJournal } from '../../adapters/sqlite/journal.ts'
import type { Envelope } from '../../contract/attest/envelope.ts'
import type { Digest } from '../../contract/canonical.ts'
import type { Statement } from '../../contract/attest/statement.ts'
import type { Journal } from '../../ports/journal.ts'
import { makeHome } from '../../testing/tamper/home.ts'
import { engineViews } from '../views/tasks.ts'
import { attestTask } from './attest.ts'
import { openStatement } from './envelope.ts'
import { compareSubject } from './subject.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-attest-'))
const signer = openSigner(join(folder, 'keys'))
const snapshots = openSnapshotStore({ folder: join(folder, 'home', 'objects') })
let journal: Journal

const clock = { now: () => Date.now(), wall: () => Date.now() }

beforeAll(async () => {
  mkdirSync(join(folder, 'home'))
  await makeHome(join(folder, 'home'))
  journal = await openSqliteJournal({ path: join(folder, 'home', 'assay.db'), views: engineViews })
})
afterAll(async () => {
  await journal.close()
  rmSync(folder, { recursive: true, force: true })
})

const config = { gate: { urlVerdictTtl: '24h' } }

async function attested(task: string): Promise<{ envelope: Envelope; statement: Statement }> {
  const made = await attestTask({ journal, snapshots, clock, config }, `plan-1/${task}`, signer)
  if (!made.ok) throw new Error(made.error)
  return made.value
}

/** As a tool checks it that has never heard of Assay. */
function sigstoreAccepts(envelope: Envelope, publicKey: string): boolean {
  const key = createPublicKey(publicPem(publicKey))
  const none = { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] }
  const verifier = new Verifier(
    { ...none, publicKey: () => ({ publicKey: key, validFor: () => true }) },
    { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 },
  )
  const bundle = bundleFromJSON({
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: 'owner' }, tlogEntries: [] },
    dsseEnvelope: envelope,
  })
  try {
    verifier.verify(toSignedEntity(bundle))
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'SIGNATURE_ERROR') return false
    throw error
  }
}

const changed = (envelope: Envelope, from: string, to: string): Envelope => ({
  ...envelope,
  payload: Buffer.from(Buffer.from(envelope.payload, 'base64').toString().replace(from, to)).toString('base64'),
})

describe('an attestation', () => {
  it.each([
    ['clean', 'PASSED', 90, ['accepts', 'accepts']],
    ['again', 'PASSED', 90, ['accepts', 'accepts']],
    ['low', 'WARNED', 30, ['rejects', 'rejects']],
  ])('of the task %s says %s, with score, judges, policy and its place in the journal', async (task, result, score, judges) => {
    const { statement } = await attested(task)
    const head = (await journal.readStream(`task/plan-1/${task}`)).at(-1)
    const { assay, configuration } = statement.predicate
    expect(statement.predicate.result).toBe(result)
    expect(assay).toMatchObject({ id: `plan-1/${task}`, score: { on100: score }, head: { hash: head?.hash, version: head?.version } })
    expect(assay?.judges.map(({ outcome }) => outcome)).toEqual(judges)
    expect(configuration.map(({ name }) => name)).toEqual(['policy', 'criteria', 'rubric'])
    expect(statement.subject.map(({ name }) => name)).toEqual(['notes.md', 'work.txt', 'assay:output'])
  })

  it('is accepted by sigstore, and refused by it and by us with anything changed', async () => {
    const { envelope } = await attested('low')
    const other = openSigner(join(folder, 'other'))
    expect(sigstoreAccepts(envelope, signer.publicKey)).toBe(true)
    expect(openStatement(JSON.stringify(envelope), signer.publicKey, checkSignature).ok).toBe(true)
    const forged: [Envelope, string][] = [
      [changed(envelope, 'WARNED', 'PASSED'), signer.publicKey],
      [{ ...envelope, payloadType: 'application/json' }, signer.publicKey],
      [envelope, other.publicKey],
    ]
    for (const [one, key] of forged) {
      expect(sigstoreAccepts(one, key)).toBe(false)
      expect(openStatement(JSON.stringify(one), key, checkSignature)).toMatchObject({
        ok: false,
        error: expect.stringContaining('not good'),
      })
    }
  })

  it('is not given where there is nothing to attest', async () => {
    expect(await attestTask({ journal, snapshots, clock, config }, 'plan-1/none', signer)).toEqual({
      ok: false,
      error: 'there is no task plan-1/none',
    })
    const without = openSnapshotStore({ folder: join(folder, 'nothing') })
    expect(await attestTask({ journal, snapshots: without, clock, config }, 'plan-1/clean', signer)).toMatchObject({
      ok: false,
      error: expect.stringContaining('missing'),
    })
  })

  it.each([
    ['no JSON', 'garbage'],
    ['another shape', '{"payload":"x"}'],
    ['no signatures', '{"payloadType":"t","payload":"eA==","signatures":[]}'],
  ])('is refused in plain words for %s', (_what, text) => {
    expect(openStatement(text, signer.publicKey, checkSignature)).toMatchObject({
      ok: false,
      error: expect.stringContaining('no attestation'),
    })
  })
})

describe('the subject of an attestation', () => {
  async function restored(name: string): Promise<{ statement: Statement; path: string }> {
    const { statement } = await attested('clean')
    const path = join(folder, name)
    await snapshots.restore((statement.predicate.assay?.snapshot ?? '') as Digest, path)
    return { statement, path }
  }

  const putDeep = (path: string, name: string) => {
    mkdirSync(join(path, 'sub', name), { recursive: true })
    writeFileSync(join(path, 'sub', name, 'more'), 'x')
  }

  it('is the folder as it was reviewed, and each of its files', async () => {
    const { statement, path } = await restored('same')
    mkdirSync(join(path, '.git'))
    writeFileSync(join(path, '.git/HEAD'), 'x')
    expect(await compareSubject(statement, path)).toEqual({ matching: 2, problems: [], beside: ['.git'] })
    expect(await compareSubject(statement, join(path, 'work.txt'))).toEqual({ matching: 1, problems: [] })
  })

  it.each([
    ['changed', (path: string) => writeFileSync(join(path, 'work.txt'), 'other'), /work\.txt is not what was attested/],
    ['with a file more', (path: string) => writeFileSync(join(path, 'more.txt'), 'x'), /more\.txt was not attested/],
    ['with a .git further down', (path: string) => putDeep(path, '.git'), /sub\/\.git\/more was not attested/],
    ['with an .assay further down', (path: string) => putDeep(path, '.assay'), /sub\/\.assay\/more was not attested/],
    ['with a file less', (path: string) => rmSync(join(path, 'notes.md')), /notes\.md is missing/],
    [
      'with a link in the place of a file',
      (path: string) => {
        rmSync(join(path, 'notes.md'))
        symlinkSync('/etc/hostname', join(path, 'notes.md'))
      },
      /notes\.md is no plain file/,
    ],
  ])('is not the folder %s', async (what, change, problem) => {
    const { statement, path } = await restored(what.replaceAll(' ', '-'))
    change(path)
    expect((await compareSubject(statement, path)).problems.join('\n')).toMatch(problem)
  })

  it('is not another file, nor one that is not there', async () => {
    const { statement } = await attested('clean')
    const other = join(folder, 'other.txt')
    writeFileSync(other, 'other')
    expect((await compareSubject(statement, other)).problems[0]).toContain('none of the 3 things')
    expect((await compareSubject(statement, join(folder, 'nowhere'))).problems[0]).toContain('there is no')
  })
})
