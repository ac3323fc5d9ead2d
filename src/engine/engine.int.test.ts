import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { TaskSpec } from '../contract/task.ts'
import type { BrainPort } from '../ports/brain.ts'
import { eyesOf as judge, handsOf as worker } from '../testing/engine/brains.ts'
import { openWorkshop } from '../testing/engine/workshop.ts'
import { specWith } from '../testing/task/world.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: {
    dev: { role: 'engineer', brain: 'hands' },
    qa: { role: 'reviewer', brain: 'eyes' },
    qa2: { role: 'reviewer', brain: 'eyes', instructions: 'Look for what is missing.' },
  },
  limits: { judgeRetries: 0, workerLease: '2s' },
}

const task = (title: string, more: Partial<TaskSpec> = {}): TaskSpec =>
  specWith({ id: `plan/${title}`, title, criteria: [], mission: 'plan', ...more })
const plan = (...tasks: TaskSpec[]) => ({ id: 'plan', name: 'Plan', tasks })

const open: { remove(): void }[] = []
function workshop(...args: Parameters<typeof openWorkshop>) {
  const shop = openWorkshop(...args)
  open.push(shop)
  return shop
}
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})

async function runPlan(shop: ReturnType<typeof openWorkshop>, ...tasks: TaskSpec[]) {
  const started = await shop.engine.start(plan(...tasks))
  if (!started.ok) throw new Error(started.error.message)
  return shop.engine.run({ missions: [started.value.mission], stop: new AbortController().signal })
}

