import { describe, expect, it } from 'vitest'
import { Statement } from '../../contract/attest/statement.ts'
import { digestOf } from '../../contract/canonical.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import type { Submission } from '../../contract/deliverable/deliverable.ts'
import type { History } from '../../testing/task/given.ts'
import { lives, readied, rejected } from '../../testing/task/lives.ts'
import { rulesWith } from '../../testing/task/world.ts'
import type { DeliverableState } from '../gate/deliverable.ts'
import type { TaskState } from '../task/state.ts'
import { deliverableDecision, type PlacedEvent, taskDecision } from './decision.ts'
import { statementOf } from './statement.ts'

const placed = ({ events }: History): PlacedEvent[] => events.map((event) => ({ event, at: '2026-11-16T05:00:00.000Z' }))
const decided = (life: History) => taskDecision(life.state, placed(life))
const head = { stream: 'task/mission/task', version: 9, hash: '0'.repeat(64), position: 12 }
const snapshot = { files: [{ path: 'core.txt', digest: digestOf('core') }], refused: [] }

describe('what is attested of a task', () => {
  it.each([
    ['done: clean', 'PASSED', 'clean'],
    ['done: below-threshold', 'WARNED', 'below-threshold'],
    ['done: unreviewed', 'WARNED', 'unreviewed'],
    ['done: owner-accepted', 'WARNED', 'owner-accepted'],
  ] as const)('%s: %s', (name, result, flag) => {
    const facts = decided(lives[name]())
    if (!facts.ok) throw new Error(facts.error.message)
    const statement = statementOf({ ...facts.value, decision: { ...facts.value.decision, policyAccepted: true } }, snapshot, head)
    expect(statement.predicate).toMatchObject({ result, assay: { flag, head, content: digestOf('one') } })
    expect(Statement.parse(JSON.parse(JSON.stringify(statement)))).toEqual(statement)
    expect(statement.subject.map((one) => one.name)).toEqual(['core.txt', 'assay:output'])
  })

  it('a task that failed with work says FAILED', () => {
    const facts = decided(rejected(readied(rulesWith({ maxAttempts: 1, onExhausted: 'fail' })), 'one'))
    expect(facts.ok && statementOf(facts.value, snapshot, head).predicate.result).toBe('FAILED')
  })

  it.each(Object.keys(lives).filter((name) => !name.startsWith('done') && !name.startsWith('failed') && name !== 'skipped'))(
    '%s: there is no decision yet',
    (name) => {
      expect(decided(lives[name as keyof typeof lives]())).toMatchObject({ ok: false, error: { code: 'undecided' } })
    },
  )

  it('what was accepted without a review has no judges, score or terms of an earlier review of the same content', () => {
    const life = lives['done: clean']()
    const [accepted] = life.events.filter(({ type }) => type === 'task.accepted')
    const again = { ...accepted, data: { ...accepted?.data, flag: 'unreviewed', score: undefined, why: 'evaluation is off' } } as AssayEvent
    const events = [...placed(life), { event: again, at: '2026-11-16T06:00:00.000Z' }]
    const state = { ...life.state, done: { flag: 'unreviewed', content: life.state.done?.content ?? null } } as TaskState
    const facts = taskDecision(state, events)
    if (!facts.ok) throw new Error(facts.error.message)
    const { judges, score, bound, flag } = facts.value.decision
    expect({ judges, score, bound, flag }).toEqual({ judges: [], score: undefined, bound: undefined, flag: 'unreviewed' })
  })

  it('names judges, criteria that they found met, and what the verdicts are bound to', () => {
    const life = lives['done: clean']()
    const facts = decided(life)
    if (!facts.ok) throw new Error(facts.error.message)
    const { subject } = life.last('review.opened')
    expect(facts.value.decision.bound).toEqual(subject)
    expect(facts.value.decision.judges.map(({ outcome }) => outcome)).toEqual(['accepts', 'accepts'])
    const { passedTests, configuration } = statementOf(facts.value, snapshot, head).predicate
    expect(passedTests).toEqual(['AC1: core.txt exists', 'AC2: it says hello'])
    expect(configuration.map(({ digest }) => `sha256:${digest?.sha256}`)).toEqual([subject.policy, subject.criteria, subject.rubric])
  })
})

