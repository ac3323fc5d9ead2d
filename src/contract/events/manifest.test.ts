import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventTable, type FrozenEvent } from './frozen.ts'
import { eventSchemas } from './manifest.ts'
import { readEvent } from './read.ts'

const frozen = JSON.parse(readFileSync(new URL('./frozen.json', import.meta.url), 'utf8')) as Record<string, FrozenEvent>

describe('the manifest of events', () => {
  it('is frozen: no event vanishes, changes its shape under the same version, or appears unlisted (npm run freeze)', () => {
    expect(Object.keys(frozen).length).toBeGreaterThan(20)
    expect(eventTable()).toEqual(frozen)
  })

  it('names events noun, dot, past tense', () => {
    for (const type of Object.keys(eventSchemas)) expect(type).toMatch(/^[a-z]+(\.[a-z_]+)+$/)
  })
})

describe('reading a stored event', () => {
  const stored = {
    position: 1,
    stream: 'task/a',
    version: 3,
    v: 1,
    meta: { at: '2026-11-15T00:00:00.000Z', actor: 'runtime' },
    prev: '',
    hash: '',
  }

  it('gives its type and data', () => {
    expect(readEvent({ ...stored, type: 'task.skipped', data: { because: 'b failed' } })).toEqual({
      type: 'task.skipped',
      data: { because: 'b failed' },
    })
  })

  it.each([
    ['an unknown type', { type: 'task.vanished', data: {} }, 'is not known'],
    ['an unknown version', { type: 'task.skipped', v: 2, data: { because: 'x' } }, 'shape that is not known'],
    ['data that does not fit', { type: 'task.skipped', data: { why: 'x' } }, 'does not fit its schema'],
  ])('stops at %s instead of skipping it, and says where', (_what, event, why) => {
    expect(() => readEvent({ ...stored, ...event })).toThrow(why)
    expect(() => readEvent({ ...stored, ...event })).toThrow('task/a@3')
  })
})
