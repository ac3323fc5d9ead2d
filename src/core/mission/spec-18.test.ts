import { describe, expect, it } from 'vitest'
import { formatProblem } from '../../contract/source/problem.ts'
import { TaskSpec } from '../../contract/task.ts'
import { Mission } from '../../contract/mission/mission.ts'
import { loadConfig } from '../config/load.ts'
import { usesUnbuilt } from '../config/unbuilt.ts'
import { loadMission } from './load.ts'

/** The two files of SPEC §18, as they stand. */
const assayYaml = `# assay.yaml
version: 1
brains:
  judge:  { kind: model, provider: openai-compatible, baseURL: http://127.0.0.1:4010/v1, model: any, apiKeyEnv: JUDGE_KEY }
  shell:  { kind: command, argv: [./worker.sh] }
  claude: { kind: agent, agent: claude }
  canned: { kind: scripted, file: brain.yaml }
agents:
  lead: { role: manager, brain: judge }
  dev:  { role: engineer, reportsTo: lead, brain: shell }
  qa:   { role: reviewer, brain: judge }
  qa2:  { role: reviewer, brain: judge, instructions: Look for what is missing. }
  qa3:  { role: reviewer, brain: judge, instructions: Try to break it. }
review: { threshold: 60, maxAttempts: 2, panel: { size: 3, mode: full } }
concurrency: 8
`
const missionYaml = `# mission.yaml
name: Build feature X
tasks:
  - { title: Implement core module, assignTo: dev, description: Write core.txt, acceptanceCriteria: [core.txt exists, it says hello], checks: [{ kind: file, path: core.txt }] }
  - { title: Write unit tests, assignTo: dev, dependsOn: [Implement core module], priority: 2.0, deadline: 2h }
qualityGates:
  - { name: code-review, afterTasks: [Implement core module], blocksTasks: [Write unit tests], minScore: 4.0, requireAllPassed: true }
qualityThreshold: 3.5
`

function loaded() {
  const config = loadConfig({ text: assayYaml, file: 'assay.yaml', env: {} })
  if (!config.ok) throw new Error(config.error.map(formatProblem).join('\n'))
  const mission = loadMission({ text: missionYaml, file: 'mission.yaml', config: config.value.config })
  if (!mission.ok) throw new Error(mission.error.map(formatProblem).join('\n'))
  return { config: config.value, mission: mission.value }
}

describe('the files of SPEC §18', () => {
  it('load: the configuration', () => {
    const { config, notices, origins } = loaded().config
    expect(config).toMatchObject({
      version: 1,
      concurrency: 8,
      review: { threshold: 60, maxAttempts: 2, panel: { size: 3, quorum: 2, mode: 'full' } },
    })
    expect(Object.keys(config.agents)).toEqual(['lead', 'dev', 'qa', 'qa2', 'qa3'])
    expect(notices.map(formatProblem)).toEqual([
      'assay.yaml:4:113: the variable `JUDGE_KEY` is not set: no key is sent for the brain `judge`',
    ])
    expect(origins).toMatchObject({
      'review.panel.mode': { source: 'file', name: 'assay.yaml:14:60' },
      'review.panel.quorum': { source: 'default' },
    })
  })

  it('say nothing about the key where it is set', () => {
    const result = loadConfig({ text: assayYaml, file: 'assay.yaml', env: { JUDGE_KEY: 'x' } })
    expect(result).toMatchObject({ ok: true, value: { notices: [] } })
  })

  it('load: the mission, every default resolved', () => {
    const { mission, tasks, notices } = loaded().mission
    const dimensions = loaded().config.config.review.dimensions
    const shared = {
      mission: 'build-feature-x',
      assignee: 'dev',
      dimensions,
      bar: 60,
      workspace: { kind: 'scratch' },
      expectsDiff: true,
      depth: 0,
    }
    expect(tasks).toEqual([
      {
        ...shared,
        id: 'build-feature-x/implement-core-module',
        title: 'Implement core module',
        description: 'Write core.txt',
        criteria: [
          { id: 'AC1', text: 'core.txt exists', hard: true },
          { id: 'AC2', text: 'it says hello', hard: true },
        ],
        checks: [{ kind: 'file', path: 'core.txt' }],
        dependsOn: [],
        priority: 1,
      },
      {
        ...shared,
        id: 'build-feature-x/write-unit-tests',
        title: 'Write unit tests',
        description: '',
        criteria: [],
        checks: [],
        dependsOn: ['build-feature-x/implement-core-module'],
        gates: ['code-review'],
        deadline: '2h',
        priority: 2,
      },
    ])
    expect(mission).toEqual({
      id: 'build-feature-x',
      name: 'Build feature X',
      gates: [
        {
          name: 'code-review',
          afterTasks: ['build-feature-x/implement-core-module'],
          blocksTasks: ['build-feature-x/write-unit-tests'],
          minScore: 4,
          requireAllPassed: true,
          notifyChannels: [],
        },
      ],
      qualityThreshold: 3.5,
      deadlines: { 'build-feature-x/write-unit-tests': '2h' },
      deliverables: {},
    })
    expect(notices).toEqual([])
    expect(tasks.every((task) => TaskSpec.safeParse(task).success)).toBe(true)
    expect(Mission.safeParse(mission).success).toBe(true)
  })

  it('are told, place by place, what this version cannot do yet', () => {
    const { config } = loaded()
    const problems = usesUnbuilt(config)
    expect(problems.every((problem) => problem.message.endsWith('not available in this version') && problem.line !== undefined)).toBe(true)
  })
})
