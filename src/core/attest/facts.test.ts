import { describe, expect, it } from 'vitest'
import { digestOf, sha256Hex } from '../../contract/canonical.ts'
import type { History } from '../../testing/task/given.ts'
import { answer, garble, lives, lose, readied, rejected } from '../../testing/task/lives.ts'
import { attemptUpToReview, checks, created, openSeats, opine, reply, start, submit } from '../../testing/task/steps.ts'
import { rulesWith } from '../../testing/task/world.ts'
import type { DeliverableState } from '../gate/deliverable.ts'
import { type DecisionFacts, deliverableDecision, type PlacedEvent, taskDecision } from './decision.ts'
import { resultOf, statementOf } from './statement.ts'

/** The n-th event happened in the n-th second. */
const placed = ({ events }: History): PlacedEvent[] => events.map((event, n) => ({ event, at: `second ${n + 1}` }))
const head = { stream: 's', version: 1, hash: 'h', position: 1 }

function factsOf(life: History): DecisionFacts {
  const facts = taskDecision(life.state, placed(life))
  if (!facts.ok) throw new Error(facts.error.message)
  return facts.value
}

const full = { panel: { mode: 'full' as const } }
const checked = { checks: [{ kind: 'file' as const, path: 'core.txt' }] }

/** One attempt with a check, whose three judges do as told. */
function judged(...opinions: Parameters<typeof opine>[2][]): History {
  const task = created(rulesWith({ ...full, maxAttempts: 1 }), checked).when(start())
  task.when(submit(task.state, 'one'))
  task.when(checks(task.state))
  for (const [index, opinion] of opinions.entries()) task.when(opine(task.state, index + 1, opinion))
  return task
}

