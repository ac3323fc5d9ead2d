import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutesOf } from '../lib/duration.mjs'

test('minutes, hours, and both together', () => {
  assert.equal(minutesOf('90m'), 90)
  assert.equal(minutesOf('2h'), 120)
  assert.equal(minutesOf('1h30m'), 90)
})
