import { describe, expect, it } from 'vitest'
import { type Dialect, dialects } from './dialects.ts'
import { hookCommand, isOwnCommand, quoted } from './own-command.ts'
import { changedSettings } from './settings.ts'

const theirs = { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'say done' }] }] }, other: 1 }

/** What becomes of settings; throws where they cannot be changed. */
function changed(text: string | undefined, agent: string, command: string | undefined): string {
  const after = changedSettings(text, { agent, dialect: dialects[agent] as Dialect, command })
  if (!after.ok) throw new Error(after.error)
  return after.value
}

const stop = (...commands: string[]) =>
  JSON.stringify({ hooks: { Stop: [{ hooks: commands.map((command) => ({ type: 'command', command })) }] } })

describe('the entry of the hook in settings', () => {
  it.each(Object.entries(dialects))('of %s comes once beside what is there, and goes without a trace', (agent, dialect) => {
    const put = changed(JSON.stringify(theirs, null, 4), agent, `assay hook --agent ${agent}`)
    expect(put).toContain(`assay hook --agent ${agent}`)
    expect(put).toContain('say done')
    expect(changed(put, agent, `assay hook --agent ${agent}`)).toBe(put)
    const moved = changed(put, agent, `npx --no-install assay hook --agent ${agent}`)
    expect(moved.match(/npx --no-install assay hook --agent/g)).toHaveLength(dialect.entries('').length)
    expect(moved.match(/hook --agent/g)).toHaveLength(dialect.entries('').length)
    const gone = changed(moved, agent, undefined)
    expect(JSON.parse(gone)).toMatchObject(theirs)
    expect(gone).not.toContain('assay')
  })

  it.each(Object.keys(dialects))('of %s makes a file of its own, which is gone with it', (agent) => {
    const made = changed(undefined, agent, `/opt/a/bin/assay hook --agent ${agent}`)
    expect(JSON.parse(made)).toBeTypeOf('object')
    expect(changed(made, agent, undefined)).toBe('')
  })

  it.each([
    ['no JSON', '{ "hooks": '],
    ['a list', '[]'],
    ['hooks that are no object', '{"hooks": 1}'],
    ['a list that is none', '{"hooks": {"Stop": {}}}'],
  ])('is not put into %s', (_what, text) => {
    const wanted = { agent: 'claude', dialect: dialects.claude as Dialect, command: 'assay hook --agent claude' }
    expect(changedSettings(text, wanted).ok).toBe(false)
  })
})

describe('what is the user’s', () => {
  it.each([
    './lint.sh && assay hook --agent claude',
    'echo remember: assay hook is off; ./my-own-stop.sh',
    'assay hook --agent claude; ./after.sh',
    'assay hook --agent claude --json',
    'assay hook --agent codex',
    'LANG=C assay hook --agent claude',
    './assay hook --agent claude',
    'timeout 5 /usr/bin/assay hook --agent claude',
    ' assay hook --agent claude',
  ])('stays, also where it speaks of the hook: %s', (command) => {
    const before = stop(command)
    expect(changed(before, 'claude', undefined)).toBe(before)
    const put = changed(before, 'claude', 'assay hook --agent claude')
    expect(JSON.parse(put).hooks.Stop[0]).toEqual(JSON.parse(before).hooks.Stop[0])
    expect(JSON.parse(changed(put, 'claude', undefined))).toEqual(JSON.parse(before))
  })

  it('stays in a group that has both', () => {
    const command = 'assay hook --agent claude'
    const put = changed(stop(command, './mine.sh'), 'claude', command)
    expect(JSON.parse(put).hooks.Stop).toEqual(JSON.parse(stop(command, './mine.sh')).hooks.Stop)
    expect(JSON.parse(changed(put, 'claude', undefined))).toEqual(JSON.parse(stop('./mine.sh')))
  })

  it('stays around the command: times, matchers, fields', () => {
    const hook = { type: 'command', command: 'npx --no-install assay hook --agent claude', timeout: 1200 }
    const groups = [{ matcher: 'x', hooks: [hook] }]
    const put = changed(JSON.stringify({ hooks: { Stop: groups } }), 'claude', 'assay hook --agent claude')
    expect(JSON.parse(put).hooks.Stop).toEqual([{ matcher: 'x', hooks: [{ ...hook, command: 'assay hook --agent claude' }] }])
    const both = { hooks: { agentStop: [{ type: 'command', bash: 'assay hook --agent copilot', powershell: './mine.ps1' }] }, version: 1 }
    const rest = { hooks: { agentStop: [{ type: 'command', powershell: './mine.ps1' }] }, version: 1 }
    expect(JSON.parse(changed(JSON.stringify(both), 'copilot', undefined))).toEqual(rest)
  })

  it.each(['{}', '{ "hooks": {} }', '{"hooks": {"Stop": []}}', '{"hooks": {"Stop": [{"hooks": []}, 5, null]}}', ''])(
    'stays although it says nothing: %s',
    (text) => {
      expect(changed(text, 'claude', undefined)).toBe(text)
    },
  )
})

describe('a command of our own', () => {
  it.each([
    'assay',
    'npx --no-install assay',
    '/usr/bin/assay',
    '/opt/a/bin/assay.mjs',
    "'/o p/it'\\''s/assay.mjs'",
    "/n/node '/o p/assay'",
  ])('is known: %s', (program) => {
    expect(isOwnCommand(hookCommand(program, 'claude'), 'claude')).toBe(true)
    expect(isOwnCommand(hookCommand(program, 'claude'), 'codex')).toBe(false)
    expect(isOwnCommand(`${hookCommand(program, 'claude')}\n./mine.sh`, 'claude')).toBe(false)
  })

  it.each([
    "'/x/assay'; 'rm hook --agent claude",
    '/bin/sh /x/assay hook --agent claude',
    '$HOME/assay hook --agent claude',
    '/x/assayer hook --agent claude',
    "'/x/'\"$(id)\"'/assay' hook --agent claude",
    undefined,
  ])('is not this: %s', (text) => {
    expect(isOwnCommand(text, 'claude')).toBe(false)
  })

  it('is known whatever the folder is called', () => {
    for (const folder of ['/a b', "/it's", '/$(id)', '/ü', '/a\nb'])
      expect(isOwnCommand(hookCommand(quoted(`${folder}/assay.mjs`), 'gemini'), 'gemini'), folder).toBe(true)
  })
})
