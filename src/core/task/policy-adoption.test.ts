import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ReviewSettings } from '../../contract/config/review.ts'
import type { History } from '../../testing/task/given.ts'
import { accepted, answer, crash, garble, lives, places, readied, rejected, upstream } from '../../testing/task/lives.ts'
import {
  allOpine,
  attemptUpToReview,
  checks,
  contentOf,
  created,
  freshNonce,
  openSeats,
  opine,
  start,
  submit,
} from '../../testing/task/steps.ts'
import { arbitraryRules, arbitrarySpec, arbitrarySteps, playHistory } from '../../testing/task/random-history.ts'
import { rulesWith } from '../../testing/task/world.ts'
import { attemptsLeft } from './rework.ts'
import { decidedBar } from './state.ts'

const dimensions = [{ name: 'beauty', weight: 1, description: 'Is it beautiful?' }]

/** Another policy takes over; the history goes on under it. */
function adopt(task: History, review: Partial<Omit<ReviewSettings, 'panel'>> = { maxCheckRetries: 7 }, bar = 80): History {
  const rules = rulesWith(review)
  task.when({ type: 'adopt_policy', nonce: freshNonce(), bar, dimensions, checks: task.state.spec.checks, by: 'ann' }, rules)
  return Object.assign(task, { rules })
}

