import { describe, expect, it } from 'vitest'
import type { CheckReport } from '../../contract/check.ts'
import type { Decision, Feedback, LedgerEntry, PriorPoint } from '../../contract/review.ts'
import { lives } from '../../testing/task/lives.ts'
import type { TaskState } from '../task/state.ts'
import { feedbackOnDecision, feedbackOnEnding, visibleLedger } from './feedback.ts'

const decision = (overrides: Partial<Decision> = {}): Decision => ({
  outcome: 'reject',
  graded: true,
  parse_failed: false,
  bar: 60,
  dimensions: [],
  accepts: 0,
  rejects: 2,
  quorum: 2,
  degraded: false,
  category: 'weak_test',
  concern: 'The test tests nothing.',
  points: [{ from: 'qa', text: 'Test it.' }],
  pointers: ['a.test.ts:1'],
  vetoes: [],
  dissent: [],
  missing: [],
  ...overrides,
})

const entry = (overrides: Partial<LedgerEntry> = {}): LedgerEntry => ({
  entry: 1,
  attempt: 1,
  source: 'panel',
  outcome: 'reject',
  category: 'weak_test',
  concern: 'c',
  points: [],
  pointers: ['a.test.ts:1'],
  ...overrides,
})

const said = (...points: Omit<PriorPoint, 'ref'>[]): Feedback => ({
  category: null,
  summary: 's',
  points: points.map((point, index) => ({ ref: `P${index + 1}`, ...point })),
  reasoning: [{ dimension: 'correctness', judge: 'qa', text: 'wrong' }],
  checks: [],
  notes: ['a note'],
})

/** A task in review with this past. */
function past({ ledger = [], feedback }: { ledger?: LedgerEntry[]; feedback?: Feedback }): TaskState {
  return { ...lives.in_review().state, ledger, ...(feedback && { feedback }) }
}

const report = (id: string, outcome: CheckReport['outcome'], summary = 'why'): CheckReport => ({
  id,
  kind: 'file',
  outcome,
  summary,
  output: 'all of it',
  findings: [],
})
const texts = (feedback: Feedback) => feedback.points.map((point) => `${point.ref} ${point.source} ${point.from}: ${point.text}`)

describe('feedback on a decision', () => {
  it('has category, concern, numbered points and every judge’s reasoning per dimension', () => {
    const score = { exact: '2/1', on5: 2, on100: 40 }
    const reasoning = [
      { judge: 'qa', text: 'wrong' },
      { judge: 'qa2', text: 'very wrong' },
    ]
    const feedback = feedbackOnDecision(
      past({}),
      decision({
        points: [
          { from: 'qa', text: 'Test it.' },
          { from: 'qa2', text: 'Test it more.' },
        ],
        dimensions: [
          { name: 'correctness', score, setAside: [], reasoning },
          { name: 'style', score, setAside: [], reasoning: [{ judge: 'qa', text: 'fine' }] },
        ],
      }),
    )
    expect(feedback).toEqual({
      category: 'weak_test',
      summary: 'The test tests nothing.',
      points: [
        { ref: 'P1', source: 'judge', from: 'qa', text: 'Test it.' },
        { ref: 'P2', source: 'judge', from: 'qa2', text: 'Test it more.' },
      ],
      reasoning: [
        { dimension: 'correctness', judge: 'qa', text: 'wrong' },
        { dimension: 'correctness', judge: 'qa2', text: 'very wrong' },
        { dimension: 'style', judge: 'qa', text: 'fine' },
      ],
      checks: [],
      notes: [],
    })
  })

  it('replaces what was asked for before: the review answered it', () => {
    const feedback = said({ source: 'judge', from: 'qa', text: 'Add hello.' })
    expect(texts(feedbackOnDecision(past({ feedback }), decision()))).toEqual(['P1 judge qa: Test it.'])
  })

  it('keeps what was asked for before where no quorum graded: nobody answered it', () => {
    const feedback = said(
      { source: 'judge', from: 'qa', text: 'Add hello.' },
      { source: 'check', from: 'file-1', text: 'Check file-1 does not pass: gone' },
      { source: 'runtime', from: 'exit', text: 'exit 3' },
      { source: 'runtime', from: 'owner', text: 'Not like this.' },
    )
    const unread = decision({ graded: false, parse_failed: true, points: [{ from: 'runtime', text: 'No verdict.' }] })
    expect(texts(feedbackOnDecision(past({ feedback }), unread))).toEqual([
      'P1 judge qa: Add hello.',
      'P2 check file-1: Check file-1 does not pass: gone',
      'P3 runtime owner: Not like this.',
      'P4 runtime runtime: No verdict.',
    ])
  })

  it('says nothing twice', () => {
    const feedback = said(
      { source: 'judge', from: 'qa', text: 'Cannot tell AC1.' },
      { source: 'judge', from: 'qa2', text: 'Cannot tell AC1.' },
    )
    const again = decision({ graded: false, points: [{ from: 'qa', text: 'Cannot tell AC1.' }] })
    expect(texts(feedbackOnDecision(past({ feedback }), again))).toEqual([
      'P1 judge qa2: Cannot tell AC1.',
      'P2 judge qa: Cannot tell AC1.',
    ])
  })

  it('keeps a judge’s older point beside a new one of the same judge', () => {
    const feedback = said({ source: 'judge', from: 'qa', text: 'Add hello.' }, { source: 'judge', from: 'qa2', text: 'Cannot tell AC1.' })
    const points = [
      { from: 'qa', text: 'Cannot tell AC1.' },
      { from: 'qa2', text: 'Cannot tell AC1.' },
    ]
    expect(texts(feedbackOnDecision(past({ feedback }), decision({ graded: false, points })))).toEqual([
      'P1 judge qa: Add hello.',
      'P2 judge qa: Cannot tell AC1.',
      'P3 judge qa2: Cannot tell AC1.',
    ])
  })

  it('tells the owner’s points from the judges’', () => {
    expect(texts(feedbackOnDecision(past({}), decision({ points: [{ from: 'owner', text: 'No.' }] })))).toEqual(['P1 runtime owner: No.'])
  })

  it('notes that nobody could be read, and only then', () => {
    expect(feedbackOnDecision(past({}), decision({ parse_failed: true })).notes.join()).toContain('could be read')
    expect(feedbackOnDecision(past({}), decision()).notes).toEqual([])
  })

  it('notes each veto that stands', () => {
    const veto = { criterion: 'AC1', judge: 'qa', principal: 'p', review: 1, evidence: ['core.txt:1'] }
    const { notes } = feedbackOnDecision(past({}), decision({ vetoes: [veto, { ...veto, criterion: 'AC2', judge: 'qa2' }] }))
    expect(notes).toEqual([expect.stringMatching(/veto.*qa .*AC1/), expect.stringMatching(/veto.*qa2 .*AC2/)])
  })

  describe('a recurring category', () => {
    const now = entry({ entry: 9 })
    const notesWith = (...before: LedgerEntry[]) => feedbackOnDecision(past({ ledger: [...before, now] }), decision()).notes

    it('on the same surface is noted: the principle is missing', () => {
      expect(notesWith(entry())).toEqual([expect.stringMatching(/weak_test.*principle/)])
      expect(notesWith(entry({ pointers: ['b:2', 'a.test.ts:1'] }))).toHaveLength(1)
    })

    it('is looked for in the panel rejection before, whatever lies between', () => {
      expect(notesWith(entry(), entry({ source: 'mechanical', category: 'acceptance_gap', pointers: [] }))).toHaveLength(1)
      expect(notesWith(entry(), entry({ outcome: 'pass', category: null, pointers: [] }))).toHaveLength(1)
      expect(notesWith(entry(), entry({ source: 'unreadable' }))).toHaveLength(1)
      expect(notesWith(entry(), entry({ category: 'scope_creep' }))).toEqual([])
    })

    it.each([
      ['there is none before', []],
      ['the category differs', [entry({ category: 'half_finished' })]],
      ['the surface differs', [entry({ pointers: ['b.test.ts:1'] })]],
      ['nothing was pointed at', [entry({ pointers: [] })]],
      ['nobody could be read before', [entry({ source: 'unreadable' })]],
      ['it passed before', [entry({ outcome: 'pass' })]],
    ])('is not noted where %s', (_what, before) => {
      expect(notesWith(...before)).toEqual([])
    })

    it('is not noted without a category', () => {
      const ledger = [entry({ category: null }), entry({ category: null })]
      expect(feedbackOnDecision(past({ ledger }), decision({ category: null })).notes).toEqual([])
    })
  })
})

