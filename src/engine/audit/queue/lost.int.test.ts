import { describe, expect, it } from 'vitest'
import { openMemoryJournal } from '../../../adapters/memory/journal.ts'
import type { ClaimRequest, Journal } from '../../../ports/journal.ts'
import { stageMission } from '../../../testing/engine/gated-mission.ts'
import { engineViews } from '../../views/tasks.ts'
import { openLost, restoreQueue } from './lost.ts'
import { strayWork } from './strays.ts'

const timeout = 120_000
const at = '2026-11-16T00:00:00.000Z'

/** A journal from whose queue somebody takes work of some kinds out, as often as said; `each` sees every moment at which somebody claims. */
function robbed(kinds: readonly string[], times = Number.POSITIVE_INFINITY, each?: (journal: Journal) => Promise<void>) {
  const state = { stolen: 0 }
  const journal = new Proxy(openMemoryJournal({ views: engineViews }), {
    get: (target, key: keyof Journal) => {
      const member = target[key] as (...args: never[]) => unknown
      if (key !== 'claim') return typeof member === 'function' ? member.bind(target) : member
      return async (request: ClaimRequest) => {
        await each?.(target)
        const kept = []
        for (const lease of await target.claim(request)) {
          if (!kinds.includes(lease.kind) || state.stolen >= times) kept.push(lease)
          else if (await target.complete(lease)) state.stolen += 1
        }
        return kept
      }
    },
  })
  return { journal, state }
}

const gate = { name: 'quality', afterTasks: ['a'], blocksTasks: ['c'] }
const tasks = {
  a: { deliverable: { kind: 'text' as const, id: 'da' } },
  b: { dependsOn: ['a'] },
  c: { dependsOn: ['a'], gates: ['quality'] },
}

describe('work that is gone from the queue', () => {
  it('is missed at no moment of a run that is left alone', { timeout }, async () => {
    const found: unknown[] = []
    let looks = 0
    let policy: Parameters<typeof openLost>[1] | undefined
    const { journal } = robbed([], 0, async (one) => {
      if (!policy) return
      looks += 1
      found.push(...(await openLost(one, policy)).map(({ link }) => link))
    })
    const scene = await stageMission({ tasks, gates: [gate], journal, score: (title) => (title === 'b' ? 20 : 90) })
    policy = scene.parts.rules.policy
    await scene.run()
    expect(await scene.overrule('a')).toMatchObject({ ok: true })
    await scene.run()
    expect([looks > 5, found]).toEqual([true, []])
  })

  it('tells whoever waits, once a run finds that nobody would', { timeout }, async () => {
    const { journal, state } = robbed(['settle_dependents'], 1)
    const scene = await stageMission({ tasks, gates: [gate], journal })
    await scene.run()
    expect(state.stolen, 'the fault fired').toBe(1)
    expect([await scene.statusOf('b'), await scene.statusOf('c')]).toEqual(['done', 'done'])
  })

  it('is named with the tasks that wait for it, and queued again as it was', { timeout }, async () => {
    const { journal, state } = robbed(['settle_dependents', 'run_attempt', 'ask_judge', 'hand_over', 'run_checks'])
    const scene = await stageMission({ tasks, gates: [gate], journal })
    const { policy } = scene.parts.rules
    const steal = async () => {
      for (const lease of await journal.claim({ owner: 'thief', limit: 100, leaseMs: 1000 })) throw new Error(`${lease.kind} is left`)
    }
    await steal()
    expect(state.stolen, 'the fault fired').toBe(1)
    expect((await openLost(journal, policy)).map(({ link }) => link.stream)).toEqual(['task/plan-1/a'])
    expect((await restoreQueue(journal, policy, at)).map(({ stream }) => stream)).toEqual(['task/plan-1/a'])
    expect((await journal.queued()).map(({ kind }) => kind)).toEqual(['run_attempt'])
    expect(await strayWork(journal), 'what is queued again is what events call for').toEqual([])
    expect([await openLost(journal, policy), await restoreQueue(journal, policy, at)]).toEqual([[], []])
  })

  it.each(['settle_dependents', 'hand_over'])('after an ending: %s', { timeout }, async (kind) => {
    const { journal, state } = robbed([kind], 1)
    const end = new AbortController()
    const scene = await stageMission({ tasks, gates: [gate], journal })
    const { policy } = scene.parts.rules
    const run = () =>
      scene.engine.run({ missions: ['plan-1'], stop: end.signal, onEvent: ({ type }) => type === 'task.accepted' && end.abort() })
    await run()
    for (const lease of await journal.claim({ owner: 'thief', kinds: [kind], limit: 100, leaseMs: 1000 })) await journal.complete(lease)
    expect(state.stolen, 'the fault fired').toBe(1)
    expect(await scene.statusOf('a')).toBe('done')
    const named = (await restoreQueue(journal, policy, at)).map(({ stream }) => stream).sort()
    expect(named).toEqual(kind === 'hand_over' ? ['task/plan-1/a'] : ['task/plan-1/b', 'task/plan-1/c'])
    expect((await journal.queued()).filter((work) => work.kind === kind)).toHaveLength(1)
    expect(await strayWork(journal)).toEqual([])
    await scene.run()
    expect([await scene.statusOf('b'), await scene.statusOf('c')]).toEqual(['done', 'done'])
    expect((await scene.engine.inbox()).map(({ deliverable, state: now }) => [deliverable, now])).toEqual([['da', 'pending']])
  })
})
