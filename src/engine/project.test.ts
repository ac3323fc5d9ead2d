import { describe, expect, it } from 'vitest'
import { Config } from '../contract/config/config.ts'
import { policyDigest } from '../core/policy/policy.ts'
import { judgingBrains, policyOf } from './project.ts'

const digestOf = (config: object) => policyDigest(policyOf(Config.parse(config)))

describe('a policy', () => {
  it('is another one where judges or checks see less, or through another browser', () => {
    const plain = digestOf({})
    const others = [
      { limits: { promptBytes: 1024 } },
      { limits: { judgeTurns: 1 } },
      { limits: { outputBytes: 1024 } },
      { chrome: './chrome' },
    ]
    expect(new Set([plain, ...others.map(digestOf)]).size).toBe(others.length + 1)
  })

  it('is another one where something else ends a task, or a turn of a worker may cost more', () => {
    const others = [{ sla: { violationAction: 'fail' } }, { limits: { attemptCost: 5 } }, { limits: { attemptTurns: 5 } }]
    expect(new Set([digestOf({}), ...others.map(digestOf)]).size).toBe(others.length + 1)
  })

  it('is the same whatever time and room there is', () => {
    expect(
      digestOf({
        concurrency: 3,
        sla: { checkIntervalMs: 100, warningThreshold: 0.5 },
        limits: { attemptTimeout: '1m', judgeRequest: '30s' },
      }),
    ).toBe(digestOf({}))
  })

  it('covers the script of everybody who may come to judge, and programs of judges alone', () => {
    const scripted = (file: string) => ({ kind: 'scripted', file })
    const command = { kind: 'command', argv: ['./x.sh'] }
    const brains = { boss: scripted('boss.yaml'), peer: scripted('peer.yaml'), tool: command, eyes: command, idle: scripted('idle.yaml') }
    const agents = {
      boss: { role: 'manager', brain: 'boss' },
      ana: { role: 'writer', brain: 'peer', reportsTo: 'boss' },
      bob: { role: 'writer', brain: 'tool' },
      eve: { role: 'reviewer', brain: 'eyes' },
    }
    expect(judgingBrains(Config.parse({ brains, agents }))).toEqual(['boss', 'peer', 'eyes'])
  })
})