describe('the facts of a decision', () => {
  it('are everything that it rests on', () => {
    const task = judged({ accept: true }, { accept: true }, { accept: false, score: 3 })
    const { spec, done } = task.state
    const { decision } = task.last('review.decided')
    const { decision: told, content, answers } = factsOf(task)
    expect(told).toEqual({
      version: 1,
      kind: 'task',
      id: 'mission/task',
      title: 'Write the core',
      producer: 'dev',
      flag: 'clean',
      why: task.last('task.accepted').why,
      score: done?.score,
      bar: 60,
      bound: task.last('review.opened').subject,
      policy: task.state.policy,
      content: digestOf('one'),
      snapshot: digestOf('one'),
      criteria: spec.criteria,
      dimensions: spec.dimensions.map(({ name, weight }) => ({
        name,
        weight,
        score: decision.dimensions.find((one) => one.name === name)?.score,
      })),
      judges: ['qa', 'qa2', 'qa3'].map((judge, at) => ({
        judge,
        principal: expect.stringMatching(/^sha256:/),
        outcome: at === 2 ? 'rejects' : 'accepts',
        score: expect.objectContaining({ on5: at === 2 ? 3 : 4 }),
        concern: expect.stringMatching(/\w/),
      })),
      quorum: decision.quorum,
      degraded: decision.degraded,
      checks: [{ id: 'file-1', kind: 'file', outcome: 'pass', summary: 'pass' }],
      vetoes: [],
      decidedAt: `second ${task.events.length}`,
    })
    expect(told.dimensions.every(({ score }) => score !== undefined)).toBe(true)
    expect(content).toEqual(task.state.contents[digestOf('one')])
    expect(answers.slice(0, 2)).toEqual([
      { criterion: 'AC1', judge: 'qa', met: 'yes' },
      { criterion: 'AC2', judge: 'qa', met: 'yes' },
    ])
    expect(answers).toHaveLength(6)
  })

  it('have the vetoes of the decision, and why it was taken below the bar', () => {
    const task = judged({ accept: false, met: { AC1: 'no' }, evidence: ['core.txt:1'] }, { accept: true }, { accept: true })
    const { decision } = factsOf(task)
    expect(decision.vetoes).toMatchObject([{ criterion: 'AC1', judge: 'qa' }])
    expect(decision).toMatchObject({ flag: 'below-threshold', why: expect.stringMatching(/^accepted below the bar: \w/) })
    expect(decision.decidedAt).toBe(`second ${task.events.findIndex(({ type }) => type === 'task.force_accepted') + 1}`)
  })

  it('say why it failed, and of what; without any work there is nothing to say', () => {
    const failed = lives.failed()
    expect(factsOf(failed).decision).toMatchObject({ flag: 'failed', why: failed.last('task.failed').reason, content: digestOf('one') })
    const nothing = readied(rulesWith()).when({ type: 'fail_task', reason: 'late' })
    expect(taskDecision(nothing.state, placed(nothing))).toEqual({
      ok: false,
      error: { code: 'nothing', message: expect.stringContaining('mission/task') },
    })
    const open = lives.in_review()
    expect(taskDecision(open.state, placed(open))).toEqual({
      ok: false,
      error: { code: 'undecided', message: expect.stringMatching(/mission\/task is in_review/) },
    })
  })

  it('name judges that abstained, could not be read or could not be reached', () => {
    const outcomes = (task: History) => {
      answer(task, 'accept')
      return factsOf(task).decision.judges.map(({ judge, outcome, principal }) => [judge, outcome, principal === ''])
    }
    const unread = outcomes(garble(attemptUpToReview(readied(rulesWith({ onUnreadable: 'hold' })), 'one')))
    expect(unread.length).toBeGreaterThan(1)
    expect(unread.every(([, outcome, nameless]) => outcome === 'unreadable' && nameless)).toBe(true)
    const lost = outcomes(lose(attemptUpToReview(readied(rulesWith()), 'one')))
    expect(lost.every(([, outcome, nameless]) => outcome === 'unavailable' && nameless)).toBe(true)
    expect(lost.length).toBeGreaterThan(1)
    const unsure = judged({ accept: true }, { accept: true }, { accept: false, met: { AC1: 'cannot_tell' } })
    expect(factsOf(unsure).decision.judges.at(-1)).toMatchObject({ judge: 'qa3', outcome: 'abstained' })
  })

  it('are those of the last review of exactly this content that decided', () => {
    const task = rejected(readied(rulesWith({ ...full, maxAttempts: 2, onExhausted: 'fail' })), 'one', { score: 2, evidence: ['a:1'] })
    rejected(task, 'two', { score: 1, evidence: ['b:1'] })
    const { decision } = factsOf(task)
    expect(decision).toMatchObject({ content: digestOf('two'), score: { on5: 1 } })
    expect(decision.judges).toHaveLength(3)
    expect(decision.bound?.content).toBe(digestOf('two'))
  })

  it('are few where nobody reviewed', () => {
    const { decision, answers } = factsOf(lives['done: unreviewed']())
    for (const key of ['bound', 'score', 'quorum', 'degraded']) expect(decision).not.toHaveProperty(key)
    expect(decision).toMatchObject({ judges: [], vetoes: [], checks: [], policy: lives['done: unreviewed']().state.policy })
    expect(decision.dimensions[0]).not.toHaveProperty('score')
    expect(answers).toEqual([])
  })

  it('have what the checks of exactly this content found, failed ones too', () => {
    const task = created(rulesWith({ maxAttempts: 1, onExhausted: 'fail' }), checked).when(start())
    task.when(submit(task.state, 'one'))
    task.when(checks(task.state, ['fail']))
    expect(factsOf(task).decision).toMatchObject({ flag: 'failed', checks: [{ id: 'file-1', outcome: 'fail' }], judges: [] })
    const [first, ...rest] = placed(task)
    const elsewhere = { event: { ...task.latest[0], type: 'checks.passed', data: { content: 'other', reports: [] } } as never, at: 'late' }
    const told = taskDecision(task.state, [first as PlacedEvent, ...rest, elsewhere])
    expect(told.ok && told.value.decision.checks).toMatchObject([{ outcome: 'fail' }])
  })

  it('of a text judge have its words', () => {
    const shellJudge = { qa: { role: 'reviewer', brain: 'shell' }, dev: { role: 'engineer', brain: 'judge' } }
    const task = attemptUpToReview(created(rulesWith({}, shellJudge)), 'one')
    for (const seat of openSeats(task.state)) task.when(reply(task.state, seat, 'Quite good.\nSCORE: 90'))
    expect(factsOf(task).decision.judges[0]).toMatchObject({
      judge: 'qa',
      outcome: 'accepts',
      concern: expect.stringContaining('Quite good'),
    })
  })
})

describe('the facts of a waived review', () => {
  it('name who waived it and why, over a review that did not pass; other bytes are not waived', () => {
    const life = lives.failed()
    const subject = { content: digestOf('one'), criteria: 'c', rubric: 'r', policy: 'p' }
    const state: DeliverableState = {
      deliverable: 'report',
      producer: 'ana',
      latest: {
        submission: 1,
        kind: 'file',
        title: 'The report',
        producer: 'ana',
        task: 'mission/task',
        subject,
        snapshot: digestOf('released'),
        digest: 'd',
      },
      bypasses: [],
      requests: 0,
    }
    const waiver = { deliverable: 'report', digest: 'd', until: '2027-01-01T00:00:00Z', byAgent: false, by: 'eva', reason: 'urgent' }
    const told = (bypasses: (typeof waiver)[], more: Partial<DeliverableState['latest']> = {}) => {
      const facts = deliverableDecision({ ...state, latest: { ...state.latest, ...more }, bypasses }, life.state, placed(life), {
        now: 0,
        waivedAt: () => 'when it was waived',
      })
      return facts.ok ? facts.value : facts.error
    }
    expect(told([])).toMatchObject({
      decision: { kind: 'deliverable', id: 'report', title: 'The report', producer: 'ana', flag: 'failed' },
    })
    const waived = told([{ ...waiver, reason: 'first' }, waiver]) as DecisionFacts
    expect(waived.decision).toMatchObject({
      kind: 'deliverable',
      id: 'report',
      flag: 'bypassed',
      why: 'review waived by eva: urgent',
      snapshot: digestOf('released'),
      score: { on5: 2 },
      decidedAt: 'when it was waived',
      expires: waiver.until,
    })
    expect(told([{ ...waiver, digest: 'other' }])).toMatchObject({ decision: { flag: 'failed' } })
    const unknown = told([waiver], { subject: { ...subject, content: 'x' } }) as DecisionFacts
    expect(unknown.content).toEqual({ digest: 'x', snapshot: digestOf('released') })
    expect(told([], { subject: { ...subject, content: 'x' } })).toEqual({
      code: 'undecided',
      message: expect.stringMatching(/^report: .*mission\/task/),
    })
  })
})

