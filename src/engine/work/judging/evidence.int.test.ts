import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSnapshotStore } from '../../../adapters/snapshots/store.ts'
import { type EvidenceSource, resolveEvidence } from './evidence.ts'

let root: string
let source: EvidenceSource

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'assay-evidence-'))
  const work = join(root, 'work')
  mkdirSync(work)
  writeFileSync(join(work, 'a.txt'), 'one\ntwo\n')
  writeFileSync(join(work, 'nul.txt'), 'bad\n\0\nend of it\n')
  // Its pieces are of a MiB each: the word stands across two of them.
  writeFileSync(join(work, 'big.txt'), `bad\n${' '.repeat(1_048_576 - 8)}straddling\n${'line\n'.repeat(300_000)}last words`)
  symlinkSync('a.txt', join(work, 'link'))
  const snapshots = openSnapshotStore({ folder: join(root, 'objects') })
  const taken = await snapshots.take(work)
  if (!taken.ok) throw new Error(taken.problem.message)
  const { manifest } = taken
  const report = { id: 'tests', kind: 'file', outcome: 'pass', summary: '', output: '', findings: [] } as const
  source = {
    snapshots,
    snapshot: manifest.digest,
    manifest,
    output: 'printed',
    reports: [{ ...report, findings: [] }],
    unseenCounts: false,
  }
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const resolved = async (pointer: string, unseenCounts = false) =>
  (await resolveEvidence([pointer], { ...source, unseenCounts }))[0]?.resolved

describe('evidence', () => {
  it.each([
    'a.txt',
    'a.txt:2',
    'a.txt:1-2',
    'a.txt:two',
    '"one\ntwo"',
    '"printed"',
    'check:tests',
    'nul.txt:1',
    'nul.txt:3',
    'nul.txt:end of it',
    '"end of it"',
    'big.txt:1',
    'big.txt:300003',
    'big.txt:straddling',
    '"straddling"',
    '"last words"',
    'absent:gone.txt',
    'absent:"nowhere to be found"',
    'absent:big.txt:nothing',
  ])('resolves: %s', async (pointer) => {
    expect(await resolved(pointer)).toBe(true)
  })

  it.each([
    'gone.txt',
    'gone.txt:1',
    'a.txt:3',
    'a.txt:0',
    'a.txt: ',
    'nul.txt:4',
    'big.txt:300004',
    'big.txt:nothing',
    '"nowhere to be found"',
    'check:lint',
    'absent:a.txt',
    'absent:"straddling"',
    'absent:nul.txt:end of it',
  ])('does not resolve: %s', async (pointer) => {
    expect(await resolved(pointer)).toBe(false)
  })

  it('in what cannot be looked into counts for a judge that rejects, and not for one that accepts', async () => {
    for (const pointer of ['link:1', 'link:two', 'absent:link:three']) {
      expect(await resolved(pointer, true)).toBe(true)
      expect(await resolved(pointer, false)).toBe(false)
    }
    expect(await resolved('link')).toBe(true)
    expect(await resolved('absent:link', true)).toBe(false)
  })

  it('is answered in the order of the pointers, and a long quotation by its beginning', async () => {
    const long = `"${'x'.repeat(5_000)}"`
    const pointers = ['"straddling"', 'a.txt:9', long, 'nul.txt:1']
    const answers = await resolveEvidence(pointers, { ...source, output: 'x'.repeat(4_500) })
    expect(answers.map(({ pointer }) => pointer)).toEqual(pointers)
    expect(answers.map((answer) => answer.resolved)).toEqual([true, false, true, true])
    expect(answers[1]?.why).toBe('a.txt has 2 lines')
  })
})
