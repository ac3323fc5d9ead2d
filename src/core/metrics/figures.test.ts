import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import { rational } from '../score/exact.ts'
import { scoreOf } from '../score/score.ts'
import { JudgeTotals, WorkTotals } from './figures.ts'
import { foldMission, missionTypes } from './fold-mission.ts'
import { countsForTask, foldTask } from './fold-task.ts'
import { ownOf } from './score-sum.ts'
import type { MissionSums, TaskSums } from './task-sums.ts'

type Said = [type: string, data?: object, seconds?: number]

const on = (n: number, d = 1) => scoreOf(rational(n, d))
const created: Said = ['task.created', { spec: { assignee: 'dev', dimensions: [{ name: 'right' }, { name: 'whole' }] } }]
const started: Said = ['attempt.started', {}]
const submitted = (digest = 'a'): Said => ['case.submitted', { content: { digest } }]
const opened = (review = 1, content = 'a', seconds = 0): Said => ['review.opened', { review, subject: { content } }, seconds]
const asked = (judge: string, because = 'opening'): Said => ['seat.asked', { judge, because }]
const accepted = (flag = 'clean', content: string | null = 'a'): Said => ['task.accepted', { flag, content }]
const overruled = (outcome: 'pass' | 'fail'): Said => ['task.overruled', { outcome }]

function verdict(judge: string, accepts: boolean, more: { review?: number; score?: number; usage?: object; reused?: object } = {}): Said {
  const { review = 1, score = accepts ? 4 : 2, usage, reused } = more
  const dimensions = [
    { name: 'right', score },
    { name: 'whole', score },
  ]
  const sitting = { judge, outcome: 'graded', accepts, score: on(score), verdict: { dimensions }, ...(usage && { usage }) }
  return ['verdict.recorded', { review, sitting, ...(reused && { reused }) }]
}

function decided(outcome: 'pass' | 'reject', more: { review?: number; score?: number; graded?: boolean; seconds?: number } = {}): Said {
  const { review = 1, score, graded = true, seconds = 0 } = more
  const dimensions = score === undefined ? [] : [{ name: 'right', score: on(score) }]
  return [
    'review.decided',
    { review, decision: { outcome, graded, dimensions, ...(score !== undefined && { score: on(score) }) } },
    seconds,
  ]
}

const stored = ([type, data = {}, seconds = 0]: Said, index: number): StoredEvent => ({
  position: index + 1,
  stream: 'task/m/t',
  version: index + 1,
  type,
  v: 1,
  data,
  meta: { at: new Date(1_700_000_000_000 + seconds * 1000).toISOString(), actor: 'runtime' },
  prev: '',
  hash: '',
})

function fold(...said: Said[]): TaskSums {
  let row: TaskSums | undefined
  for (const [index, one] of [created, ...said].entries()) {
    const event = stored(one, index)
    if (countsForTask(event)) row = foldTask(row, event, { task: 'm/t', mission: 'm' })
  }
  if (!row) throw new Error('no row')
  return row
}

function work(...said: Said[]) {
  const totals = new WorkTotals()
  totals.add(fold(...said))
  return totals.figures
}

function judging(judge: string, ...said: Said[]) {
  const totals = new JudgeTotals()
  const sums = ownOf(fold(...said).judges, judge)
  if (sums) totals.add(sums)
  return totals.figures
}

describe('of a task are counted', () => {
  it('nothing before anything happened, with null for what cannot be known', () => {
    expect(work()).toMatchObject({
      tasks: 1,
      totalAssessments: 0,
      avgScore: null,
      minScore: null,
      maxScore: null,
      dimensionScores: {},
      totalRetries: 0,
      firstPassYield: { count: 0, of: 0, rate: null },
      avgTimeInReviewMs: null,
      judgeAgreement: { rate: null },
      lastScores: [],
    })
  })

  it('nothing at all of a task that was never created', () => {
    expect(foldTask(undefined, stored(started, 0), { task: 'm/t', mission: 'm' })).toBeUndefined()
  })

  it('assessments: decided reviews, those passed, those scored, and their scores exactly', () => {
    const figures = work(
      opened(1),
      decided('reject', { score: 2 }),
      opened(2),
      decided('reject', { review: 2, graded: false }),
      opened(3),
      decided('pass', { review: 3, score: 5 }),
      opened(4),
      ['review.abandoned', { review: 4 }],
    )
    expect(figures).toMatchObject({ totalAssessments: 3, passedAssessments: 1, scoredAssessments: 2 })
    expect(figures).toMatchObject({ avgScore: on(7, 2), minScore: on(2), maxScore: on(5), dimensionScores: { right: on(7, 2) } })
    expect(figures.lastScores).toEqual([2, 5])
  })

  it('retries: executions after the first, however they ended', () => {
    expect(work(started).totalRetries).toBe(0)
    expect(work(started, ['attempt.failed'], started, started).totalRetries).toBe(2)
  })

  it('fixes: what is handed in again within an attempt, unreadable cases too', () => {
    expect(work(started, submitted(), started, submitted()).totalFixes).toBe(0)
    expect(work(started, submitted(), submitted(), submitted()).totalFixes).toBe(2)
    expect(work(started, ['case.parse_error'], submitted(), started, ['case.parse_error']).totalFixes).toBe(1)
  })

  it('deadlines met and missed, and force-accepts', () => {
    expect(work(['sla.met'], ['sla.violated'])).toMatchObject({ deadlinesMet: 1, deadlinesMissed: 1 })
    expect(work(['task.force_accepted', { content: 'a' }]).forceAccepts).toBe(1)
  })

  it('time in review: from opening to decision; a clock set back counts as none', () => {
    const figures = work(
      opened(1, 'a', 10),
      decided('reject', { seconds: 13 }),
      opened(2, 'a', 20),
      decided('pass', { review: 2, seconds: 21 }),
    )
    expect(figures).toMatchObject({ timeInReviewMs: 4000, avgTimeInReviewMs: 2000 })
    expect(work(opened(1, 'a', 10), decided('pass', { seconds: 3 })).timeInReviewMs).toBe(0)
    expect(work(opened(1, 'a', 0), opened(2, 'a', 5), decided('pass', { review: 2, seconds: 6 })).timeInReviewMs).toBe(1000)
  })
})

