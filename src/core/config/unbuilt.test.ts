import { describe, expect, it } from 'vitest'
import { formatProblem } from '../../contract/source/problem.ts'
import { loadMission } from '../mission/load.ts'
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

function unbuilt(configText: string, missionText: string): string[] {
  const config = loadConfig({ text: configText, file: 'assay.yaml' })
  if (!config.ok) throw new Error(config.error.map(formatProblem).join('\n'))
  const mission = loadMission({ text: missionText, file: 'mission.yaml', config: config.value.config })
  if (!mission.ok) throw new Error(mission.error.map(formatProblem).join('\n'))
  return usesUnbuilt(mission.value, config.value).map(formatProblem)
}

const plain =
  'name: M\ntasks:\n  - { title: a, assignTo: dev, checks: [{ kind: file, path: x }, { kind: text, contains: [y] }, { kind: command, argv: [z] }] }\n'

describe('usesUnbuilt', () => {
  it('has nothing against what the runtime can do, whatever does the thinking', () => {
    for (const config of [base, base.replace('brain: canned', 'brain: claude'), base.replace('brain: shell', 'brain: claude')])
      expect(unbuilt(config, plain)).toEqual([])
  })

  it.each([
    [base, 'name: M\ntasks:\n  - { title: a, assignTo: dev, deliverable: x }\n', 'mission.yaml:3:32: a deliverable'],
    [`${base}review: { canaries: 0.1 }\n`, plain, 'assay.yaml:8:11: known-bad controls'],
    [`${base}review: { panel: { weights: calibrated } }\n`, plain, 'assay.yaml:8:20: calibrated weights'],
  ])('tells of what it cannot do: %j %j', (config, mission, expected) => {
    expect(unbuilt(config, mission)).toEqual([`${expected}: not available in this version (leave it out)`])
  })
})