describe('a statement', () => {
  const facts = (met: DecisionFacts['answers'], more: Partial<DecisionFacts['decision']> = {}) => {
    const { decision, content } = factsOf(lives['done: clean']())
    return { decision: { ...decision, ...more }, content, answers: met }
  }
  const none = { files: [], refused: [] }
  const met = (criterion: string, judge: string, said: 'yes' | 'no' | 'cannot_tell') => ({ criterion, judge, met: said })

  it.each([
    ['clean', 'PASSED'],
    ['failed', 'FAILED'],
    ['below-threshold', 'WARNED'],
    ['unreviewed', 'WARNED'],
    ['owner-accepted', 'WARNED'],
    ['bypassed', 'WARNED'],
  ] as const)('of work that is %s says %s', (flag, result) => {
    expect(resultOf({ flag, policyAccepted: true })).toBe(result)
  })

  it('of clean work says WARNED where nobody says that the owner accepted the policy', () => {
    expect(resultOf({ flag: 'clean', policyAccepted: false })).toBe('WARNED')
    expect(resultOf({ flag: 'clean' })).toBe('WARNED')
    expect(resultOf({ flag: 'failed', policyAccepted: false })).toBe('FAILED')
  })

  it('tells criteria apart by what judges answered, and checks by what they found', () => {
    const found = [
      { id: 'c1', kind: 'file', outcome: 'pass', summary: '' },
      { id: 'c2', kind: 'file', outcome: 'error', summary: '' },
    ] as DecisionFacts['decision']['checks']
    const tests = (...answers: DecisionFacts['answers']) => {
      const { passedTests, warnedTests, failedTests } = statementOf(facts(answers, { checks: found }), none, head).predicate
      return { passedTests, warnedTests, failedTests }
    }
    expect(tests(met('AC1', 'qa', 'yes'), met('AC1', 'qa2', 'yes'), met('AC2', 'qa', 'no'))).toEqual({
      passedTests: ['AC1: core.txt exists', 'check:c1'],
      warnedTests: [],
      failedTests: ['AC2: it says hello', 'check:c2'],
    })
    expect(tests(met('AC1', 'qa', 'yes'), met('AC1', 'qa2', 'no')).warnedTests).toEqual(['AC1: core.txt exists', 'AC2: it says hello'])
    expect(tests(met('AC2', 'qa', 'cannot_tell')).warnedTests).toHaveLength(2)
  })

  it('names files, the output and what the decision is bound to by their digests', () => {
    const given = facts([])
    const snapshot = { files: [{ path: 'a.txt', digest: 'sha256:aa' }], refused: [{ path: 'link', why: 'a link' }] }
    const statement = statementOf(given, snapshot, head)
    expect(statement.subject).toEqual([
      { name: 'a.txt', digest: { sha256: 'aa' } },
      { name: 'assay:output', digest: { sha256: sha256Hex('one') } },
    ])
    const { bound } = given.decision
    expect(statement.predicate.configuration).toEqual(
      [
        ['policy', given.decision.policy],
        ['criteria', bound?.criteria],
        ['rubric', bound?.rubric],
      ].map(([name, digest]) => ({ name, digest: { sha256: digest?.replace('sha256:', '') } })),
    )
    expect(statement.predicate.assay).toEqual({ ...given.decision, refused: snapshot.refused, head })
    const { bound: _bound, ...unbound } = given.decision
    const few = statementOf({ ...given, decision: unbound, content: { ...given.content, output: ' \n' } }, none, head)
    expect(few.subject).toEqual([])
    expect(few.predicate.configuration.map(({ name }) => name)).toEqual(['policy'])
    const { output: _output, ...silent } = given.content
    expect(statementOf({ ...given, content: silent }, none, head).subject).toEqual([])
  })
})
