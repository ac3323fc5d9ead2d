import { describe, expect, it } from 'vitest'
import { formatProblem } from '../../contract/source/problem.ts'
import { loadConfig } from './load.ts'

const problems = (text: string) => {
  const loaded = loadConfig({ text, file: 'assay.yaml', env: {} })
  return loaded.ok ? [] : loaded.error.map(formatProblem)
}

describe('a configuration that is wrong in several ways', () => {
  it('is told of rules beside its shape', () => {
    const found = problems(`brains: { s: { kind: scripted, file: b.yaml } }
agents: { dev: { role: engineer, brain: t } }
concurrency: 0
sla: { warningChannels: [gone] }
notify: { rules: [{ events: ["*"], channels: [nowhere] }] }
`)
    expect(found).toEqual([
      expect.stringMatching(/^assay\.yaml:2:\d+: .*"t"/),
      expect.stringMatching(/^assay\.yaml:3:\d+: `concurrency`/),
      expect.stringMatching(/^assay\.yaml:4:\d+: the channel `gone` is not declared/),
      expect.stringMatching(/^assay\.yaml:5:\d+: the channel `nowhere` is not declared/),
    ])
  })

  it('is told of channels that nobody declares where notifications are written wrongly, too', () => {
    const found = problems(`sla: { violationChannels: [ops, gone, 7], violationAction: shout }
notify:
  channels: { ops: { kind: pigeon } }
  rules: [{ events: ["*"], channels: [ops, opss], cooldown: soon }, 3, { events: ["*"], channels: ops }]
`).join('\n')
    expect(found).toMatch(/assay\.yaml:1:\d+: the channel `gone` is not declared/)
    expect(found).toMatch(/assay\.yaml:4:\d+: the channel `opss` is not declared under notify\.channels \(did you mean `ops`\?\)/)
    expect(found.match(/is not declared/g)).toHaveLength(2)
  })

  it('is told nothing that follows from a section that could not be read', () => {
    const found = problems('brains: { s: { kind: telepathy } }\nagents: { dev: { role: engineer, brain: s } }\n')
    expect(found).toEqual([expect.stringMatching(/^assay\.yaml:1:\d+: .*kind/)])
  })
})