describe('feedback on an ending without a decision', () => {
  it('has each failed check as a point and in full, and no passed one', () => {
    const reports = [report('one', 'pass'), report('two', 'fail', 'no file'), report('three', 'error', 'time-out')]
    const feedback = feedbackOnEnding(undefined, { cause: 'rejected', detail: 'Checks do not pass.', reports })
    expect(feedback).toMatchObject({ category: 'acceptance_gap', summary: 'Checks do not pass.', reasoning: [], notes: [] })
    expect(texts(feedback)).toEqual([
      'P1 check two: Check two does not pass: no file',
      'P2 check three: Check three does not pass: time-out',
    ])
    expect(feedback.checks).toEqual([reports[1], reports[2]])
  })

  it('has the ending itself as the point where no check failed', () => {
    const feedback = feedbackOnEnding(undefined, { cause: 'timeout', detail: 'no answer in 90s', reports: [] })
    expect(feedback).toMatchObject({ category: null, checks: [] })
    expect(texts(feedback)).toEqual(['P1 runtime timeout: no answer in 90s'])
  })

  it('warns of partial effects after an interruption, and only then', () => {
    expect(feedbackOnEnding(undefined, { cause: 'interrupted', detail: 'd', reports: [] }).notes.join()).toContain('partial effects')
    expect(feedbackOnEnding(undefined, { cause: 'exit', detail: 'd', reports: [] }).notes).toEqual([])
  })

  it('keeps what judges, checks and the owner asked for: no review has answered it', () => {
    const before = said(
      { source: 'judge', from: 'qa', text: 'Add hello.' },
      { source: 'runtime', from: 'exit', text: 'exit 3' },
      { source: 'runtime', from: 'owner', text: 'Not like this.' },
      { source: 'check', from: 'one', text: 'Check one does not pass: old' },
      { source: 'check', from: 'two', text: 'Check two does not pass: old' },
    )
    const feedback = feedbackOnEnding(before, { cause: 'rejected', detail: 'd', reports: [report('two', 'fail', 'new')] })
    expect(texts(feedback)).toEqual([
      'P1 judge qa: Add hello.',
      'P2 runtime owner: Not like this.',
      'P3 check one: Check one does not pass: old',
      'P4 check two: Check two does not pass: new',
    ])
    expect(feedback.reasoning).toEqual(before.reasoning)
    expect(feedback.notes).toEqual([])
  })
})

describe('the ledger that both sides see', () => {
  it('is the last entries, oldest first', () => {
    const ledger = [1, 2, 3].map((number) => entry({ entry: number }))
    expect(visibleLedger(ledger, 2).map((one) => one.entry)).toEqual([2, 3])
    expect(visibleLedger(ledger, 5).map((one) => one.entry)).toEqual([1, 2, 3])
  })
})
