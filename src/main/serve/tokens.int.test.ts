import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sha256Hex } from '../../contract/canonical.ts'
import { type Judging, workerTokens } from './tokens.ts'

function request(changes: object = {}) {
  const root = mkdtempSync(join(tmpdir(), 'assay-tokens-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return { agents: ['ext', 'dev'], fromEnv: [], made: [], env: {}, folder: join(root, 'tokens'), judging: nobody, ...changes }
}
const nobody: Judging = {
  mayJudge: () => false,
  made: async () => ({ ok: false, error: 'nobody judges' }),
  unproven: async () => 'nobody judges',
}

describe('workerTokens', () => {
  it('makes a token once, for its owner’s eyes alone', async () => {
    const asked = request({ made: ['ext'] })
    const [one, two] = [await workerTokens(asked), await workerTokens(asked)]
    if (!one.ok || !two.ok) throw new Error('refused')
    const [given] = one.value.given
    const file = given && 'file' in given ? given.file : ''
    expect([statSync(file).mode & 0o777, statSync(asked.folder).mode & 0o777]).toEqual([0o600, 0o700])
    const digest = sha256Hex(readFileSync(file, 'utf8').trim())
    expect([...one.value.digests]).toEqual([[digest, 'ext']])
    expect([...two.value.digests]).toEqual([[digest, 'ext']])
  })

  it('takes tokens from the environment, and refuses what would be guessed or mixed up', async () => {
    const token = 'x'.repeat(20)
    const good = await workerTokens(request({ fromEnv: ['T=ext'], env: { T: token } }))
    expect(good.ok && [...good.value.digests]).toEqual([[sha256Hex(token), 'ext']])
    const bad = [
      { fromEnv: ['T=ext'], env: { T: 'short' } },
      { fromEnv: ['T=ext'] },
      { fromEnv: ['ext'] },
      { fromEnv: ['T=nobody'], env: { T: token } },
      { fromEnv: ['T=ext', 'T=dev'], env: { T: token } },
      { made: ['../nobody'] },
    ]
    for (const changes of bad) expect((await workerTokens(request(changes))).ok, JSON.stringify(changes)).toBe(false)
  })

  it('lets nobody judge by a file that lies there or a token that the owner does not stand behind', async () => {
    const judging: Judging = {
      mayJudge: (agent) => agent === 'dev',
      made: async () => ({ ok: true, value: 'printed by the owner' }),
      unproven: async (_agent, token) => (token === 'printed by the owner' ? undefined : 'the owner does not stand behind it'),
    }
    const before = request({ made: ['dev'] })
    const planted = await workerTokens(before)
    expect(planted.ok && planted.value.digests.size).toBe(1)
    const now = await workerTokens({ ...before, judging })
    expect(now.ok && [...now.value.digests]).toEqual([[sha256Hex('printed by the owner'), 'dev']])
    expect(now.ok && now.value.given).toEqual([{ agent: 'dev', printedBy: 'assay mcp --role reviewer --agent dev --print-token' }])
    const brought = (token: string) => workerTokens(request({ judging, fromEnv: ['T=dev'], env: { T: token } }))
    expect([(await brought('printed by the owner')).ok, (await brought('x'.repeat(48))).ok]).toEqual([true, false])
    const refused = await workerTokens(request({ judging: { ...judging, made: nobody.made }, made: ['dev'] }))
    expect(refused).toMatchObject({ ok: false, error: [{ message: expect.stringContaining('judges as dev: nobody judges') }] })
  })
})