describe('the first pass', () => {
  const yielded = (...said: Said[]) => work(...said).firstPassYield

  it('is a clean accept with nothing rejected before, settled once', () => {
    expect(yielded(started, opened(), decided('pass'), accepted())).toEqual({ count: 1, of: 1, rate: 1 })
    expect(yielded(started, accepted(), ['task.reopened'], started, opened(), decided('reject'))).toEqual({ count: 1, of: 1, rate: 1 })
  })

  it.each<[string, Said]>([
    ['a rejected review', decided('reject')],
    ['a rejection by code', ['attempt.rejected']],
    ['a failure', ['attempt.failed']],
    ['an interruption', ['attempt.interrupted']],
    ['a merge that failed', ['merge.failed']],
    ['a force-accept', ['task.force_accepted', { content: 'a' }]],
    ['an accept by the owner', accepted('owner-accepted')],
    ['a failed task', ['task.failed']],
  ])('is missed by %s, whatever comes later', (_name, said) => {
    expect(yielded(started, said, started, accepted())).toEqual({ count: 0, of: 1, rate: 0 })
  })

  it('is open where nothing ran, and where nobody reviewed', () => {
    expect(yielded(['task.failed']).of).toBe(0)
    expect(yielded(started, accepted('unreviewed')).of).toBe(0)
  })
})

describe('of a judge are counted', () => {
  it('verdicts with their scores, per dimension too; abstentions without', () => {
    const abstained: Said = ['verdict.recorded', { review: 1, sitting: { judge: 'qa', outcome: 'abstained', accepts: false } }]
    const figures = judging('qa', opened(), verdict('qa', true, { score: 5 }), verdict('qa', false, { score: 2 }), abstained)
    expect(figures).toMatchObject({ totalAssessments: 3, passedAssessments: 1, scoredAssessments: 2, abstained: 1 })
    expect(figures).toMatchObject({ avgScore: on(7, 2), minScore: on(2), maxScore: on(5), lastScores: [5, 2] })
    expect(figures.dimensionScores).toEqual({ right: on(7, 2), whole: on(7, 2) })
  })

  it("a text judge's one score for every dimension in force", () => {
    const sitting = { judge: 'qa', outcome: 'graded', accepts: true, score: on(18, 5), text: { score100: '72', feedback: '' } }
    const said: Said = ['verdict.recorded', { review: 1, sitting }]
    expect(judging('qa', said).dimensionScores).toEqual({ right: on(18, 5), whole: on(18, 5) })
    const adopted: Said = ['policy.adopted', { dimensions: [{ name: 'new' }] }]
    expect(judging('qa', adopted, said).dimensionScores).toEqual({ new: on(18, 5) })
  })

  it('asks again, unreadable replies and absences', () => {
    const figures = judging(
      'qa',
      asked('qa'),
      ['task.eval.unparsed', { judge: 'qa' }],
      asked('qa', 'reprompt'),
      ['judge.unavailable', { judge: 'qa' }],
      asked('qa', 'retry'),
      asked('qa', 'replacement'),
    )
    expect(figures).toMatchObject({ unreadableVerdicts: 1, unavailable: 1, totalRetries: 1, totalFixes: 1, judging: { calls: 2 } })
  })

  it('every call with its tokens and cost, failed ones too, but none that was remembered', () => {
    const usage = { inputTokens: 10, outputTokens: 2, costUsd: 0.1 }
    const said: Said[] = [
      verdict('qa', true, { usage }),
      verdict('qa', true, { reused: { task: 'm/u', review: 1 } }),
      ['task.eval.unparsed', { judge: 'qa', usage }],
      ['judge.unavailable', { judge: 'qa', usage: { inputTokens: 5 } }],
      verdict('other', true, { usage }),
    ]
    expect(judging('qa', ...said).judging).toEqual({ calls: 3, unpriced: 1, inputTokens: 25, outputTokens: 4, costUsd: 0.2 })
    expect(work(...said).judging).toEqual({ calls: 4, unpriced: 1, inputTokens: 35, outputTokens: 6, costUsd: 0.3 })
    expect(work(...said).unreadableVerdicts).toBe(1)
  })

  it('agreement with the decision of its panel, where the decision is graded', () => {
    const said = [opened(), verdict('qa', true), verdict('ada', true), verdict('bob', false), decided('pass')]
    expect(judging('qa', ...said).judgeAgreement).toEqual({ count: 1, of: 1, rate: 1 })
    expect(judging('bob', ...said).judgeAgreement).toEqual({ count: 0, of: 1, rate: 0 })
    expect(work(...said).judgeAgreement).toMatchObject({ count: 2, of: 3 })
    expect(judging('qa', opened(), verdict('qa', true), decided('reject', { graded: false })).judgeAgreement.of).toBe(0)
    expect(
      judging('qa', opened(), verdict('qa', true), ['review.abandoned'], opened(2), decided('pass', { review: 2 })).judgeAgreement.of,
    ).toBe(0)
    expect(judging('qa', opened(2), verdict('qa', true, { review: 1 }), decided('pass', { review: 2 })).judgeAgreement.of).toBe(0)
  })
})

