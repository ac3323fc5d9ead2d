import { describe, expect, it } from 'vitest'
import { GateRefusal } from '../../../contract/deliverable/deliverable.ts'
import type { DeliverableStanding } from '../../../engine/deliverables/look.ts'
import type { InboxRow } from '../../../engine/views/inbox.ts'
import { explainDeliverable } from './deliverable.ts'

const score = { exact: '4/1', on5: 4, on100: 80 }

function standing(more: Partial<DeliverableStanding> = {}): DeliverableStanding {
  return {
    state: {
      deliverable: 'q3',
      producer: 'ana',
      bypasses: [],
      requests: 0,
      latest: {
        submission: 2,
        kind: 'file',
        title: 'Report',
        producer: 'ana',
        task: 'deliverable-q3-1/subject',
        subject: { content: 'c', criteria: 'c', rubric: 'r', policy: 'p' },
        snapshot: 'snapshot',
        digest: 'bytes',
      },
    },
    review: {
      deliverable: 'q3',
      verdict: 'PASS',
      digest: 'bytes',
      task: 'deliverable-q3-1/subject',
      attempt: 2,
      allowed: 3,
      score,
      bar: 60,
      judges: ['ada'],
      feedback: '',
    },
    gate: { verdict: 'PASS', bypass: false, outcome: { kind: 'allowed', card: card() } },
    cards: [],
    policy: { digest: 'p', accepted: true, differences: [], differs: '' },
    ...more,
  }
}

function card(more: Partial<InboxRow> = {}): InboxRow {
  return {
    card: '0123456789abcdef01234567',
    type: 'report_ready',
    title: 'Report',
    body: '',
    priority: 'normal',
    from: 'ana',
    judges: ['ada'],
    deliverable: 'q3',
    flag: 'pass',
    score,
    bar: 60,
    digest: 'bytes',
    state: 'pending',
    at: '2026-11-16T00:00:00Z',
    ...more,
  }
}

describe('why a deliverable is in the inbox, or is not', () => {
  it('has a reason and a command for every refusal, in at most ten lines', () => {
    for (const code of GateRefusal.options) {
      const { because, chain, next } = explainDeliverable(
        standing({
          gate: { bypass: false, outcome: { kind: 'refused', code, message: `told ${code}` } },
          cards: [card({ state: 'expired' })],
        }),
      )
      expect(because).toContain(`told ${code}`)
      expect(next, code).toMatch(/^assay \w+/)
      expect(chain.length).toBeLessThanOrEqual(7)
    }
  })

  it('says that nobody has sent it where the gate is open', () => {
    expect(explainDeliverable(standing())).toMatchObject({
      state: 'not in the inbox',
      because: 'the gate is open for it (PASS (80/60)), and nobody has sent its card',
      next: 'assay deliverable send q3',
    })
  })

  it('points to its card, and says how that stands', () => {
    const shown = explainDeliverable(standing({ cards: [card({ flag: 'bypassed', bypass: { by: 'eve', reason: 'late' } })] }))
    expect(shown).toMatchObject({
      state: 'in the inbox, pending',
      because: 'its card is in the inbox, pending: UNREVIEWED (bypass by eve)',
      next: 'assay inbox show 01234567',
    })
  })

  it('does not take the card of another version for this one', () => {
    const older = card({ digest: 'older', flag: 'bypassed', bypass: { by: 'eve', reason: 'late' } })
    const { state, chain } = explainDeliverable(standing({ cards: [older] }))
    expect(state).toBe('not in the inbox, but an older version is')
    expect(chain[0]).toBe('an older version is in the inbox, pending: UNREVIEWED (bypass by eve) (assay inbox show 01234567)')
    expect(explainDeliverable(standing({ cards: [{ ...older, state: 'expired' }] })).state).toBe('not in the inbox')
  })

  it('says where the owner has not accepted the policy, and what to do about it', () => {
    const { chain, next } = explainDeliverable(
      standing({
        policy: { digest: 'p', accepted: false, differences: ['review.threshold: 60 → 20'], differs: 'review.threshold: 60 → 20' },
        gate: { bypass: false, outcome: { kind: 'refused', code: 'policy_not_accepted', message: 'no' } },
      }),
    )
    expect(chain[0]).toBe('policy: NOT ACCEPTED by the owner: review.threshold: 60 → 20')
    expect(next).toBe('assay policy accept --reason <why>, then assay deliverable send q3')
  })

  it('leads to the task that judged it', () => {
    expect(explainDeliverable(standing()).chain.join('\n')).toContain('assay why deliverable-q3-1/subject')
  })

  it('asks for the answer that it waits for', () => {
    const waiting = standing({ gate: { bypass: true, outcome: { kind: 'refused', code: 'bypass_refused', message: 'no' } } })
    waiting.state.request = { request: 'q3/bypass#1', digest: 'bytes', by: 'ana' }
    expect(explainDeliverable(waiting).next).toBe('assay requests answer q3/bypass#1 <accept or fail> --reason <why>')
  })

  it('names a rejection of the same content under another id', () => {
    const elsewhere = { deliverable: 'q2', task: 'deliverable-q2-1/subject', concern: 'No sources.', points: [] }
    expect(explainDeliverable(standing(), [elsewhere]).chain).toContain('the same content was rejected before as q2: No sources.')
    expect(explainDeliverable(standing()).chain.join()).not.toContain('rejected before')
  })
})