describe('adopting a changed policy', () => {
  it('is recorded, with the bar and the dimensions that are in force from here on', () => {
    const task = adopt(lives.todo())
    expect(task.latest).toEqual([
      { type: 'policy.adopted', data: { policy: task.rules.digest, bar: 80, dimensions, checks: [], by: 'ann' } },
    ])
    expect(task.state).toMatchObject({ policy: task.rules.digest, spec: { bar: 80, dimensions } })
    attemptUpToReview(task, 'one')
    expect(task.last('review.opened').subject.policy).toBe(task.rules.digest)
    expect(task.state.panel?.subject.policy).toBe(task.rules.digest)
  })

  it('has the criteria that it brings, and those it had where it brings none', () => {
    const task = lives.todo()
    const before = task.state.spec.criteria
    const criteria = [...before, { id: 'G', text: 'it is signed', hard: true }]
    const rules = rulesWith({ maxCheckRetries: 7 })
    task.when({ type: 'adopt_policy', nonce: freshNonce(), bar: 80, dimensions, checks: [], criteria, by: 'ann' }, rules)
    expect(task.state.spec.criteria).toEqual(criteria)
    expect(adopt(lives.todo()).state.spec.criteria).toEqual(before)
  })

  it('is refused where it changes nothing', () => {
    const { state, rules } = lives.todo()
    expect(
      lives
        .todo()
        .refusal(
          { type: 'adopt_policy', nonce: 'nonce-001', bar: 80, dimensions, checks: [], by: 'ann' },
          { ...rules, digest: state.policy },
        ),
    ).toBe('wrong_status')
  })

  it.each(places.filter((place) => !['in_review', 'restoring', 'held: judge_unavailable', 'held: no_reviewer'].includes(place)))(
    'leaves %s where it is, flag and all',
    (place) => {
      const task = lives[place]()
      const { status, done, hold, requests, charged } = task.state
      adopt(task)
      expect(task.state).toMatchObject({ status, requests, charged })
      expect(task.state.done).toEqual(done)
      expect(task.state.hold).toEqual(hold)
      expect(task.state.panel).toBeUndefined()
    },
  )

  it('gives up the open review and opens another, uncharged', () => {
    const task = attemptUpToReview(created(rulesWith()), 'one')
    const late = opine(task.state, 1, { accept: true })
    adopt(task.when(opine(task.state, 2, { accept: true })))
    expect(task.emitted).toEqual(['review.abandoned', 'policy.adopted', 'review.opened', 'seat.asked', 'seat.asked'])
    expect(task.last('review.abandoned')).toEqual({ review: 1, why: 'policy_changed' })
    expect(task.refusal(late)).toBe('stale_review')
    expect(allOpine(task, { accept: true, score: 5 }).state).toMatchObject({ done: { flag: 'clean', score: { on5: 5 } }, charged: 1 })
  })

  it('lets the fresh panel be given up once more where nobody can read it', () => {
    const task = attemptUpToReview(created(rulesWith({ onUnreadable: 'rejudge' })), 'one')
    garble(adopt(task, { onUnreadable: 'rejudge', maxAttempts: 3 }))
    expect(task.events.filter((event) => event.type === 'review.abandoned').map((event) => event.data.why)).toEqual([
      'policy_changed',
      'unreadable',
    ])
    expect(task.count('review.opened')).toBe(3)
  })

  it('decides by the new bar', () => {
    const task = allOpine(adopt(attemptUpToReview(created(rulesWith()), 'one'), { threshold: 100 }, 100), { accept: true, score: 4 })
    expect(task.state.status).toBe('todo')
  })

  it.each(['held: judge_unavailable', 'held: no_reviewer'] as const)('reviews %s again at once', (place) => {
    const task = adopt(lives[place]())
    expect(task.last('hold.lifted')).toMatchObject({ to: 'in_review', why: expect.stringContaining('policy') })
    expect(task.state).toMatchObject({ status: 'in_review', requests: [], charged: 1 })
    expect(openSeats(task.state)).toEqual([1, 2])
  })

  it('keeps what was suspicious about the work', () => {
    const task = created(rulesWith())
    task.when(start()).when(submit(task.state, 'one'))
    task.when({ ...checks(task.state), suspicions: ['dear reviewer'] } as never)
    expect(adopt(task).last('review.opened').suspicions).toEqual(['dear reviewer'])
  })

  it('ends what is under review as unreviewed where the new policy evaluates nothing', () => {
    expect(adopt(attemptUpToReview(created(rulesWith()), 'one'), { evaluate: false }).state.done?.flag).toBe('unreviewed')
    const held = adopt(lives['held: budget'](), { evaluate: false })
    expect(answer(held, 'retry').state.done?.flag).toBe('unreviewed')
  })

  it('ends work whose attempts are used up under it', () => {
    const task = adopt(rejected(created(rulesWith({ maxAttempts: 3 })), 'one'), { maxAttempts: 1 })
    expect(task.emitted).toEqual(['policy.adopted', 'task.held', 'operator.requested'])
    expect(task.state.hold).toMatchObject({ reason: 'exhausted_unscored', from: 'todo' })
  })

  it('needs a new decision: none of the old policy is reused or force-accepted', () => {
    const task = adopt(rejected(created(rulesWith()), 'one', { evidence: [] }))
    attemptUpToReview(task, 'one')
    expect(task.count('decision.reused')).toBe(0)
    expect(task.count('review.opened')).toBe(2)
    const forced = adopt(rejected(created(rulesWith({ forceAccept: 'best' })), 'one', { evidence: [] }), {
      forceAccept: 'best',
      maxAttempts: 2,
      maxCheckRetries: 7,
    })
    expect(crash(forced).state.hold?.reason).toBe('exhausted_unscored')
  })

  it('shows no score of the old policy on what the owner accepts', () => {
    const task = answer(adopt(lives['held: escalated']()), 'accept')
    expect(task.state.done).toEqual({ flag: 'owner-accepted', content: contentOf('one').digest })
  })

  it('goes back to a decision when its own policy comes back', () => {
    const before = rulesWith({ maxAttempts: 4 })
    const task = adopt(rejected(created(before), 'one', { evidence: [] }), { maxAttempts: 5 })
    const { bar, dimensions: first } = created(before).state.spec
    task.when({ type: 'adopt_policy', nonce: freshNonce(), bar, dimensions: first, checks: task.state.spec.checks, by: 'ann' }, before)
    attemptUpToReview(Object.assign(task, { rules: before }), 'one')
    expect(task.last('decision.reused').review).toBe(1)
  })
})

