import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { roles } from '../src/doors/mcp/role.ts'
import { allTools, toolsOf } from '../src/doors/mcp/tools/table.ts'
import { useAssay } from './front-door/assay.ts'
import { connect, connected, type Era, eras, type McpClient, startRaw, talking } from './front-door/mcp.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

const pass = { accept: true, scores: 4 }
const reject = { accept: false, scores: 2, category: 'half_finished', concern: 'It says hullo.', next_step: 'Make it say hello.' }

const plan = {
  name: 'Plan',
  tasks: [{ title: 'Greet', assignTo: 'dev', description: 'Write core.txt', acceptanceCriteria: ['it says hello'] }],
}

/** A worker outside, a scripted judge, and whatever else the test wants. */
function project(
  answers: object,
  more: { agents?: object; brains?: object; limits?: object; workers?: object; delegate?: object } = {},
): Project {
  return makeProject({
    'assay.yaml': {
      brains: { away: { kind: 'outside' }, canned: { kind: 'scripted', file: 'brain.yaml' }, ...more.brains },
      agents: { dev: { role: 'engineer', brain: 'away' }, qa: { role: 'reviewer', brain: 'canned' }, ...more.agents },
      review: { panel: { size: 1, quorum: 1 } },
      limits: { judgeRetries: 0, ...more.limits },
      ...(more.delegate && { delegate: more.delegate }),
    },
    'brain.yaml': { judges: answers, ...(more.workers && { workers: more.workers }) },
    'plan.yaml': plan,
  })
}

const caseFor = (pointer: string) => ({ summary: 'wrote core.txt', ac_coverage: [{ criterion: 'AC1', pointer }] })

describe.each(Object.keys(eras) as Era[])('a worker over stdio, %s', (era) => {
  it(
    'takes its task, is sent back, reworks and passes',
    async () => {
      const here = project({ '*': [reject, pass] })
      expect((await here.run(['run', 'plan.yaml'])).code).toBe(3)
      const worker = await connect(here, ['--role', 'worker'], era)
      const { value: listed } = await worker.say('list_tasks')
      expect(listed.tasks).toMatchObject([{ id: 'plan-1/greet', status: 'todo', assignee: 'dev' }])
      const task = 'plan-1/greet'
      const taken = (await worker.say('take_task', { task })).value
      expect(taken).toMatchObject({ attempt: 1, lease: '10m', prompt: expect.stringContaining('it says hello') })
      writeFileSync(join(taken.workspace, 'core.txt'), 'hullo\n')
      expect((await worker.say('submit_case', { task, attempt: 1, summary: 'half' })).value).toMatchObject({
        status: 'invalid',
        problems: [expect.stringContaining('ac_coverage')],
      })
      const first = await worker.say('submit_case', { task, attempt: 1, ...caseFor('core.txt:1') })
      expect(first.value).toMatchObject({
        status: 'decided',
        review: { phase: 'rejected', feedback: expect.stringContaining('Make it say hello.') },
      })
      expect(await worker.say('submit_case', { task, attempt: 1, ...caseFor('core.txt:1') })).toMatchObject({
        refused: true,
        value: { code: 'stale_attempt' },
      })
      const again = (await worker.say('take_task', { task })).value
      expect(again).toMatchObject({ attempt: 2, prompt: expect.stringContaining('Make it say hello.') })
      expect((await worker.say('heartbeat', { task })).value).toEqual({ attempt: 2 })
      writeFileSync(join(again.workspace, 'core.txt'), 'hello\n')
      expect((await worker.say('submit_case', { task, attempt: 2, ...caseFor('core.txt:1') })).value).toMatchObject({
        status: 'decided',
        review: { phase: 'accepted', flag: 'clean' },
      })
      expect((await worker.say('get_review', { task })).value).toMatchObject({ task: { phase: 'accepted' } })
      expect((await worker.say('get_ledger', { task })).value.entries).toHaveLength(2)
      expect((await worker.say('get_task', { task })).value).toMatchObject({ task: { flag: 'clean' }, detail: { charged: 2 } })
      expect((await worker.say('list_tasks')).value.tasks).toEqual([])
      expect(await worker.say('take_task', { task: 'plan-1/ghost' })).toMatchObject({ refused: true, value: { code: 'not_found' } })
      await worker.close()
      const events = (await here.events()).map(({ type }) => type)
      expect(events.filter((type) => type === 'case.parse_error')).toHaveLength(1)
      expect(events).toContain('mission.finished')
      expect((await here.run(['audit', 'verify'])).code).toBe(0)
    },
    timeout,
  )
})

