import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { knownAgents } from './brain.ts'
import { type Renewal, renewedLogin } from './renewal.ts'

function renewalsOf(agent: keyof typeof knownAgents, file: string): readonly Renewal[] {
  const found = knownAgents[agent].keeps.flatMap(({ login }) => (login?.[file] === undefined ? [] : [login[file]]))
  if (found[0] === undefined) throw new Error(`${agent} has no login ${file}`)
  return found[0]
}

const openAuth = renewalsOf('opencode', 'auth.json')
const user = {
  anthropic: { type: 'oauth', access: 'a1', refresh: 'r1', expires: 1 },
  openai: { type: 'api', key: 'k1' },
  'https://corp.example': { type: 'wellknown', key: 'CORP_TOKEN', token: 't1' },
}
const after = (left: unknown, now: unknown = user, renewals = openAuth): unknown => {
  const text = renewedLogin({ found: JSON.stringify(user), left: JSON.stringify(left), now: JSON.stringify(now) }, renewals)
  return text === undefined ? undefined : JSON.parse(text)
}
const renewedEntry = { type: 'oauth', access: 'a2', refresh: 'r2', expires: 2 }

describe('what a run wrote into a login', () => {
  it('comes back as far as it is renewed tokens', () => {
    expect(after({ ...user, anthropic: renewedEntry })).toEqual({ ...user, anthropic: renewedEntry })
    expect(after({ anthropic: renewedEntry }), 'entries that it left out stay').toEqual({ ...user, anthropic: renewedEntry })
    expect(after(user)).toBeUndefined()
  })

  it.each<[string, unknown]>([
    ['a new entry', { ...user, 'http://evil': { type: 'wellknown', key: 'OPENCODE_CONFIG_CONTENT', token: '{}' } }],
    ['a new entry with tokens', { ...user, evil: renewedEntry }],
    ['another type', { ...user, anthropic: { ...renewedEntry, type: 'wellknown', key: 'OPENCODE_CONFIG_CONTENT', token: '{}' } }],
    ['another address', { ...user, anthropic: { ...renewedEntry, enterpriseUrl: 'http://evil' } }],
    ['another key', { ...user, openai: { type: 'api', key: 'k2' } }],
    ['another variable', { ...user, 'https://corp.example': { type: 'wellknown', key: 'OPENCODE_CONFIG_CONTENT', token: '{}' } }],
    ['another token of a kind that is not renewed', { ...user, 'https://corp.example': { ...user['https://corp.example'], token: 't2' } }],
    ['tokens where there were none', { ...user, openai: { ...renewedEntry, type: 'api' } }],
    ['no login any more', {}],
    ['a token that is left out', { ...user, anthropic: { type: 'oauth', access: 'a2', refresh: 'r2' } }],
    ['a time that is a text', { ...user, anthropic: { ...renewedEntry, expires: '2' } }],
    ['a token that is a list', { ...user, anthropic: { ...renewedEntry, access: ['a2'] } }],
    ['a token with a line break', { ...user, anthropic: { ...renewedEntry, access: 'a2\r\nX-Header: 1' } }],
    ['an empty token', { ...user, anthropic: { ...renewedEntry, access: '' } }],
    ['a token beyond all measure', { ...user, anthropic: { ...renewedEntry, access: 'a'.repeat(70_000) } }],
    ['a list', [renewedEntry]],
    ['nothing', null],
  ])('does not come back: %s', (_what, left) => {
    expect(after(left)).toBeUndefined()
  })

  it('comes back without what came beside it', () => {
    const evil = { type: 'wellknown', key: 'OPENCODE_CONFIG_CONTENT', token: '{}' }
    expect(after({ ...user, anthropic: { ...renewedEntry, more: 1 }, evil })).toEqual({ ...user, anthropic: renewedEntry })
  })

  it('does not replace what somebody else has changed meanwhile', () => {
    const theirs = { ...user, anthropic: { type: 'oauth', access: 'a3', refresh: 'r3', expires: 3 } }
    expect(after({ ...user, anthropic: renewedEntry }, theirs)).toBeUndefined()
    const { anthropic: _gone, ...loggedOut } = user
    expect(after({ ...user, anthropic: renewedEntry }, loggedOut)).toBeUndefined()
    const more = { ...user, mistral: { type: 'api', key: 'k3' } }
    expect(after({ ...user, anthropic: renewedEntry }, more)).toEqual({ ...more, anthropic: renewedEntry })
  })

  it('is nothing where a file is no JSON', () => {
    for (const texts of [
      { found: 'x', left: '{}', now: '{}' },
      { found: '{}', left: 'x', now: '{}' },
      { found: '{}', left: '{}', now: '' },
    ])
      expect(renewedLogin(texts, openAuth)).toBeUndefined()
  })

  it('changes nothing but tokens that were there, whatever it is', () => {
    const entry = fc.oneof(
      fc.record(
        {
          type: fc.constantFrom('oauth', 'api', 'wellknown'),
          access: fc.oneof(fc.string(), fc.jsonValue()),
          refresh: fc.string(),
          expires: fc.oneof(fc.integer(), fc.string()),
          key: fc.string(),
          token: fc.string(),
          enterpriseUrl: fc.webUrl(),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    )
    const written = fc.dictionary(fc.oneof(fc.constantFrom(...Object.keys(user)), fc.constant('__proto__'), fc.string()), entry)
    fc.assert(
      fc.property(written, (left) => {
        const login = (after(left) ?? user) as typeof user
        const { access, refresh, expires } = login.anthropic
        expect(login).toEqual({ ...user, anthropic: { type: 'oauth', access, refresh, expires } })
        expect([typeof access, typeof refresh, typeof expires]).toEqual(['string', 'string', 'number'])
      }),
      { numRuns: 300 },
    )
  })
})

describe('the logins that agents renew', () => {
  it.each([
    ['claude', '.credentials.json', { claudeAiOauth: { accessToken: 'T', refreshToken: 'R', expiresAt: 1, scopes: ['s'] } }],
    ['claude', '.credentials.json', { mcpOAuth: { 'docs|1': { serverName: 'docs', accessToken: 'T', expiresAt: 1 } } }],
    ['codex', 'auth.json', { OPENAI_API_KEY: null, tokens: { id_token: 'I', access_token: 'T', refresh_token: 'R', account_id: 'a' } }],
    ['codex', 'auth.json', { OPENAI_API_KEY: null, last_refresh: '2026-01-01T00:00:00Z-T' }],
    ['codex', '.credentials.json', { 'docs|1': { server_name: 'docs', access_token: 'T', refresh_token: 'R', expires_at: 1 } }],
    ['gemini', 'oauth_creds.json', { access_token: 'T', refresh_token: 'R', token_type: 'Bearer', expiry_date: 1 }],
    ['opencode', 'mcp-auth.json', { docs: { tokens: { accessToken: 'T', refreshToken: 'R', expiresAt: 1 }, serverUrl: 'https://docs' } }],
  ] as const)('%s, %s', (agent, file, login) => {
    const found = JSON.stringify(login)
    const left = found.replace(/T"/, 'T2"')
    const text = renewedLogin({ found, left, now: found }, renewalsOf(agent, file))
    expect(JSON.parse(text ?? '{}')).toEqual(JSON.parse(left))
  })

  it.each([
    ['gemini', 'gemini-credentials.json'],
    ['gemini', 'mcp-oauth-tokens.json'],
    ['opencode', 'account.json'],
  ] as const)('of %s nothing of %s comes back', (agent, file) => {
    expect(renewalsOf(agent, file)).toEqual([])
  })
})
