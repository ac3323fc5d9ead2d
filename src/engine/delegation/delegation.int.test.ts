import { afterEach, describe, expect, it } from 'vitest'
import { eyesOf, handsOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'
import { taskStream } from '../streams.ts'
import { beginDelegation, delegateTasks, delegationStanding } from './delegate.ts'

const config = {
  brains: {
    hands: { kind: 'scripted', file: 'hands.yaml' },
    eyes: { kind: 'scripted', file: 'eyes.yaml' },
    cheap: { kind: 'scripted', file: 'cheap.yaml' },
  },
  agents: {
    lead: { role: 'manager', brain: 'eyes' },
    dev: { role: 'engineer', brain: 'hands', reportsTo: 'lead' },
    junior: { role: 'engineer', brain: 'hands', instructions: 'Be careful.', reportsTo: 'dev' },
    qa: { role: 'reviewer', brain: 'eyes' },
  },
  limits: { judgeRetries: 0 },
}

/** The same, but lead and dev work outside: they take their tasks themselves. */
const away = {
  brains: { ...config.brains, away: { kind: 'outside' } },
  agents: { ...config.agents, lead: { ...config.agents.lead, brain: 'away' }, dev: { ...config.agents.dev, brain: 'away' } },
}

const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})
function workshop(more: object, brains: Parameters<typeof openWorkshop>[0]['brains']) {
  const shop = openWorkshop({ config: { ...config, ...more }, brains })
  open.push(shop)
  return shop
}
const stop = new AbortController().signal