describe('handing down', () => {
  it(
    'a batch with criteria brings a judge field each; what takes long is polled by its handle',
    async () => {
      const judges = { lead: { '1. Write it': [pass], '2. Test it': [reject], '*': [pass] } }
      const workers = { '*': [{ write: { 'out.txt': 'x\n' } }] }
      const more = {
        agents: { lead: { role: 'manager', brain: 'canned' }, hand: { role: 'engineer', brain: 'canned', instructions: 'x' } },
        workers,
      }
      const here = project(judges, more)
      const lead = await connect(here, ['--role', 'worker', '--agent', 'lead'])
      const tasks = [
        { goal: 'Write it', to: 'hand', acceptance_criteria: ['it is written'] },
        { goal: 'Test it', to: 'hand', acceptance_criteria: 'it is tested' },
        { goal: 'Say hello', to: 'hand' },
      ]
      const begun = (await lead.say('delegate_task', { tasks, waitSeconds: 0 })).value
      expect(begun).toMatchObject({ delegation: 'delegation-1', status: 'running' })
      const ended = (await lead.say('get_delegation', { delegation: 'delegation-1' })).value
      expect(ended).toMatchObject({
        status: 'ended',
        results: [
          { task_index: 0, status: 'completed', judge: { verdict: 'PASS' } },
          { task_index: 1, status: 'completed', judge: { verdict: 'FAIL', reasoning: expect.stringContaining('Make it say hello.') } },
          { task_index: 2, status: 'completed' },
        ],
      })
      expect(ended.results[2]).not.toHaveProperty('judge')
      expect((await lead.say('delegate_task', { goal: 'One', to: 'hand', acceptance_criteria: 'one' })).value).toMatchObject({
        status: 'ended',
        results: [{ judge: { verdict: 'PASS' } }],
      })
      expect(await lead.say('delegate_task', { goal: 'x', tasks })).toMatchObject({ refused: true, value: { code: 'bad_command' } })
      expect(await lead.say('delegate_task', { goal: 'x', to: 'ghost' })).toMatchObject({
        refused: true,
        value: { message: expect.stringContaining('ghost is no agent') },
      })
      const other = await connect(here, ['--role', 'worker', '--agent', 'dev'])
      expect(await other.say('get_delegation', { delegation: 'delegation-1' })).toMatchObject({
        refused: true,
        value: { code: 'not_found' },
      })
    },
    timeout,
  )
})

describe('a deliverable', () => {
  it(
    'is refused until it passed, is released as reviewed, and is refused again when it changed',
    async () => {
      const here = project({ '*': [reject, pass] })
      here.write({ 'report.md': 'hullo\n' })
      const worker = await connect(here, ['--role', 'worker', '--agent', 'claude'])
      const card = { type: 'report_ready', title: 'The report', metadata: { deliverableId: 'report' } }
      expect((await worker.say('emit_owner_card', card)).value).toMatchObject({ released: false, code: 'deliverable_unknown' })
      const brought = { deliverable: 'report', path: 'report.md', acceptance_criteria: ['it says hello'] }
      expect((await worker.say('review_deliverable_with_evaluator', brought)).value).toMatchObject({
        status: 'decided',
        verdict: 'NEEDS_REVISION',
        attempt: 1,
        allowed: 3,
        feedback: expect.stringContaining('Make it say hello.'),
      })
      expect((await worker.say('emit_owner_card', card)).value).toMatchObject({ released: false, code: 'needs_revision' })
      here.write({ 'report.md': 'hello\n' })
      const begun = (await worker.say('review_deliverable_with_evaluator', { ...brought, waitSeconds: 0 })).value
      expect(['reviewing', 'decided']).toContain(begun.status)
      expect((await worker.say('get_review', { deliverable: 'report' })).value).toMatchObject({
        deliverable: { verdict: 'PASS', judges: ['qa'] },
      })
      here.write({ 'report.md': 'something else\n' })
      expect((await worker.say('emit_owner_card', card)).value).toMatchObject({ released: false, code: 'content_changed' })
      here.write({ 'report.md': 'hello\n' })
      expect((await worker.say('emit_owner_card', card)).value).toMatchObject({
        released: true,
        unreviewed: false,
        card: { flag: 'pass', from: 'claude' },
      })
      const other = await connect(here, ['--role', 'worker', '--agent', 'dev'])
      expect(await other.say('emit_owner_card', card)).toMatchObject({ refused: true, value: { code: 'not_found' } })
      for (const path of ['../../etc/passwd', '/etc/passwd', '.assay/assay.db', '..'])
        expect(await worker.say('review_deliverable_with_evaluator', { deliverable: 'x', path })).toMatchObject({
          refused: true,
          value: { code: 'bad_command', message: expect.stringMatching(/not below|no such file/) },
        })
      expect(await worker.say('review_deliverable_with_evaluator', { deliverable: 'x', text: 'a', path: 'report.md' })).toMatchObject({
        refused: true,
      })
      const { cards } = (await (await connect(here, ['--role', 'owner'])).say('list_inbox')).value
      expect(cards).toMatchObject([{ type: 'report_ready', deliverable: 'report' }])
    },
    timeout,
  )
})

