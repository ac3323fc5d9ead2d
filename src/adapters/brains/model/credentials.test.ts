import { describe, expect, it } from 'vitest'
import { formatProblem } from '../../../contract/source/problem.ts'
import { findCredentials } from './credentials.ts'
import type { ModelBrain } from './provider.ts'

const secret = 'sk-very-secret-value'
const brain = (changes: Partial<ModelBrain>): ModelBrain => ({ kind: 'model', provider: 'openai', model: 'm', ...changes })

function find(changes: Partial<ModelBrain>, env: Record<string, string> = {}): unknown {
  const found = findCredentials('judge', brain(changes), env)
  return found.ok ? found.value : found.error.map(formatProblem).join()
}

describe('the key of a brain', () => {
  it('is the value of the variable that the configuration names, else of the usual one', () => {
    expect(find({ apiKeyEnv: 'MINE' }, { MINE: ` ${secret}\n`, OPENAI_API_KEY: 'x' })).toEqual({ key: secret })
    expect(find({}, { OPENAI_API_KEY: secret })).toEqual({ key: secret })
    expect(find({ provider: 'anthropic' }, { ANTHROPIC_API_KEY: secret })).toEqual({ key: secret })
    expect(find({ provider: 'google' }, { GOOGLE_GENERATIVE_AI_API_KEY: secret })).toEqual({ key: secret })
  })

  it("may be missing for a server of one's own only; an empty value is none", () => {
    const local = { provider: 'openai-compatible', baseURL: 'http://127.0.0.1:1/v1' } as const
    expect(find(local, { OPENAI_API_KEY: secret })).toEqual({ key: undefined })
    expect(find({ ...local, apiKeyEnv: 'MINE' }, { MINE: '' })).toEqual({
      key: undefined,
      notice: 'brain judge: MINE is not set, so no key is sent',
    })
    expect(find({ apiKeyEnv: 'MINE' }, { MINE: '  ', OPENAI_API_KEY: secret })).toContain('MINE is not set')
  })

  it('is refused where no header can carry it, without being quoted', () => {
    expect(find({ apiKeyEnv: 'MINE' }, { MINE: `${secret}\n${secret}` })).toContain('the value of MINE cannot be a key')
    expect(find({ apiKeyEnv: 'MINE' }, { MINE: `${secret}\n${secret}` })).not.toContain(secret)
  })
})

describe('the address of a brain', () => {
  it.each([
    [{ provider: 'openai-compatible' }, 'baseURL is missing'],
    [{ baseURL: 'not an address' }, 'baseURL is no http(s) address'],
    [{ baseURL: 'file:///etc/passwd' }, 'baseURL is no http(s) address'],
    [{ baseURL: `https://me:${secret}@example.com` }, 'baseURL carries a user name or a password'],
  ] as [Partial<ModelBrain>, string][])('%j is refused', (changes, why) => {
    const told = find(changes, { OPENAI_API_KEY: secret })
    expect(told).toContain(why)
    expect(told).not.toContain(secret)
  })
})