describe('delegate_task', () => {
  it('brings back each result of a batch, with a judge field only where criteria were given', async () => {
    const judged: string[] = []
    const shop = workshop(
      {},
      {
        hands: handsOf(({ task }) => `did ${task.title}`),
        eyes: eyesOf(({ task, judge }) => {
          judged.push(`${judge}: ${task.title}`)
          return task.title.startsWith('2') ? 'No test.\nSCORE: 20' : 'SCORE: 90'
        }),
      },
    )
    const call = {
      tasks: [
        { goal: 'Write the parser', to: 'dev', acceptance_criteria: 'it parses' },
        { goal: 'Write its test', to: 'dev', acceptance_criteria: ['there is a test', 'it can fail'] },
        { goal: 'Say hello', to: 'junior' },
      ],
    }
    const results = await delegateTasks(shop.engine, call, { by: 'lead', stop })
    expect(results).toMatchObject({
      ok: true,
      value: [
        { task_index: 0, status: 'completed', judge: { verdict: 'PASS' } },
        { task_index: 1, status: 'completed', judge: { verdict: 'FAIL', reasoning: expect.stringContaining('No test.') } },
        { task_index: 2, status: 'completed', summary: expect.stringContaining('did 3. Say hello') },
      ],
    })
    expect(results.ok && results.value[2]).not.toHaveProperty('judge')
    expect(judged.every((line) => line.startsWith('lead: '))).toBe(true)
    expect(judged.some((line) => line.includes('Say hello'))).toBe(false)
    const rows = await shop.engine.taskRows('delegation-1/')
    expect(rows.map(({ flag }) => flag)).toEqual(['clean', 'below-threshold', 'unreviewed'])
  })

  it('never passes and never throws where the judge cannot be reached: FAIL, and the task stays held', async () => {
    const shop = workshop({}, { hands: handsOf(() => 'done'), eyes: eyesOf(() => undefined) })
    const results = await delegateTasks(shop.engine, { goal: 'Do it', to: 'dev', acceptance_criteria: 'done' }, { by: 'lead', stop })
    expect(results).toMatchObject({
      ok: true,
      value: [{ status: 'held', judge: { verdict: 'FAIL', reasoning: expect.stringMatching(/^Judge unavailable: /) } }],
    })
    expect(await shop.engine.requests()).toMatchObject([
      { subject: 'delegation-1/1', answers: expect.arrayContaining(['retry', 'accept', 'fail']) },
    ])
  })

  it('keeps it held until the operator answers, whatever runs meanwhile', async () => {
    let reachable = false
    const did: number[] = []
    const shop = workshop(
      { review: { maxAttempts: 2 } },
      {
        hands: handsOf(({ attempt }) => {
          did.push(attempt)
          return `done ${attempt}`
        }),
        eyes: eyesOf(() => (reachable ? 'No.\nSCORE: 10' : undefined)),
      },
    )
    await delegateTasks(shop.engine, { goal: 'Do it', to: 'dev', acceptance_criteria: 'done' }, { by: 'lead', stop })
    const before = await shop.parts.journal.readStream(taskStream('delegation-1/1'))
    reachable = true
    const end = await shop.engine.run({ missions: ['delegation-1'], stop })
    expect(end).toMatchObject({ exitCode: 3, rows: [{ status: 'held', held: 'judge_unavailable' }] })
    expect(await shop.parts.journal.readStream(taskStream('delegation-1/1'))).toEqual(before)
    expect(await shop.parts.journal.workCount(['delegation-1'], ['retry_review'])).toEqual({ due: 0, leased: 0, later: 0 })
    expect(await delegationStanding(shop.engine, 'delegation-1')).toMatchObject({ open: 0, results: [{ status: 'held' }] })
    expect(did).toEqual([1])
    const [request] = await shop.engine.requests()
    if (!request) throw new Error('nothing is asked')
    expect(await shop.engine.answer({ request, answer: 'retry', by: 'owner', reason: '' })).toMatchObject({ ok: true })
    await shop.engine.run({ missions: ['delegation-1'], stop })
    expect(did).toEqual([1, 2])
    expect(await shop.engine.taskRows('delegation-1/')).toMatchObject([{ status: 'done', flag: 'below-threshold' }])
  })

  it('asks the brain that delegate.judge names, as the manager who handed the task down', async () => {
    const asked: string[] = []
    const shop = workshop(
      { delegate: { judge: 'cheap', agent: 'dev' } },
      {
        hands: handsOf(() => 'done'),
        eyes: eyesOf(() => 'SCORE: 10'),
        cheap: eyesOf(({ judge }) => {
          asked.push(judge)
          return 'SCORE: 95'
        }),
      },
    )
    const results = await delegateTasks(shop.engine, { goal: 'Do it', acceptance_criteria: 'done' }, { by: 'lead', stop })
    expect(results).toMatchObject({ ok: true, value: [{ judge: { verdict: 'PASS' } }] })
    expect(asked).toEqual(['lead'])
    const outside = await delegateTasks(shop.engine, { goal: 'Do it', acceptance_criteria: 'done' }, { by: 'somebody', stop })
    expect(outside).toMatchObject({ ok: true, value: [{ judge: { verdict: 'PASS' } }] })
    expect(asked).toEqual(['lead', 'delegate judge'])
  })

  it.each([
    ['nobody to do it', { goal: 'x' }, 'delegate.agent is not set'],
    ['an unknown agent', { goal: 'x', to: 'ghost' }, 'ghost is no agent'],
    ['too many at once', { tasks: Array.from({ length: 4 }, (_, n) => ({ goal: `g${n}`, to: 'dev' })) }, 'at most 3'],
    ['itself to do it', { goal: 'x', to: 'lead' }, 'cannot hand a task down to itself'],
    ['no task at all', { tasks: [] }, '`tasks` is empty'],
    ['a criterion twice', { goal: 'x', to: 'dev', acceptance_criteria: ['a', 'a'] }, 'there twice'],
  ])('is refused for %s, and nothing is begun', async (_what, call, why) => {
    const shop = workshop({}, {})
    expect(await delegateTasks(shop.engine, call, { by: 'lead', stop })).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining(why) },
    })
    expect(await shop.engine.missions()).toEqual([])
  })
})