describe('a worker that vanishes', () => {
  it(
    'loses its task, charged; one that calls anything keeps it',
    async () => {
      const here = project({ '*': [pass] }, { limits: { outsideLease: '8s' } })
      await here.run(['run', 'plan.yaml'])
      const task = 'plan-1/greet'
      const first = await connect(here, ['--role', 'worker'])
      expect((await first.say('take_task', { task })).value).toMatchObject({ attempt: 1 })
      const until = Date.now() + 10_000
      while (Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 400))
        await first.say('get_task', { task })
      }
      expect((await first.say('get_task', { task })).value.task.status).toBe('running')
      expect((await here.events()).filter(({ type }) => type === 'attempt.beat').length).toBeGreaterThan(1)
      process.kill(first.pid ?? 0, 'SIGKILL')
      const second = await connect(here, ['--role', 'worker'])
      await expect
        .poll(async () => (await second.say('get_review', { task, waitSeconds: 0 })).value.task, { timeout: 60_000, interval: 300 })
        .toMatchObject({ status: 'todo', phase: 'rejected', feedback: expect.stringContaining('not been heard of') })
      expect((await second.say('take_task', { task })).value).toMatchObject({ attempt: 2 })
    },
    timeout,
  )
})

/** A mission whose work waits for a judge outside. */
async function awaiting(more: object = {}): Promise<Project> {
  const here = project(
    { '*': [pass] },
    { agents: { qa: { role: 'reviewer', brain: 'away' }, dev: { role: 'engineer', brain: 'canned' } }, workers, ...more },
  )
  const run = await here.run(['run', 'plan.yaml'])
  expect(run).toMatchObject({ code: 3, stdout: expect.stringContaining('Waits for qa') })
  return here
}
const workers = { '*': [{ write: { 'core.txt': 'hello\n', 'deep/more.txt': 'needle here\n' } }] }

/** A verdict in the form that the material asks for. */
function verdictFor(
  schema: { properties: Record<string, { const?: string; items?: { properties: Record<string, { enum?: string[] }> } }> },
  accept = true,
) {
  const { nonce, criteria, dimensions } = schema.properties
  const listed = (list: typeof criteria, key: string) => list?.items?.properties[key]?.enum ?? []
  return {
    nonce: nonce?.const,
    prior: [],
    criteria: listed(criteria, 'id').map((id) => ({ id, evidence: ['core.txt:1'], reasoning: 'It is there.', met: accept ? 'yes' : 'no' })),
    dimensions: listed(dimensions, 'name').map((name) => ({ name, reasoning: 'Good.', score: accept ? 4 : 2 })),
    verdict: accept ? 'accept' : 'reject',
    rejection_category: accept ? null : 'acceptance_gap',
    concern: 'Seen.',
    evidence: [],
    next_step: accept ? null : 'Say hello louder.',
  }
}