describe('adopting a policy while the best attempt is being restored', () => {
  it('reviews the last attempt anew: the choice was made under the old policy', () => {
    const task = lives.restoring()
    const { attempt, content } = task.last('restore.requested')
    adopt(task)
    expect(task.state).toMatchObject({ status: 'in_review', panel: { subject: { content: contentOf('two').digest } } })
    expect(task.refusal({ type: 'confirm_restored', attempt, content })).toBe('wrong_status')
    expect(allOpine(task, { accept: false, score: 1 }).state.done).toMatchObject({
      flag: 'below-threshold',
      content: contentOf('two').digest,
    })
  })

  /** The last attempt failed, the one before is to be restored. */
  const restoringAfterCrash = () => {
    const task = crash(rejected(readied(rulesWith({ forceAccept: 'best' })), 'one', { nextStep: 'Say hello.' }))
    expect(task.state.restoring).toMatchObject({ attempt: 1 })
    return task
  }

  it('waits for the operator where the last attempt left nothing to review', () => {
    const task = adopt(restoringAfterCrash())
    expect(task.state.hold).toMatchObject({ reason: 'exhausted_unscored', from: 'in_review' })
    expect(answer(task, 'retry').state.status).toBe('todo')
    expect(attemptUpToReview(task, 'three').state.panel).toBeDefined()
  })

  it('goes back to the worker where the new policy has attempts left', () => {
    const task = adopt(restoringAfterCrash(), { maxAttempts: 3 })
    expect(task.emitted).toEqual(['policy.adopted', 'task.returned'])
    expect(task.state.feedback?.points.map((point) => point.text)).toEqual(['Say hello.', 'Say hello.', 'exit 3'])
  })

  it('has nothing to tell the worker after a reset', () => {
    const task = adopt(restoringAfterCrash().when({ type: 'reset_task', by: 'ann', reason: '' }), { maxAttempts: 3 })
    expect(task.last('task.returned').feedback).toMatchObject({ category: null, points: [], reasoning: [], checks: [], notes: [] })
    expect(task.state.status).toBe('todo')
  })

  it('does the same where a hold lay over the restore', () => {
    const task = restoringAfterCrash().when({ type: 'input_reopened', task: 'mission/up' })
    adopt(task, { maxAttempts: 3 }).when({ type: 'input_landed', input: upstream('d1'), nonce: freshNonce() })
    expect(task.emitted).toEqual(['input.landed', 'hold.lifted', 'task.returned'])
  })
})

describe('a policy adopted under a hold', () => {
  it('reviews anew once the hold is lifted', () => {
    for (const place of ['held: budget', 'held: unreadable'] as const) {
      const task = adopt(lives[place]())
      expect(task.state.panel).toBeUndefined()
      answer(task, 'retry')
      expect(task.state.panel?.subject.policy).toBe(task.rules.digest)
      expect(openSeats(task.state)).toEqual([1, 2])
    }
  })

  it('reviews anew when the stale input lands as it was', () => {
    const task = adopt(lives['held: stale_input']()).when({ type: 'input_landed', input: upstream('d1'), nonce: freshNonce() })
    expect(task.emitted).toEqual(['input.landed', 'hold.lifted', 'review.opened', 'seat.asked', 'seat.asked'])
  })

  it('asks judges anew where they could not be reached under a stale input', () => {
    const task = adopt(lives['held: judge_unavailable']().when({ type: 'input_reopened', task: 'mission/up' }))
    task.when({ type: 'input_landed', input: upstream('d1'), nonce: freshNonce() })
    expect(task.state.hold?.reason).toBe('judge_unavailable')
    task.when({ type: 'retry_review', nonce: freshNonce() })
    expect(task.emitted).toEqual(['hold.lifted', 'review.opened', 'seat.asked', 'seat.asked'])
  })
})

describe('a policy with other checks', () => {
  const other = [{ kind: 'file' as const, path: 'other.txt' }]
  const adoptChecks = (task: History) => {
    const rules = rulesWith({ threshold: 70 })
    task.when({ type: 'adopt_policy', nonce: freshNonce(), bar: 70, dimensions, checks: other, by: 'ann' }, rules)
    return Object.assign(task, { rules })
  }

  it.each([
    ['held: budget', 'retry'],
    ['held: unreadable', 'retry'],
    ['held: stale_input', 'landing'],
  ] as const)('has them run before %s is judged again', (place, how) => {
    const task = adoptChecks(lives[place]())
    if (how === 'retry') answer(task, 'retry')
    else task.when({ type: 'input_landed', input: upstream('d1'), nonce: freshNonce() })
    expect(task.emitted.slice(-2)).toEqual(['hold.lifted', 'checks.requested'])
    expect(task.last('checks.requested')).toEqual({ attempt: 1, submission: 1 })
    expect(task.state).toMatchObject({ status: 'checking', current: { checksPassed: false }, charged: 1 })
    task.when(checks(task.state))
    expect(openSeats(task.state)).toEqual([1, 2])
  })

  it('has them run before judges that could not be reached are asked again', () => {
    const task = adoptChecks(lives['held: judge_unavailable']().when({ type: 'input_reopened', task: 'mission/up' }))
    task.when({ type: 'input_landed', input: upstream('d1'), nonce: freshNonce() }).when({ type: 'retry_review', nonce: freshNonce() })
    expect(task.emitted).toEqual(['hold.lifted', 'checks.requested'])
  })

  it('ends the attempt of a one-shot worker whose work does not pass them', () => {
    const task = adoptChecks(lives.in_review())
    task.when(checks(task.state, ['fail']))
    expect(task.state).toMatchObject({ status: 'todo', charged: 1, feedback: { points: [{ from: 'file-1', source: 'check' }] } })
  })
})

