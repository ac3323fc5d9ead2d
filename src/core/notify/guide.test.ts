import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { Config } from '../../contract/config/config.ts'
import { messageOf } from './message.ts'
import { noteOf } from './note.ts'
import { targetsOf } from './rules.ts'

const page = readFileSync(new URL('../../../docs/guides/notifications.md', import.meta.url), 'utf8')
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? ''

describe('docs/guides/notifications.md', () => {
  it('shows a configuration that is valid and has every kind of channel', () => {
    const config = Config.parse(parse(block('yaml')))
    expect(new Set(Object.values(config.notify.channels).map(({ kind }) => kind)).size).toBe(6)
    const told = targetsOf({ type: 'task.held', data: {} }, 'ship-it-1', config, []).map(({ channel }) => channel)
    expect(told).toEqual(['on-call', 'hook'])
  })

  it('shows a CloudEvent as it is posted', () => {
    const shown = JSON.parse(block('json'))
    const event = { stream: shown.subject, version: 2, type: 'quality.gate.failed', data: shown.data, at: shown.time }
    expect(messageOf(noteOf(event, shown.mission), 'webhook', shown.source).body).toEqual(shown)
  })
})