describe("handing down from one's own work", () => {
  /** Everybody at work hands the work on, without a word of what it is for. */
  async function chain() {
    const shop = workshop(
      { delegate: { maxDelegationDepth: 2 }, concurrency: 8 },
      {
        hands: {
          ...handsOf(() => ''),
          work: async ({ task }, signal) => {
            const to = task.assignee === 'dev' ? 'junior' : 'dev'
            const result = await delegateTasks(shop.engine, { goal: 'Go on', to }, { by: task.assignee, stop: signal })
            said.push([task.depth, result.ok ? 'ok' : result.error.message])
            return { kind: 'finished', raw: null, output: 'done', sandboxed: false }
          },
        },
        eyes: eyesOf(() => 'SCORE: 90'),
      },
    )
    const said: [number, string][] = []
    const spec = specWith({ id: 'plan/a', title: 'a', assignee: 'dev', criteria: [], mission: 'plan' })
    expect(await shop.engine.start({ id: 'plan', name: 'Plan', tasks: [spec] })).toMatchObject({ ok: true })
    await shop.engine.run({ missions: ['plan-1'], stop })
    return { shop, said }
  }

  it('is bounded in depth, whether or not the worker says what it is for', { timeout: 60_000 }, async () => {
    const { shop, said } = await chain()
    expect(said).toEqual([
      [2, expect.stringContaining('maxDelegationDepth')],
      [1, 'ok'],
      [0, 'ok'],
    ])
    const rows = await shop.engine.taskRows('delegation-')
    const specs = await Promise.all(rows.map(async ({ id }) => (await shop.engine.task(id))?.spec))
    expect(specs.map((spec) => [spec?.depth, spec?.origin?.task])).toEqual([
      [1, 'plan-1/a'],
      [2, 'delegation-1/1'],
    ])
  })

  /** A task that somebody outside does, at work on it or not. */
  async function assigned(shop: ReturnType<typeof workshop>, to: string, depth: number, taken: boolean): Promise<string> {
    const id = `${to}${depth}`
    const handed = depth > 0 ? { depth, delegatedBy: 'lead' } : {}
    const spec = specWith({ id: `${id}/a`, title: 'a', assignee: to, criteria: [], mission: id, ...handed })
    expect(await shop.engine.start({ id, name: id, tasks: [spec] })).toMatchObject({ ok: true })
    if (taken) expect(await shop.engine.outside.take(`${id}-1/a`, to)).toMatchObject({ ok: true })
    return `${id}-1/a`
  }

  it('is bounded in number over all calls from one task, whoever makes them at once', async () => {
    const shop = workshop(away, {})
    const parent = await assigned(shop, 'lead', 0, true)
    const call = { tasks: ['one', 'two'].map((goal) => ({ goal, to: 'dev' })) }
    const begun = await Promise.all([1, 2, 3].map(() => beginDelegation(shop.engine, call, { by: 'lead', parent })))
    expect(begun.filter(({ ok }) => ok)).toHaveLength(1)
    for (const one of begun.filter(({ ok }) => !ok))
      expect(one).toMatchObject({
        error: { code: 'bad_command', message: expect.stringMatching(/^2 tasks .* from lead0-1\/a already.*maxDelegations/) },
      })
    const single = () => beginDelegation(shop.engine, { goal: 'three', to: 'dev' }, { by: 'lead' })
    expect(await single()).toMatchObject({ ok: true })
    expect(await single()).toMatchObject({ ok: false, error: { code: 'bad_command' } })
    expect(await shop.engine.taskRows('delegation-')).toHaveLength(3)
    // From another task it begins anew.
    const other = await assigned(shop, 'lead', 1, true)
    expect(await beginDelegation(shop.engine, call, { by: 'lead', parent: other })).toMatchObject({ ok: true })
  })

  it.each([
    ['before it takes the task that was handed down to it', 2, false, false],
    ['while it is at work on it', 2, true, false],
    ['before it takes one that may hand down', 1, false, true],
    ['before it takes one that nobody handed down', 0, false, true],
  ])('%s is as deep as that task, though it names none', async (_when, depth, taken, allowed) => {
    const shop = workshop({ ...away, delegate: { maxDelegationDepth: 2 } }, {})
    const parent = await assigned(shop, 'dev', depth, taken)
    const begun = await beginDelegation(shop.engine, { goal: 'Go on', to: 'junior' }, { by: 'dev' })
    expect(begun.ok ? 'ok' : begun.error.message).toEqual(allowed ? 'ok' : expect.stringContaining('maxDelegationDepth'))
    if (!allowed) return
    const spec = (await shop.engine.task('delegation-1/1'))?.spec
    expect([spec?.depth, spec?.origin?.task]).toEqual([depth + 1, depth > 0 ? parent : undefined])
  })

  it('is the same call under the same key after the work it came from has ended', { timeout: 60_000 }, async () => {
    const shop = workshop(away, {})
    const call = { goal: 'Once', to: 'junior' }
    const spec = specWith({ id: 'other/a', title: 'a', assignee: 'lead', criteria: [], mission: 'other' })
    expect(await shop.engine.start({ id: 'other', name: 'Other', tasks: [spec] })).toMatchObject({ ok: true })
    expect(await shop.engine.outside.take('other-1/a', 'lead')).toMatchObject({ ok: true })
    const first = await beginDelegation(shop.engine, call, { by: 'lead', key: 'k' })
    expect(first).toMatchObject({ ok: true })
    expect((await shop.engine.task('delegation-1/1'))?.spec).toMatchObject({ depth: 1, origin: { task: 'other-1/a' } })
    await shop.engine.handle('other-1/a', { type: 'fail_task', reason: 'enough' }, 'owner')
    expect(await beginDelegation(shop.engine, call, { by: 'lead', key: 'k' })).toEqual(first)
  })

  it('says so where whoever handed it down is not fit to judge it, and somebody else does', async () => {
    const agents = { ...config.agents, twin: { role: 'engineer', brain: 'hands' } }
    const shop = workshop({ agents }, { hands: handsOf(() => 'done'), eyes: eyesOf(() => 'SCORE: 90') })
    const given = { goal: 'x', to: 'dev', acceptance_criteria: 'done' }
    expect(await delegateTasks(shop.engine, given, { by: 'twin', stop })).toMatchObject({
      ok: true,
      value: [{ judge: { verdict: 'PASS' } }],
    })
    const opened = (await shop.parts.journal.readStream(taskStream('delegation-1/1'))).find(({ type }) => type === 'review.opened')
    expect(opened?.data).toMatchObject({
      warnings: expect.arrayContaining([
        'twin, who handed the task down, does not judge it: it is dev under another name, who is the assignee',
      ]),
    })
  })

  it('with an empty list of criteria is judged by nobody', async () => {
    const shop = workshop({}, { hands: handsOf(() => 'done'), eyes: eyesOf(() => 'SCORE: 10') })
    const results = await delegateTasks(shop.engine, { goal: 'x', to: 'dev', acceptance_criteria: [] }, { by: 'lead', stop })
    expect(results).toMatchObject({ ok: true, value: [{ status: 'completed' }] })
    expect(results.ok && results.value[0]).not.toHaveProperty('judge')
    expect((await shop.engine.taskRows('delegation-1/'))[0]?.flag).toBe('unreviewed')
  })
})

