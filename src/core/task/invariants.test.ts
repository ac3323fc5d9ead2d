import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AssayEvent, EventOf } from '../../contract/events/manifest.ts'
import { digestOf } from '../../contract/canonical.ts'
import { eventSchemas } from '../../contract/events/manifest.ts'
import type { TaskCommand } from '../../contract/commands/task.ts'
import type { History } from '../../testing/task/given.ts'
import { arbitraryRules, arbitrarySpec, arbitrarySteps, playHistory, playLateHistory } from '../../testing/task/random-history.ts'
import { freshNonce } from '../../testing/task/steps.ts'
import { principalOf } from '../routing/principal.ts'
import { compare } from '../score/exact.ts'
import { barOf, exactOf } from '../score/score.ts'
import { decide } from './decide.ts'
import { evolveAll } from './evolve/evolve.ts'

const runs = Number(process.env.ASSAY_PROPERTY_RUNS ?? 500)

/** Plays many random lives and hands each finished history to the check. */
function everyHistory(
  check: (history: History) => void,
  { visit, ...fixed }: { seed?: number; numRuns?: number; visit?: (history: History) => void } = {},
): void {
  fc.assert(
    fc.property(arbitraryRules, arbitrarySpec, arbitrarySteps, fc.boolean(), (rules, spec, steps, late) => {
      const see = (_before: unknown, history: History) => visit?.(history)
      check(late ? playLateHistory(rules, steps, see) : playHistory(rules, spec, steps, see))
    }),
    { numRuns: runs, ...fixed },
  )
}

const of = <T extends AssayEvent['type']>(history: History, type: T) =>
  history.events.filter((event): event is EventOf<T> & AssayEvent => event.type === type)

