import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../../contract/events/envelope.ts'
import { describeEvent, isQuiet } from './event.ts'

const delegated = (data: object) => ({ type: 'task.delegated', data }) as unknown as StoredEvent

describe('the progress of a run', () => {
  it('shows what was handed down, and what was refused with its reason', () => {
    const event = delegated({
      content: 'x',
      delegated: [{ task: 'm-1/a.b', title: 'B', to: 'dev' }],
      refused: [{ title: 'C', to: 'nobody', why: 'nobody is no agent of this organisation' }],
    })
    expect(describeEvent(event)).toBe('hands down B to dev; PROPOSAL REFUSED: C to nobody: nobody is no agent of this organisation')
    expect(isQuiet(event)).toBe(false)
  })

  it('is silent where nothing was proposed', () => {
    expect(describeEvent(delegated({ content: 'x', delegated: [], refused: [] }))).toBeUndefined()
  })
})