describe('what a case proposes', () => {
  const proposing = (delegations: object[]) => `Done.\n\n${JSON.stringify({ summary: 'made the plan', ac_coverage: [], delegations })}`
  const raw = (text: string) => ({ kind: 'finished' as const, raw: text.slice(text.indexOf('{')), output: text, sandboxed: false })
  const proposals = ['one', 'two', 'three', 'four'].map((title) => ({
    to: 'junior',
    title,
    description: `do ${title}`,
    criteria: ['it is done'],
  }))

  async function run(score: (title: string) => number | undefined, given: object[] = proposals, more: object = {}) {
    const did: string[] = []
    const shop = workshop(more, {
      hands: handsOf(({ task, attempt }) => {
        did.push(task.title)
        return task.title === 'parent' || task.title === 'deep' ? raw(`${attempt}${proposing(given)}`) : `did ${task.title}`
      }),
      eyes: eyesOf(({ task }) => {
        const points = score(task.title)
        return points === undefined ? undefined : `Hm.\nSCORE: ${points}`
      }),
    })
    const spec = specWith({ id: 'plan/parent', title: 'parent', assignee: 'dev', criteria: [], mission: 'plan' })
    const started = await shop.engine.start({ id: 'plan', name: 'Plan', tasks: [spec] })
    if (!started.ok) throw new Error(started.error.message)
    const end = await shop.engine.run({ missions: ['plan-1'], stop })
    return { shop, did, end }
  }

  it('fans out when the work is accepted clean, as many as allowed; the rest is refused by name', async () => {
    const { shop, did, end } = await run(() => 90)
    expect(did.sort()).toEqual(['one', 'parent', 'three', 'two'])
    expect(end).toMatchObject({ exitCode: 0, counts: { clean: 4 } })
    const rows = await shop.engine.taskRows('plan-1/')
    expect(rows.map(({ id }) => id)).toEqual(['plan-1/parent', 'plan-1/parent.one', 'plan-1/parent.three', 'plan-1/parent.two'])
    const child = await shop.engine.task('plan-1/parent.one')
    expect(child?.spec).toMatchObject({ delegatedBy: 'dev', depth: 1, origin: { task: 'plan-1/parent' } })
    expect(child?.spec.origin).not.toHaveProperty('flag')
    const events = await shop.parts.journal.readStream(taskStream('plan-1/parent'))
    const [recorded] = events.filter(({ type }) => type === 'task.delegated')
    expect(recorded?.data).toMatchObject({ refused: [{ title: 'four', why: expect.stringContaining('maxDelegations') }] })
    expect((await shop.engine.verify()).breaks).toEqual([])
  })

  it('does not fan out below the bar, until the owner accepts it', async () => {
    const { shop, did } = await run((title) => (title === 'parent' ? 40 : 90))
    expect(did).toEqual(['parent', 'parent'])
    const overruled = await shop.engine.handle(
      'plan-1/parent',
      { type: 'overrule_task', outcome: 'pass', by: 'owner', reason: 'good enough' },
      'owner',
    )
    expect(overruled.ok).toBe(true)
    const end = await shop.engine.run({ missions: ['plan-1'], stop })
    expect(end.counts).toMatchObject({ clean: 3, 'owner-accepted': 1 })
    expect((await shop.engine.task('plan-1/parent.one'))?.spec.origin).toEqual({ task: 'plan-1/parent', flag: 'owner-accepted' })
  })

  it('makes a new task of what a later content proposes under the same title', async () => {
    const { shop, did } = await run(() => 90, proposals.slice(0, 1))
    expect(did).toEqual(['parent', 'one'])
    await shop.engine.handle('plan-1/parent', { type: 'overrule_task', outcome: 'fail', by: 'owner', reason: 'again' }, 'owner')
    await shop.engine.run({ missions: ['plan-1'], stop })
    const rows = await shop.engine.taskRows('plan-1/')
    expect(rows.map(({ id }) => id)).toContain('plan-1/parent.one-2')
    expect((await shop.engine.missions())[0]).toMatchObject({ tasks: rows.length })
  })

  it('carries the flag of unreviewed work', async () => {
    const { shop } = await run(() => 90, proposals.slice(0, 1), { review: { evaluate: false } })
    expect((await shop.engine.task('plan-1/parent.one'))?.spec.origin).toEqual({ task: 'plan-1/parent', flag: 'unreviewed' })
  })

  it('is bounded in depth, and an unknown agent is refused by name', async () => {
    const deep = [
      { to: 'junior', title: 'deep', description: 'go on' },
      { to: 'ghost', title: 'lost', description: 'nobody' },
    ]
    const { shop, did } = await run(() => 90, deep)
    expect(did).toEqual(['parent', 'deep', 'deep'])
    const last = await shop.parts.journal.readStream(taskStream('plan-1/parent.deep.deep'))
    const refused = last.find(({ type }) => type === 'task.delegated')?.data as { refused: { why: string }[] }
    expect(refused.refused[0]?.why).toContain('2 deep')
    const first = await shop.parts.journal.readStream(taskStream('plan-1/parent'))
    expect(first.find(({ type }) => type === 'task.delegated')?.data).toMatchObject({ refused: [{ to: 'ghost' }] })
  })
})

