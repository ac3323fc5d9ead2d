import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { Brains } from '../../../contract/agent.ts'
import { LimitSettings } from '../../../contract/config/limits.ts'
import { findCredentials } from './credentials.ts'
import type { ModelBrain } from './provider.ts'

const guide = readFileSync(new URL('../../../../docs/guides/model-brain.md', import.meta.url), 'utf8')

it('the guide configures brains that open, with the keys that it names', () => {
  const { brains } = parse(/```yaml\n([\s\S]*?)```/.exec(guide)?.[1] ?? '') as { brains: unknown }
  const named = Object.entries(Brains.parse(brains))
  expect(named).toHaveLength(4)
  const env = Object.fromEntries(guide.match(/[A-Z_]+_KEY/g)?.map((name) => [name, 'some-key']) ?? [])
  for (const [name, brain] of named)
    expect(findCredentials(name, brain as ModelBrain, env)).toEqual({ ok: true, value: { key: 'some-key' } })
})

it('the guide names limits that exist', () => {
  const limits = Object.keys(LimitSettings.parse({ attemptCost: 1 }))
  const named = [...guide.matchAll(/`limits\.(\w+)`/g)].map((match) => match[1] as string)
  expect(named.length).toBeGreaterThan(4)
  expect(named.filter((name) => !limits.includes(name))).toEqual([])
})