describe('a reviewer', () => {
  it(
    'is awaited, looks at the work and nothing else, and decides by its verdict',
    async () => {
      const here = await awaiting()
      const reviewer = await connect(here, ['--role', 'reviewer'])
      const { reviews } = (await reviewer.say('list_reviews')).value
      expect(reviews).toMatchObject([{ task: 'plan-1/greet', attempt: 1, because: 'opening' }])
      const [{ review }] = reviews
      const { prompt, schema } = (await reviewer.say('get_review_material', { review })).value
      expect(prompt).toContain('it says hello')
      expect((await reviewer.say('list', { review })).value.text).toContain('deep/more.txt')
      expect((await reviewer.say('read_file', { review, path: 'core.txt' })).value.text).toContain('1\thello')
      expect((await reviewer.say('grep', { review, pattern: 'need.e' })).value.text).toContain('deep/more.txt:1')
      for (const path of ['../../../../assay.yaml', '/etc/passwd', './core.txt', '.assay/assay.db'])
        expect((await reviewer.say('read_file', { review, path })).value.text).toContain('There is no file')
      const unread = (await reviewer.say('submit_verdict', { review, verdict: { ...verdictFor(schema), nonce: 'guessed' } })).value
      expect(unread).toMatchObject({ outcome: 'unreadable', problem: expect.stringContaining('nonce'), again: expect.any(String) })
      expect(await reviewer.say('submit_verdict', { review, verdict: verdictFor(schema) })).toMatchObject({
        refused: true,
        value: { code: 'stale_seat' },
      })
      expect((await reviewer.say('submit_verdict', { review: unread.again, verdict: verdictFor(schema) })).value).toEqual({
        outcome: 'graded',
      })
      expect((await reviewer.say('list_reviews')).value.reviews).toEqual([])
      await reviewer.close()
      expect((await here.run(['resume'])).code).toBe(0)
      const recorded = (await here.events()).filter(({ type }) => type === 'verdict.recorded' || type === 'task.eval.unparsed')
      expect(recorded.map(({ type }) => type)).toEqual(['task.eval.unparsed', 'verdict.recorded'])
      expect(recorded[1]?.data).toMatchObject({ sitting: { judge: 'qa', accepts: true, leansOnUnresolved: false } })
    },
    timeout,
  )

  it(
    'that does not come in time is unavailable, and nobody passes for want of it',
    async () => {
      const here = await awaiting({ limits: { judgeRequest: '1s', judgeSitting: '1s' } })
      await new Promise((resolve) => setTimeout(resolve, 1_200))
      await here.run(['resume'])
      const events = (await here.events()).map(({ type }) => type)
      expect(events).toContain('judge.unavailable')
      expect(events).not.toContain('task.accepted')
    },
    timeout,
  )
})

describe('the owner', () => {
  it(
    'decides with the token, and nobody does without',
    async () => {
      const here = project({ '*': [pass] })
      const worker = await connect(here, ['--role', 'worker'])
      await worker.say('emit_owner_card', { type: 'milestone', title: 'Half way' })
      await worker.say('emit_owner_card', { type: 'trace', title: 'A step' })
      const stranger = await connect(here, ['--role', 'owner'])
      const { cards } = (await stranger.say('list_inbox')).value
      expect(cards).toHaveLength(2)
      const [{ card }, { card: other }] = cards
      expect(await stranger.say('decide', { action: 'handle', card })).toMatchObject({ refused: true, value: { code: 'not_owner' } })
      const owner = await connect(here, ['--role', 'owner'], 'legacy', { ASSAY_OWNER_TOKEN: 'the owner of the test' })
      expect((await owner.say('show_card', { card })).value).toMatchObject({ state: 'pending', from: 'dev' })
      expect((await owner.say('decide', { action: 'handle', card })).value).toMatchObject({ action: 'handle' })
      expect((await owner.say('decide', { action: 'dismiss', card: other, reason: 'noise' })).value).toMatchObject({ action: 'dismiss' })
      expect((await owner.say('list_inbox')).value).toMatchObject({ cards: [], more: 0 })
      expect((await owner.say('list_inbox', { state: 'handled' })).value.cards).toMatchObject([{ card }])
      expect(await owner.say('decide', { action: 'bypass', deliverable: 'ghost', reason: 'x' })).toMatchObject({ refused: true })
      expect(await owner.say('decide', { action: 'overrule', task: 'plan-1/greet', outcome: 'pass' })).toMatchObject({
        refused: true,
        value: { code: 'reason_required' },
      })
    },
    timeout,
  )

  it(
    'answers a question, overrules and waives a review',
    async () => {
      const here = project({ '*': [{ unavailable: 'down' }] })
      await here.run(['run', 'plan.yaml'])
      const worker = await connect(here, ['--role', 'worker'])
      expect(
        (await worker.say('review_deliverable_with_evaluator', { deliverable: 'd', text: 'hello', waitSeconds: 20 })).value,
      ).toMatchObject({
        verdict: 'PENDING',
      })
      const card = { type: 'report_ready', title: 'D', metadata: { deliverableId: 'd' } }
      expect((await worker.say('emit_owner_card', card)).value).toMatchObject({ released: false })
      const owner = await connect(here, ['--role', 'owner'], 'modern', { ASSAY_OWNER_TOKEN: 'the owner of the test' })
      await expect
        .poll(async () => (await owner.say('list_inbox')).value.requests, { timeout: 60_000 })
        .toMatchObject([{ subject: 'deliverable-d-1/subject' }])
      expect((await owner.say('decide', { action: 'bypass', deliverable: 'd', reason: 'seen it' })).value.what).toContain('UNREVIEWED')
      expect(owner.stderr()).toContain('waived the review of d')
      expect((await worker.say('emit_owner_card', card)).value).toMatchObject({
        released: true,
        unreviewed: true,
        card: { flag: 'bypassed' },
      })
      const [request] = (await owner.say('list_inbox')).value.requests
      expect((await owner.say('decide', { action: 'answer', request: request.request, answer: 'waive' })).value).toMatchObject({
        code: 'bad_answer',
      })
      expect((await owner.say('decide', { action: 'answer', request: request.request, answer: 'accept', reason: 'good' })).refused).toBe(
        false,
      )
      expect((await worker.say('get_review', { deliverable: 'd', waitSeconds: 5 })).value).toMatchObject({
        deliverable: { verdict: 'PASS' },
      })
      expect(
        (await owner.say('decide', { action: 'overrule', deliverable: 'd', outcome: 'fail', reason: 'on second thought' })).refused,
      ).toBe(false)
      expect((await worker.say('get_review', { deliverable: 'd', waitSeconds: 0 })).value).toMatchObject({
        deliverable: { verdict: 'NEEDS_REVISION' },
      })
    },
    timeout,
  )
})