describe('adding tasks to a run', () => {
  it('runs them after what they depend on, even where that has ended, and opens a finished run again', async () => {
    const did: string[] = []
    const shop = workshop(
      {},
      {
        hands: handsOf(({ task, prompt }) => {
          did.push(`${task.title}${prompt.includes('did first') ? ' with its input' : ''}`)
          return `did ${task.title}`
        }),
        eyes: eyesOf(() => 'SCORE: 90'),
      },
    )
    const spec = (title: string, dependsOn: string[] = []) =>
      specWith({ id: `plan-1/${title}`, title, criteria: [], mission: 'plan-1', dependsOn })
    await shop.engine.start({ id: 'plan', name: 'Plan', tasks: [{ ...spec('first'), id: 'plan/first', mission: 'plan' }] })
    await shop.engine.run({ missions: ['plan-1'], stop })
    const addition = { mission: 'plan-1', key: 'owner-1', tasks: [spec('second', ['plan-1/first'])], by: 'owner' }
    expect(await shop.engine.extend(addition)).toEqual({ ok: true, value: 'added' })
    expect(await shop.engine.extend(addition)).toEqual({ ok: true, value: 'known' })
    expect((await shop.engine.missions())[0]).toMatchObject({ tasks: 2 })
    expect((await shop.engine.missions())[0]).not.toHaveProperty('finished')
    const end = await shop.engine.run({ missions: ['plan-1'], stop })
    expect(end.counts).toMatchObject({ clean: 2 })
    expect(did).toEqual(['first', 'second with its input'])
    expect(await shop.engine.extend({ ...addition, mission: 'plan-9' })).toMatchObject({ ok: false, error: { code: 'not_found' } })
  })
})