describe('what is attested of a deliverable', () => {
  const version = (life: History, more: Partial<Submission> = {}): DeliverableState => ({
    deliverable: 'report',
    producer: 'dev',
    latest: {
      submission: 1,
      kind: 'file',
      title: 'The report',
      producer: 'dev',
      task: 'mission/task',
      subject: { content: digestOf('one'), criteria: 'c', rubric: 'r', policy: life.state.policy },
      snapshot: digestOf('released'),
      digest: digestOf('bytes'),
      ...more,
    },
    bypasses: [],
    requests: 0,
  })
  const bypass = {
    deliverable: 'report',
    digest: digestOf('bytes'),
    until: '2027-01-01T00:00:00Z',
    byAgent: false,
    by: 'eva',
    reason: 'urgent',
  }

  const looked = { now: Date.parse('2026-11-01T00:00:00Z'), waivedAt: () => '2026-10-31T00:00:00Z' }

  it('is what the task decided on exactly its content, with the files that are handed over', () => {
    const life = lives['done: clean']()
    const facts = deliverableDecision(version(life), life.state, placed(life), looked)
    if (!facts.ok) throw new Error(facts.error.message)
    expect(facts.value.decision).toMatchObject({
      kind: 'deliverable',
      id: 'report',
      task: 'mission/task',
      flag: 'clean',
      snapshot: digestOf('released'),
    })
    expect(statementOf(facts.value, snapshot, head).subject.map(({ name }) => name)).toEqual(['core.txt'])
  })

  it('is nothing for other content, or while it is open', () => {
    const life = lives['done: clean']()
    const other = { subject: { content: digestOf('two'), criteria: 'c', rubric: 'r', policy: 'p' } }
    expect(deliverableDecision(version(life, other), life.state, placed(life), looked)).toMatchObject({
      ok: false,
      error: { code: 'undecided' },
    })
    const open = lives.in_review()
    expect(deliverableDecision(version(open), open.state, placed(open), looked)).toMatchObject({ ok: false, error: { code: 'undecided' } })
  })

  it('says bypassed where the review of exactly these bytes was waived, and only then', () => {
    const open = lives.in_review()
    const waived = { ...version(open), bypasses: [bypass] }
    const facts = deliverableDecision(waived, open.state, placed(open), looked)
    if (!facts.ok) throw new Error(facts.error.message)
    expect(statementOf(facts.value, snapshot, head).predicate).toMatchObject({
      result: 'WARNED',
      assay: { flag: 'bypassed', why: 'review waived by eva: urgent', expires: bypass.until, decidedAt: looked.waivedAt() },
    })
    const others = { ...waived, bypasses: [{ ...bypass, digest: digestOf('other bytes') }] }
    expect(deliverableDecision(others, open.state, placed(open), looked)).toMatchObject({ ok: false, error: { code: 'undecided' } })
    const later = { ...looked, now: Date.parse(bypass.until) }
    expect(deliverableDecision(waived, open.state, placed(open), later)).toMatchObject({ ok: false, error: { code: 'undecided' } })
    const clean = lives['done: clean']()
    const over = { ...version(clean, { expires: new Date(looked.now - 1).toISOString() }), bypasses: [bypass] }
    const waivedLater = deliverableDecision(over, clean.state, placed(clean), looked)
    expect(waivedLater, 'its verdict has expired, the waiver has not').toMatchObject({
      value: { decision: { flag: 'bypassed', expires: bypass.until } },
    })
    const passed = deliverableDecision({ ...version(clean), bypasses: [bypass] }, clean.state, placed(clean), looked)
    expect(passed.ok && passed.value.decision.flag).toBe('clean')
  })

  it('is nothing once the owner has freed the id', () => {
    const clean = lives['done: clean']()
    const freed = { ...version(clean), freed: { by: 'eva', reason: 'wrong' } }
    expect(deliverableDecision(freed, clean.state, placed(clean), looked)).toMatchObject({ ok: false, error: { code: 'nothing' } })
  })
})
