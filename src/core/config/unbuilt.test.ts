import { describe, expect, it } from 'vitest'
import { formatProblem } from '../../contract/source/problem.ts'
import { loadConfig } from './load.ts'
import { usesUnbuilt } from './unbuilt.ts'

const base = `brains:
  canned: { kind: scripted, file: b.yaml }
  shell: { kind: command, argv: [./w] }
  claude: { kind: agent, agent: claude }
agents:
  dev: { role: engineer, brain: shell }
  qa: { role: qa, brain: canned }
`

function unbuilt(configText: string): string[] {
  const config = loadConfig({ text: configText, file: 'assay.yaml' })
  if (!config.ok) throw new Error(config.error.map(formatProblem).join('\n'))
  return usesUnbuilt(config.value).map(formatProblem)
}

describe('usesUnbuilt', () => {
  it('has nothing against what the runtime can do, whatever does the thinking', () => {
    for (const config of [base, base.replace('brain: canned', 'brain: claude'), base.replace('brain: shell', 'brain: claude')])
      expect(unbuilt(config)).toEqual([])
  })

  it.each([
    [`${base}review: { canaries: 0.1 }\n`, 'assay.yaml:8:11: known-bad controls'],
    [`${base}review: { panel: { weights: calibrated } }\n`, 'assay.yaml:8:20: calibrated weights'],
  ])('tells of what it cannot do: %j', (config, expected) => {
    expect(unbuilt(config)).toEqual([`${expected}: not available in this version (leave it out)`])
  })
})
