import { describe, expect, it } from 'vitest'
import { addressProblem } from './addresses.ts'

const ours = [
  '127.0.0.1',
  '127.255.255.254',
  '::1',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  'fc00::1',
  'fdff::1',
  '0.0.0.0',
  '::',
]
const never = [
  '169.254.169.254',
  'fe80::1',
  '224.0.0.1',
  'ff02::1',
  '255.255.255.255',
  '240.0.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::127.0.0.1',
  '::7f00:1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::',
  '2001:0:7f00:1::',
  '2001:db8::1',
  '3fff::1',
  'fec0::1',
  '100::1',
  '5f00::1',
  '4000::1',
]

describe('addresses', () => {
  it.each(['8.8.8.8', '1.1.1.1', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::1'])(
    'of the network are allowed: %s',
    (address) => {
      expect(addressProblem(address, false)).toBe(undefined)
      expect(addressProblem(address, true)).toBe(undefined)
    },
  )

  it.each(ours)('of this machine or a private network are refused unless allowed: %s', (address) => {
    expect(addressProblem(address, false)).toMatch(/^is not public/)
    expect(addressProblem(address, true)).toBe(undefined)
  })

  it.each(never)('that are neither are always refused: %s', (address) => {
    expect(addressProblem(address, false)).toMatch(/^is not public/)
    expect(addressProblem(address, true)).toMatch(/^is not public/)
  })

  it.each(['', 'localhost', '0x7f.1', '2130706433', '127.1', '010.0.0.1', 'fe80::1%eth0', '::1%lo', '1.2.3.4.5', '8.8.8.8 '])(
    'in another form are none: %j',
    (text) => {
      expect(addressProblem(text, true)).toBe('is no address')
    },
  )
})