describe('roles', () => {
  it(
    'see their own tools in a fixed order, with schemas and hints, and reach no other’s',
    async () => {
      const here = project({ '*': [pass] }, { agents: { eye: { role: 'reviewer', brain: 'away' } } })
      const clients: Partial<Record<(typeof roles)[number], McpClient>> = {}
      for (const role of roles) clients[role] = await connect(here, ['--role', role], role === 'worker' ? 'legacy' : 'modern')
      for (const [role, one] of Object.entries(clients)) {
        const { tools } = await one.client.listTools()
        expect(tools.map(({ name }) => name)).toEqual(toolsOf(role as (typeof roles)[number]).map(({ name }) => name))
        for (const { inputSchema, outputSchema, annotations } of tools) {
          expect(inputSchema.type).toBe('object')
          expect(outputSchema?.type).toBe('object')
          expect(Object.keys(annotations ?? {})).toContain('readOnlyHint')
        }
        for (const tool of allTools.filter((other) => other.role !== role))
          await expect(one.client.callTool({ name: tool.name, arguments: {} }), `${role} calls ${tool.name}`).rejects.toThrow(
            /not found|unknown|-32602/i,
          )
      }
      expect(allTools.length).toBe(20)
      expect(new Set(allTools.map(({ name }) => name)).size).toBe(allTools.length)
    },
    timeout,
  )

  it.each([
    ['no role', []],
    ['a role that there is not', ['--role', 'king']],
    ['a reviewer who is started by Assay', ['--role', 'reviewer', '--agent', 'qa']],
    ['nobody outside to judge', ['--role', 'reviewer']],
    ['the owner as a worker', ['--role', 'worker', '--agent', 'Owner']],
  ])(
    'are refused for %s',
    async (_what, args) => {
      const here = project({ '*': [pass] })
      const ended = await here.run(['mcp', ...args])
      expect(ended).toMatchObject({ code: 2, stdout: '' })
      expect(ended.stderr).not.toBe('')
    },
    timeout,
  )
})

