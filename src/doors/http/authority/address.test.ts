import { describe, expect, it } from 'vitest'
import { refusedAddress } from './address.ts'

const hosts = ['localhost', '127.0.0.1', '[::1]', 'gate.example']
const look = (host: string | undefined, origin?: string, site?: string, target = '/v1/tasks') =>
  refusedAddress({ target, host, origin, site }, hosts)?.code

describe('refusedAddress', () => {
  it('knows its own names, with and without a port, in any case', () => {
    for (const host of ['localhost', 'localhost:7410', 'LocalHost:1', '127.0.0.1:80', '[::1]:7410', 'gate.example'])
      expect(look(host), host).toBeUndefined()
  })

  it('refuses every other name, however much it looks like one', () => {
    const others = [
      undefined,
      '',
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.nip.io',
      'a@localhost',
      'localhost/x',
      'localhost:x',
      '[::2]',
      '0.0.0.0',
    ]
    for (const host of others) expect(look(host), String(host)).toBe('host_refused')
  })

  it('refuses a whole address in the request line that is not its own', () => {
    const asked = (target: string) => look('localhost:7410', undefined, undefined, target)
    for (const target of ['/', '//evil.example/v1', '*', 'http://localhost:7410/v1/tasks', 'HTTP://LOCALHOST:7410/'])
      expect(asked(target), target).toBeUndefined()
    for (const target of [
      'http://evil.example/v1/tasks',
      'http://localhost/v1',
      'http://127.0.0.1:7410/',
      'evil.example:443',
      'javascript:1',
      '',
    ])
      expect(asked(target), target).toBe('host_refused')
  })

  it('takes pages of its own origin alone', () => {
    expect(look('localhost:7410', 'http://localhost:7410')).toBeUndefined()
    expect(look('gate.example', 'https://gate.example', 'same-origin')).toBeUndefined()
    for (const origin of ['null', 'http://localhost', 'http://localhost:7411', 'http://evil.example', 'not an origin'])
      expect(look('localhost:7410', origin), origin).toBe('origin_refused')
    expect(look('localhost', undefined, 'cross-site')).toBe('origin_refused')
  })
})
