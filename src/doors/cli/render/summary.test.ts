import { describe, expect, it } from 'vitest'
import type { RunEnd } from '../../../engine/engine.ts'
import type { TaskRow } from '../../../engine/views/tasks.ts'
import type { Output } from '../output.ts'
import { summary } from './summary.ts'

const output = { columns: 200, paint: (_colour: string, text: string) => text } as unknown as Output
const row: TaskRow = {
  id: 'm-1/c',
  mission: 'm-1',
  title: 'C',
  assignee: 'dev',
  status: 'failed',
  priority: 1,
  bar: 3,
  attempt: 1,
  dependsOn: [],
  updated: '',
}

function shown(more: Partial<TaskRow>): string {
  const end: RunEnd = {
    stopped: false,
    exitCode: 1,
    outcome: 'failed',
    counts: { failed: 1 },
    rows: [{ ...row, ...more }],
    gates: [],
    missedThresholds: [],
    waivedThresholds: [],
    judging: { calls: 0, unpriced: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 } as RunEnd['judging'],
    awaited: [],
    requests: [],
    heldInputs: [],
    withheld: [],
  }
  return summary(output, ['m-1'], end)
}

const content = { concern: 'Nothing stands in the way.', score: { exact: '4/1', on5: 4, on100: 80 } }

describe('the top concern of a run', () => {
  it('about work that judges passed and that was ended all the same is what ended it', () => {
    const text = shown({ ...content, detail: 'owner stopped the mission: enough' })
    expect(text).toContain('Top concern (C 80 against the bar of 60): owner stopped the mission: enough')
    expect(text).not.toContain('Nothing stands in the way')
  })

  it('about work that they turned down is what they said', () => {
    const text = shown({ concern: 'Too thin.', score: { exact: '2/1', on5: 2, on100: 40 }, detail: 'the attempts are used up' })
    expect(text).toContain('Top concern (C 40 against the bar of 60): Too thin.')
  })
})
