import { describe, expect, it } from 'vitest'
import { dialects } from './dialects.ts'
import { changedSettings, isOwn } from './settings.ts'

const theirs = { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'say done' }] }] }, other: 1 }

describe('the entry of the hook in settings', () => {
  it.each(Object.entries(dialects))('of %s comes once beside what is there, and goes without a trace', (agent, dialect) => {
    const before = JSON.stringify(theirs, null, 4)
    const put = changedSettings(before, dialect, `assay hook --agent ${agent}`)
    if (!put.ok) throw new Error(put.error)
    expect(put.value).toContain(`assay hook --agent ${agent}`)
    expect(put.value).toContain('say done')
    expect(changedSettings(put.value, dialect, `assay hook --agent ${agent}`)).toEqual(put)
    const moved = changedSettings(put.value, dialect, `npx --no-install assay hook --agent ${agent}`)
    expect(moved.ok && moved.value.match(/hook --agent/g)).toHaveLength(dialect.entries('').length)
    const gone = changedSettings(put.value, dialect, undefined)
    if (!gone.ok) throw new Error(gone.error)
    expect(JSON.parse(gone.value)).toMatchObject(theirs)
    expect(gone.value).not.toContain('assay')
  })

  it.each(Object.entries(dialects))('of %s makes a file of its own, which is gone with it', (_agent, dialect) => {
    const made = changedSettings(undefined, dialect, 'assay hook --agent x')
    if (!made.ok) throw new Error(made.error)
    expect(JSON.parse(made.value)).toBeTypeOf('object')
    expect(changedSettings(made.value, dialect, undefined)).toEqual({ ok: true, value: '' })
  })

  it.each([
    ['no JSON', '{ "hooks": '],
    ['a list', '[]'],
    ['hooks that are no object', '{"hooks": 1}'],
    ['a list that is none', '{"hooks": {"Stop": {}}}'],
  ])('is not put into %s', (_what, text) => {
    expect(changedSettings(text, dialects.claude as never, 'assay hook --agent claude').ok).toBe(false)
  })

  it('is told from those of others', () => {
    expect(isOwn({ command: 'npx --no-install assay hook --agent cursor' })).toBe(true)
    expect(isOwn({ command: 'assay-like hooks' })).toBe(false)
    expect(isOwn({ hooks: [{ command: 'assay hook --agent claude' }, { command: 'mine' }] })).toBe(false)
    expect(isOwn('assay hook')).toBe(false)
  })
})