describe('over random histories', () => {
  it('the generator reaches every kind of event that a task can have', () => {
    const seen = new Set<string>()
    everyHistory(
      (history) => {
        for (const event of history.events) seen.add(event.type)
      },
      { seed: 20261115, numRuns: 2000 },
    )
    const elsewhere =
      /^(mission|folder|deliverable|bypass|release|card|session|gate|quality|threshold|sla|clock|notification|owner|key)\.|^policy\.(recorded|accepted)$/
    expect(Object.keys(eventSchemas).filter((type) => !seen.has(type) && !elsewhere.test(type))).toEqual([])
  })

  it('every emitted event fits its schema', () => {
    everyHistory((history) => {
      for (const event of history.events) expect(eventSchemas[event.type].safeParse(event.data).error, event.type).toBeUndefined()
    })
  })

  it('a clean accept is never below the bar, never without quorum, never over a standing veto, never by a minority', () => {
    everyHistory((history) => {
      for (const [index, event] of history.events.entries()) {
        if (event.type !== 'task.accepted' || event.data.flag !== 'clean') continue
        const before = history.events.slice(0, index)
        const last = before.findLast((one) => one.type === 'decision.reused' || (one.type === 'review.decided' && one.data.decision.graded))
        const review = last?.type === 'decision.reused' || last?.type === 'review.decided' ? last.data.review : 0
        const decided = of(history, 'review.decided').find((one) => one.data.review === review)
        if (!decided) throw new Error('a clean accept without a graded decision')
        const state = evolveAll(undefined, before)
        const { decision } = decided.data
        expect(decision.outcome).toBe('pass')
        if (!decision.score || !state) throw new Error('a clean accept without a score')
        expect(compare(exactOf(decision.score), barOf(state.spec.bar))).toBeGreaterThanOrEqual(0)
        expect(decision.accepts + decision.rejects).toBeGreaterThanOrEqual(decision.quorum)
        expect(decision.accepts).toBeGreaterThan(decision.rejects)
        if (history.rulesAt(index).policy.review.panel.veto === 'evidence') expect(state.vetoes).toEqual([])
        expect(event.data.content).toBe(state.current?.content?.digest)
      }
    })
  })

  it('nobody judges own work under any name', () => {
    everyHistory((history) => {
      const authors = new Set(['dev'])
      for (const [index, { type, data }] of history.events.entries()) {
        const { agents, brains } = history.rulesAt(index).policy
        const who = (name: string) => principalOf(name, { agents, brains })
        const byAuthor = (judge: string) => [...authors].some((name) => agents[name] && who(name) === who(judge))
        if (type === 'attempt.started') for (const name of [data.worker, ...data.participants]) authors.add(name)
        if (type === 'attempt.joined') authors.add(data.participant)
        if (type === 'seat.asked') expect(byAuthor(data.judge)).toBe(false)
        if (type === 'verdict.recorded') expect(byAuthor(data.sitting.judge)).toBe(false)
      }
    })
  })

  it('charged attempts never exceed the maximum plus the grants', () => {
    everyHistory((history) => {
      const granted = of(history, 'attempts.granted').reduce((sum, event) => sum + event.data.count, 0)
      const begun =
        of(history, 'attempt.started').length -
        of(history, 'attempt.stopped').length -
        of(history, 'merge.failed').filter((event) => !event.data.charged).length
      expect(history.state.charged).toBe(begun)
      const allowed = Math.max(...history.eras.map(({ rules }) => rules.policy.review.maxAttempts))
      expect(begun).toBeLessThanOrEqual(allowed + granted)
    })
  })

  it('every force-accept has a graded decision on exactly that content and asks the operator', () => {
    everyHistory((history) => {
      for (const [index, event] of history.events.entries()) {
        if (event.type !== 'task.force_accepted') continue
        const before = evolveAll(undefined, history.events.slice(0, index))
        const graded = before?.decided.findLast((one) => one.subject.content === event.data.content && one.decision.graded)
        expect(graded?.decision.outcome).toBe('reject')
        expect(graded?.decision.score).toEqual(event.data.score)
        expect(history.events[index + 1]?.type).toBe('operator.requested')
      }
    })
  })

  it('a task ends at most once between two reopenings', () => {
    const endings = ['task.accepted', 'task.force_accepted', 'task.failed', 'task.skipped']
    everyHistory((history) => {
      let open = true
      for (const event of history.events) {
        if (['task.reopened', 'task.overruled', 'input.reopened'].includes(event.type)) open = true
        if (!endings.includes(event.type)) continue
        expect(open, `${event.type} after an ending`).toBe(true)
        open = false
      }
    })
  })

  it('no graded quorum, no pass: unreadable, abstained, void and unavailable never count as accepts', () => {
    everyHistory((history) => {
      for (const { data } of of(history, 'review.decided')) {
        const sittings = of(history, 'verdict.recorded').filter(
          (event) => event.data.review === data.review && event.data.sitting.outcome === 'graded',
        )
        const principals = new Set(sittings.map((event) => event.data.sitting.principal))
        expect(data.decision.accepts + data.decision.rejects).toBeLessThanOrEqual(principals.size)
        if (data.decision.outcome === 'pass') expect(principals.size).toBeGreaterThanOrEqual(data.decision.quorum)
        if (data.decision.parse_failed) expect(data.decision.outcome).toBe('reject')
      }
    })
  })

  it('replaying the journal gives the same state twice', () => {
    everyHistory((history) => {
      const replayed = evolveAll(undefined, structuredClone(history.events))
      expect(replayed).toEqual(evolveAll(undefined, history.events))
      expect(replayed).toEqual(history.state)
    })
  })

  it('what is reviewed, taken or accepted is shown with the case of its own attempt', () => {
    everyHistory((history) => {
      const submitted = new Map<string, Set<string>>()
      for (const [index, event] of history.events.entries()) {
        if (event.type === 'case.submitted') {
          const { attempt, submission } = event.data
          const key = `${attempt}/${submission}`
          submitted.set(key, (submitted.get(key) ?? new Set()).add(digestOf(event.data.case)))
        }
        if (event.type === 'review.opened') {
          const { attempt, submission, caseDigest } = event.data
          expect([...(submitted.get(`${attempt}/${submission}`) ?? [])]).toContain(caseDigest)
        }
        if (event.type !== 'task.accepted' && event.type !== 'task.force_accepted') continue
        const after = evolveAll(undefined, history.events.slice(0, index + 1))
        if (event.data.content === null) continue
        expect(after?.current).toMatchObject({ attempt: event.data.attempt, content: { digest: event.data.content } })
        expect(after?.current?.case).toBeDefined()
      }
    })
  })

  it('every state on the way has a way out', () => {
    everyHistory(() => {}, { visit: (history) => expect(wayOut(history), JSON.stringify(placeOf(history))).toBe(true) })
  })
})

const placeOf = ({ state: { status, hold, charged, granted } }: History) => ({ status, hold, charged, granted })

/** Whether something can happen to the task: the runtime owes it an answer, or somebody's command would be decided. */
function wayOut({ state, inForce }: History): boolean {
  if (['done', 'failed', 'skipped', 'checking'].includes(state.status)) return true
  if (state.status === 'in_review')
    return (
      state.restoring !== undefined || state.merging !== undefined || state.panel?.seats.some((seat) => seat.status === 'asked') === true
    )
  const exits: TaskCommand[] = [
    {
      type: 'ready_task',
      inputs: state.spec.dependsOn.map((task) => ({ task, digest: 'd', flag: 'clean', prefix: '' })),
      gates: state.spec.gates ?? [],
    },
    { type: 'start_attempt', worker: 'dev', conversational: false, participants: [], sandboxed: true },
    { type: 'interrupt_attempt', attempt: Math.max(1, state.attempts), detail: 'crash' },
    ...state.requests.flatMap((one) =>
      one.answers.map((answer) => ({
        type: 'answer_request' as const,
        request: one.request,
        answer,
        by: 'owner',
        reason: 'r',
        nonce: freshNonce(),
      })),
    ),
  ]
  return exits.some((command) => decide(state, command, inForce).ok)
}