describe('overrules', () => {
  const turned = (judge: string, ...said: Said[]) => judging(judge, ...said).overruleRate
  const split = [submitted(), opened(), verdict('yes', true), verdict('no', false)]

  it('count against the verdicts that said otherwise', () => {
    const rejected = [...split, decided('reject'), overruled('pass')]
    expect([turned('yes', ...rejected), turned('no', ...rejected)]).toMatchObject([{ count: 0 }, { count: 1, of: 1, rate: 1 }])
    const passed = [...split, decided('pass'), accepted(), overruled('fail')]
    expect([turned('yes', ...passed), turned('no', ...passed)]).toMatchObject([{ count: 1 }, { count: 0 }])
    expect(work(...passed).overruleRate).toEqual({ count: 1, of: 2, rate: 0.5 })
  })

  it('count a verdict once, however often the owner turns it', () => {
    const twice = [
      ...split,
      decided('pass'),
      accepted(),
      overruled('fail'),
      ['task.reopened'] as Said,
      started,
      submitted(),
      accepted(),
      overruled('fail'),
    ]
    expect(turned('yes', ...twice)).toMatchObject({ count: 1, of: 1 })
    expect(turned('no', ...twice, overruled('pass'))).toMatchObject({ count: 1, of: 1 })
  })

  it('are about the work at hand: what was accepted, else what was submitted last', () => {
    const unjudged = [...split, decided('reject'), started, submitted('b'), overruled('pass')]
    expect(turned('no', ...unjudged).count).toBe(0)
    expect(turned('no', ...split, decided('reject'), started, overruled('pass')).count).toBe(0)
    const restored: Said[] = [
      ...split,
      decided('reject'),
      started,
      submitted('b'),
      ['task.force_accepted', { content: 'a' }],
      overruled('pass'),
    ]
    expect(turned('no', ...restored).count).toBe(1)
    for (const ending of ['task.reopened', 'task.failed', 'merge.requested'])
      expect(turned('no', ...restored.slice(0, -1), [ending], overruled('pass')).count).toBe(0)
    expect(turned('no', ...restored.slice(0, -1), accepted('owner-accepted', null), overruled('pass')).count).toBe(0)
    const merged: Said[] = [
      submitted('z'),
      ['merge.changed', { content: { digest: 'a' } }],
      ...split.slice(1),
      decided('reject'),
      overruled('pass'),
    ]
    expect(turned('no', ...merged).count).toBe(1)
  })

  it('are about the latest decision on it', () => {
    const again = [
      ...split,
      decided('reject'),
      opened(2),
      verdict('no', true, { review: 2 }),
      decided('pass', { review: 2 }),
      overruled('fail'),
    ]
    expect(turned('no', ...again)).toMatchObject({ count: 1, of: 2 })
    expect(turned('yes', ...again)).toMatchObject({ count: 0, of: 1 })
  })
})

it('of a mission itself, waived gates and thresholds are bypasses, and its deadline counts with those of its tasks', () => {
  let row: MissionSums | undefined
  for (const type of ['gate.waived', 'threshold.waived', 'sla.met', 'sla.violated', 'sla.violated']) {
    expect([...missionTypes]).toContain(type)
    row = foldMission(row, stored([type], 0), 'm')
  }
  expect(row).toEqual({ mission: 'm', bypasses: 2, deadlinesMet: 1, deadlinesMissed: 2 })
  const totals = new WorkTotals()
  totals.add(fold(['sla.met']))
  if (row) totals.addMission(row)
  expect(totals.figures).toMatchObject({ tasks: 1, bypasses: 2, deadlinesMet: 2, deadlinesMissed: 2 })
})
