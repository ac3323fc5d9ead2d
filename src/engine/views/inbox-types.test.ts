import { describe, expect, it } from 'vitest'
import { eventSchemas } from '../../contract/events/manifest.ts'
import { inboxTypes, inboxView } from './inbox.ts'

describe('events that the inbox is made of', () => {
  it('are exactly those that its view looks at: a list that is read by them misses none', () => {
    const event = (type: string) => ({ type, stream: 'task/x', data: { card: 'x' } }) as never
    const looked = Object.keys(eventSchemas).filter((type) => inboxView.keys(event(type)).length > 0)
    expect(looked.length).toBeGreaterThan(10)
    expect([...inboxTypes].sort()).toEqual([...looked].sort())
  })
})