describe('the engine', () => {
  it('takes a mission from its tasks to a clean end, dependents after what they depend on', async () => {
    const order: string[] = []
    const shop = workshop({
      config,
      brains: {
        hands: worker(({ task, workspace }) => {
          order.push(task.title)
          writeFileSync(join(workspace, 'core.txt'), 'hello')
          return 'done'
        }),
        eyes: judge(() => 'SCORE: 80'),
      },
    })
    const end = await runPlan(shop, task('b', { dependsOn: ['plan/a'] }), task('a'))
    expect(end).toMatchObject({ exitCode: 0, outcome: 'clean', stopped: false, counts: { clean: 2 } })
    expect(order).toEqual(['a', 'b'])
    expect((await shop.engine.missions())[0]).toMatchObject({ id: 'plan-1', outcome: 'clean' })
    expect((await shop.engine.verify()).breaks).toEqual([])
  })

  it('sends work back with feedback, and hands force-accepted work on with its prefix', async () => {
    const prompts: string[] = []
    const shop = workshop({
      config,
      brains: {
        hands: worker(({ prompt, attempt, task }) => {
          prompts.push(prompt)
          return `${task.title} attempt ${attempt}`
        }),
        eyes: judge(({ task }) => (task.title === 'a' ? 'Too thin.\nSCORE: 41' : 'SCORE: 90')),
      },
    })
    const end = await runPlan(shop, task('a'), task('b', { dependsOn: ['plan/a'] }))
    expect(end).toMatchObject({ exitCode: 1, counts: { 'below-threshold': 1, clean: 1 } })
    expect(prompts[1]).toContain('Too thin.')
    expect(prompts[2]).toContain('[ACCEPTED BELOW QUALITY BAR, score 41]\na attempt 2')
  })

  it('skips what depends on a failed task', async () => {
    const shop = workshop({
      config: { ...config, review: { onExhausted: 'fail', maxAttempts: 1 } },
      brains: {
        hands: worker(() => ({ kind: 'failed', failure: 'exit', detail: 'exit 3', output: '', beforeEffect: false })),
        eyes: judge(() => 'SCORE: 90'),
      },
    })
    const end = await runPlan(shop, task('a'), task('b', { dependsOn: ['plan/a'] }), task('c', { dependsOn: ['plan/b'] }))
    expect(end).toMatchObject({ exitCode: 1, counts: { failed: 1, skipped: 2 } })
  })

  it('tries a failure before any effect once more, and nothing else', async () => {
    let calls = 0
    const shop = workshop({
      config: { ...config, review: { maxAttempts: 1 } },
      brains: {
        hands: worker(() => {
          calls += 1
          return calls === 1 ? { kind: 'failed', failure: 'not_found', detail: 'no such command', output: '', beforeEffect: true } : 'done'
        }),
        eyes: judge(() => 'SCORE: 90'),
      },
    })
    expect(await runPlan(shop, task('a'))).toMatchObject({ exitCode: 0 })
    expect(calls).toBe(2)
  })

  it('holds a task whose judges cannot be reached, and goes on when they can', async () => {
    let up = false
    const shop = workshop({ config, brains: { hands: worker(() => 'done'), eyes: judge(() => (up ? 'SCORE: 90' : undefined)) } })
    const started = await shop.engine.start(plan(task('a')))
    if (!started.ok) throw new Error(started.error.message)
    const stop = new AbortController()
    const running = shop.engine.run({
      missions: [started.value.mission],
      stop: stop.signal,
      onEvent: (event) => {
        if (event.type === 'task.held') up = true
      },
    })
    expect(await running).toMatchObject({ exitCode: 0 })
    const events = await shop.engine.events(0, 1000)
    expect(events.filter((event) => event.type === 'task.held')).toHaveLength(1)
    expect(events.filter((event) => event.type === 'attempt.started')).toHaveLength(1)
  })

  it('leaves a task held when judges stay out of reach, and a later run asks them at once', async () => {
    let up = false
    const shop = workshop({ config, brains: { hands: worker(() => 'done'), eyes: judge(() => (up ? 'SCORE: 90' : undefined)) } })
    expect(await runPlan(shop, task('a'))).toMatchObject({ exitCode: 3, counts: { held: 1 } })
    up = true
    const again = await shop.engine.run({ missions: ['plan-1'], stop: new AbortController().signal })
    expect(again).toMatchObject({ exitCode: 0, counts: { clean: 1 } })
    const types = (await shop.engine.events(0, 1000)).map((event) => event.type)
    expect(types.filter((type) => type === 'attempt.started')).toHaveLength(1)
  })

  it('takes a brain that throws as no verdict and no work, and goes on', async () => {
    const broken = (): never => {
      throw new Error('boom')
    }
    const shop = workshop({
      config: { ...config, review: { maxAttempts: 1 } },
      brains: { hands: worker(broken), eyes: judge(() => 'SCORE: 90') },
    })
    expect(await runPlan(shop, task('a'))).toMatchObject({ exitCode: 3, counts: { held: 1 } })
    expect((await shop.engine.task('plan-1/a'))?.hold?.reason).toBe('exhausted_unscored')
  })

  it('records a turn that was cut off as interrupted, and does not run it again', async () => {
    let calls = 0
    const brains = {
      hands: worker(() => {
        calls += 1
        return 'done'
      }),
      eyes: judge(() => 'SCORE: 90'),
    }
    const shop = workshop({ config, brains })
    const started = await shop.engine.start(plan(task('a')))
    if (!started.ok) throw new Error(started.error.message)
    const { journal } = shop.parts
    const [lease] = await journal.claim({ owner: 'dead', limit: 1, leaseMs: 60_000 })
    if (!lease) throw new Error('no work')
    await shop.engine.handle(
      'plan-1/a',
      { type: 'start_attempt', worker: 'dev', conversational: false, participants: [], sandboxed: false, work: lease.key },
      'dev',
    )
    expect(await journal.reclaim((owner) => owner === 'dead')).toBe(1)
    const end = await shop.engine.run({ missions: ['plan-1'], stop: new AbortController().signal })
    expect(end).toMatchObject({ exitCode: 0 })
    const types = (await shop.engine.events(0, 1000)).map((event) => event.type)
    expect(types.filter((type) => type === 'attempt.interrupted')).toHaveLength(1)
    expect(calls).toBe(1)
    expect((await shop.engine.task('plan-1/a'))?.charged).toBe(2)
  })

  it('joins a run of the same plan that is not finished, and refuses another plan under its name', async () => {
    const brains = { hands: worker(() => 'done'), eyes: judge(() => 'SCORE: 90') }
    const shop = workshop({ config, brains })
    expect(await shop.engine.start(plan(task('a')))).toMatchObject({ ok: true, value: { mission: 'plan-1', joined: false } })
    expect(await shop.engine.start(plan(task('a')))).toMatchObject({ ok: true, value: { mission: 'plan-1', joined: true } })
    expect(await shop.engine.start(plan(task('z')))).toMatchObject({ ok: false, error: { code: 'other_plan_running' } })
    expect(await shop.engine.start(plan(task('z')), { fresh: true })).toMatchObject({ ok: true, value: { mission: 'plan-2' } })
  })

  it('has one task at a time in a shared folder', async () => {
    let inside = 0
    let most = 0
    const slow: BrainPort = {
      ...worker(() => 'x'),
      work: async ({ workspace, task }) => {
        inside += 1
        most = Math.max(most, inside)
        await new Promise((resolve) => setTimeout(resolve, 30))
        writeFileSync(join(workspace, `${task.title}.txt`), task.title)
        inside -= 1
        return { kind: 'finished', raw: null, output: 'done', sandboxed: false }
      },
    }
    const shop = workshop({ config, brains: { hands: slow, eyes: judge(() => 'SCORE: 90') } })
    const shared = { workspace: { kind: 'folder' as const, path: 'shared' } }
    const end = await runPlan(shop, task('a', shared), task('b', shared), task('c', shared))
    expect(end).toMatchObject({ exitCode: 0, counts: { clean: 3 } })
    expect(most).toBe(1)
  })

  it('stops cleanly: the open attempt is not charged, and a later run finishes it', async () => {
    const stop = new AbortController()
    let calls = 0
    const hands: BrainPort = {
      ...worker(() => 'x'),
      work: (_order, signal) => {
        calls += 1
        if (calls > 1) return Promise.resolve({ kind: 'finished', raw: null, output: 'done', sandboxed: false })
        stop.abort()
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'stopped', detail: 'stopped', output: '' })))
      },
    }
    const shop = workshop({ config: { ...config, stopGrace: '50ms' }, brains: { hands, eyes: judge(() => 'SCORE: 90') } })
    const started = await shop.engine.start(plan(task('a')))
    if (!started.ok) throw new Error(started.error.message)
    expect(await shop.engine.run({ missions: ['plan-1'], stop: stop.signal })).toMatchObject({ stopped: true })
    expect((await shop.engine.task('plan-1/a'))?.charged).toBe(0)
    expect(await shop.engine.run({ missions: ['plan-1'], stop: new AbortController().signal })).toMatchObject({ exitCode: 0 })
  })
})
