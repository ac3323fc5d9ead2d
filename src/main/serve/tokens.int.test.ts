import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sha256Hex } from '../../contract/canonical.ts'
import { workerTokens } from './tokens.ts'

function request(changes: object = {}) {
  const root = mkdtempSync(join(tmpdir(), 'assay-tokens-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return { agents: ['ext', 'dev'], fromEnv: [], made: [], env: {}, folder: join(root, 'tokens'), ...changes }
}

describe('workerTokens', () => {
  it('makes a token once, for its owner’s eyes alone', () => {
    const asked = request({ made: ['ext'] })
    const [one, two] = [workerTokens(asked), workerTokens(asked)]
    if (!one.ok || !two.ok) throw new Error('refused')
    const [{ file = '' } = {}] = one.value.files
    expect([statSync(file).mode & 0o777, statSync(asked.folder).mode & 0o777]).toEqual([0o600, 0o700])
    const digest = sha256Hex(readFileSync(file, 'utf8').trim())
    expect([...one.value.digests]).toEqual([[digest, 'ext']])
    expect([...two.value.digests]).toEqual([[digest, 'ext']])
  })

  it('takes tokens from the environment, and refuses what would be guessed or mixed up', () => {
    const token = 'x'.repeat(20)
    const good = workerTokens(request({ fromEnv: ['T=ext'], env: { T: token } }))
    expect(good.ok && [...good.value.digests]).toEqual([[sha256Hex(token), 'ext']])
    const bad = [
      { fromEnv: ['T=ext'], env: { T: 'short' } },
      { fromEnv: ['T=ext'] },
      { fromEnv: ['ext'] },
      { fromEnv: ['T=nobody'], env: { T: token } },
      { fromEnv: ['T=ext', 'T=dev'], env: { T: token } },
      { made: ['../nobody'] },
    ]
    for (const changes of bad) expect(workerTokens(request(changes)).ok, JSON.stringify(changes)).toBe(false)
  })
})