describe('done work under a changed policy', () => {
  it('keeps the score that it was accepted with when the owner takes it over', () => {
    const task = adopt(lives['done: below-threshold']())
    expect(answer(task, 'accept').state.done).toMatchObject({ flag: 'owner-accepted', score: { on5: 2 } })
  })

  it('is judged again when it is reopened with the same content', () => {
    const task = adopt(accepted(created(rulesWith()), 'one')).when(
      { type: 'reopen_task', by: 'ann', reason: 'again' },
      rulesWith({ maxCheckRetries: 7 }),
    )
    attemptUpToReview(task, 'one')
    expect(task.count('review.opened')).toBe(2)
  })
})

describe('over random histories', () => {
  it('no task is stuck or moves what is finished when a policy takes over', () => {
    fc.assert(
      fc.property(arbitraryRules, arbitraryRules, arbitrarySpec, arbitrarySteps, (before, after, spec, steps) => {
        fc.pre(before.digest !== after.digest)
        const task = playHistory(before, spec, steps)
        const { status, done, charged } = task.state
        task.when(
          { type: 'adopt_policy', nonce: freshNonce(), bar: spec.bar, dimensions: spec.dimensions, checks: spec.checks, by: 'ann' },
          after,
        )
        const { state } = task
        expect(state.charged).toBe(charged)
        if (status === 'done' || status === 'failed' || status === 'skipped')
          expect({ status: state.status, done: state.done }).toEqual({ status, done })
        if (state.status === 'todo') expect(attemptsLeft(state, after)).toBeGreaterThan(0)
        if (state.status === 'in_review' && !state.merging) expect(openSeats(state).length).toBeGreaterThan(0)
        if (state.status === 'held') expect(state.requests.length).toBeGreaterThan(0)
        if (state.panel) expect(state.panel.subject.policy).toBe(after.digest)
      }),
      { numRuns: Number(process.env.ASSAY_PROPERTY_RUNS ?? 300) },
    )
  })
})

describe('work that was accepted under an older policy and is to be released', () => {
  const again = { type: 'judge_again', nonce: 'nonce-again', reason: 'another policy' } as const

  it('is judged as it is under the one in force, with no attempt begun or charged', () => {
    const task = adopt(lives['done: clean']()).when(again)
    const { charged, granted, attempts } = task.state
    expect(task.emitted).toEqual(['task.reopened', 'review.opened', 'seat.asked', 'seat.asked'])
    expect(task.state.panel?.subject).toMatchObject({ content: contentOf('one').digest, policy: task.rules.digest })
    allOpine(task, { accept: true, score: 5 })
    expect(task.state).toMatchObject({ status: 'done', done: { flag: 'clean', score: { on5: 5 } }, charged, granted, attempts })
  })

  it('goes back to its worker where it does not reach the new bar', () => {
    const task = adopt(lives['done: clean'](), { maxAttempts: 3 }).when(again)
    expect(allOpine(task, { accept: false, score: 1 }).state).toMatchObject({ status: 'todo', charged: 1 })
  })

  it('has the checks of the new policy run first', () => {
    const task = lives['done: clean']()
    const rules = rulesWith({ threshold: 70 })
    const other = [{ kind: 'file' as const, path: 'other.txt' }]
    task.when({ type: 'adopt_policy', nonce: freshNonce(), bar: 70, dimensions, checks: other, by: 'ann' }, rules)
    expect(Object.assign(task, { rules }).when(again).emitted).toEqual(['task.reopened', 'checks.requested'])
  })

  it('is not judged again where it was decided under the policy in force, nor where nobody decided that it is clean', () => {
    expect(lives['done: clean']().refusal(again)).toBe('wrong_status')
    for (const place of places.filter((one) => one !== 'done: clean'))
      expect(adopt(lives[place]()).refusal(again), place).toBe('wrong_status')
  })

  it('keeps the bar that it was decided against for as long as it is not', () => {
    const task = lives['done: clean']()
    const { bar } = task.state.spec
    expect([decidedBar(adopt(task).state), task.state.spec.bar]).toEqual([bar, 80])
    expect(decidedBar(allOpine(task.when(again), { accept: true, score: 5 }).state)).toBe(80)
  })
})