describe('a client that sends rubbish', () => {
  it(
    'is answered by the protocol or not at all, and the next message is heard',
    async () => {
      const here = project({ '*': [pass] })
      const call = (id: number, name: string, args: unknown) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name, arguments: args },
      })
      const hello = {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
      }
      const lines = [
        'not json at all',
        '{"jsonrpc":"2.0"',
        '[]',
        'null',
        JSON.stringify(hello),
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
        '\u0000\u0001\uFFFF',
        JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'no/such/method' }),
        JSON.stringify(call(3, 'take_task', { task: 7 })),
        JSON.stringify(call(4, 'take_task', { task: 'x', more: 'y' })),
        JSON.stringify(call(5, 'submit_case', 'a string')),
        JSON.stringify(call(6, 'submit_case', { task: 'plan-1/greet', attempt: 1, summary: { deep: [[[[1]]]] } })),
        JSON.stringify(call(7, 'list_tasks', { limit: 1e9 })),
        JSON.stringify(call(8, '__proto__', {})),
        JSON.stringify(call(9, 'list_tasks', {})),
      ]
      const running = startRaw(here, ['--role', 'worker'])
      running.write(`${lines.join('\n')}\n`)
      const replies = () =>
        running
          .stdout()
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as { id: number; error?: object; result?: { isError?: boolean } })
      await expect.poll(() => replies().map(({ id }) => id), { timeout: 60_000 }).toContain(9)
      const wrong = replies().filter(({ id, error, result }) => id !== 1 && id !== 9 && !error && result?.isError !== true)
      expect(wrong).toEqual([])
      expect(replies().find(({ id }) => id === 9)).toMatchObject({ result: { structuredContent: { tasks: [] } } })
      running.end()
      expect(await running.ended).toBe(0)
    },
    timeout,
  )
})

describe.each(Object.keys(eras) as Era[])('over HTTP, %s', (era) => {
  it(
    'a worker, a reviewer and the owner each reach their own tools with their own tokens',
    async () => {
      const here = project({ '*': [pass] }, { agents: { qa: { role: 'reviewer', brain: 'away' } } })
      here.write({ '.config/assay/owner-token': 'owner-of-the-test\n' })
      await here.run(['run', 'plan.yaml'])
      const server = here.start(['serve', '--port', '0', '--worker', 'dev', '--worker', 'qa', '--json'])
      await expect.poll(() => server.stdout(), { timeout: 60_000 }).toContain('serving')
      const serving = JSON.parse(server.stdout().split('\n')[0] ?? '') as { url: string; workers: { agent: string; file: string }[] }
      const tokenOf = (agent: string) => readFileSync(serving.workers.find((one) => one.agent === agent)?.file ?? '', 'utf8').trim()
      const speak = async (path: string, token: string) => {
        const init = { headers: { authorization: `Bearer ${token}` } }
        return talking(await connected(new StreamableHTTPClientTransport(new URL(`${serving.url}${path}`), { requestInit: init }), era))
      }
      const task = 'plan-1/greet'
      const worker = await speak('/mcp', tokenOf('dev'))
      const { workspace } = (await worker.say('take_task', { task })).value
      writeFileSync(join(workspace, 'core.txt'), 'hello\n')
      const submitting = worker.say('submit_case', { task, attempt: 1, ...caseFor('core.txt:1') })
      const reviewer = await speak('/mcp/reviewer', tokenOf('qa'))
      await expect.poll(async () => (await reviewer.say('list_reviews')).value.reviews, { timeout: 60_000 }).toHaveLength(1)
      const [{ review }] = (await reviewer.say('list_reviews')).value.reviews
      const { schema } = (await reviewer.say('get_review_material', { review })).value
      expect((await reviewer.say('submit_verdict', { review, verdict: verdictFor(schema) })).value).toEqual({ outcome: 'graded' })
      expect((await submitting).value).toMatchObject({ status: 'decided', review: { phase: 'accepted', flag: 'clean' } })
      const owner = await speak('/mcp', 'owner-of-the-test')
      await worker.say('emit_owner_card', { type: 'milestone', title: 'Done' })
      const [{ card }] = (await owner.say('list_inbox')).value.cards
      expect((await owner.say('decide', { action: 'handle', card })).refused).toBe(false)
      await expect(worker.client.callTool({ name: 'decide', arguments: { action: 'handle', card } })).rejects.toThrow()
      await expect(speak('/mcp/reviewer', tokenOf('dev'))).rejects.toThrow()
      await expect(speak('/mcp', 'a token of nobody')).rejects.toThrow()
      server.child.kill('SIGTERM')
      expect((await server.ended).code).toBe(0)
    },
    timeout,
  )
})
