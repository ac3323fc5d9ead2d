import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { roles } from '../src/doors/mcp/role.ts'
import { allTools, toolsOf } from '../src/doors/mcp/tools/table.ts'
import { useAssay } from './front-door/assay.ts'
import { connect, connected, type Era, eras, type McpClient, startRaw, talking } from './front-door/mcp.ts'
import { caseFor, pass, project, verdictFor } from './front-door/outside.ts'
import type { Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

/** A mission whose work waits for a judge outside. */
async function awaiting(more: object = {}): Promise<Project> {
  const here = project(
    { '*': [pass] },
    { agents: { qa: { role: 'reviewer', brain: 'away' }, dev: { role: 'engineer', brain: 'canned' } }, workers, ...more },
  )
  expect((await here.run(['run', 'plan.yaml'])).code).toBe(3)
  return here
}
const workers = { '*': [{ write: { 'core.txt': 'hello\n', 'deep/more.txt': 'needle here\n' } }] }

describe('a reviewer', () => {
  it(
    'is awaited, looks at the work and nothing else, and decides by its verdict',
    async () => {
      const here = await awaiting()
      const waits = await here.run(['resume'])
      expect(waits).toMatchObject({ code: 3, stdout: expect.stringContaining('Next: assay mcp --role reviewer --agent qa') })
      const token = (await here.asOwner(['mcp', '--role', 'reviewer', '--print-token'])).stdout.trim()
      expect((await here.run(['mcp', '--role', 'reviewer', '--print-token'])).code).toBe(2)
      const reviewer = await connect(here, ['--role', 'reviewer'], 'modern', { ASSAY_REVIEWER_TOKEN: token })
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
      for (const env of [
        {},
        { ASSAY_REVIEWER_TOKEN: 'guessed' },
        { ASSAY_REVIEWER_TOKEN: token, XDG_CONFIG_HOME: join(here.folder, 'tmp') },
      ]) {
        const stranger = await connect(here, ['--role', 'reviewer'], 'modern', env)
        for (const [asked, input] of Object.entries({
          get_review_material: {},
          list: {},
          read_file: { path: 'core.txt' },
          grep: { pattern: 'hello' },
          submit_verdict: { verdict: verdictFor(schema) },
        }))
          expect(await stranger.say(asked, { review, ...input }), asked).toMatchObject({ refused: true, value: { code: 'not_reviewer' } })
        expect(JSON.stringify(await stranger.say('list_reviews'))).not.toContain(verdictFor(schema).nonce)
        await stranger.close()
      }
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
        (await worker.say('review_deliverable_with_evaluator', { deliverable: 'd', text: 'hello', waitSeconds: 2 })).value,
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
        deliverable: { verdict: 'OWNER-ACCEPTED' },
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
      const env = { ASSAY_OWNER_TOKEN: 'owner-of-the-test' }
      const server = here.start(['serve', '--port', '0', '--worker', 'dev', '--worker', 'qa', '--json'], { env })
      await expect.poll(() => server.stdout(), { timeout: 60_000 }).toContain('serving')
      const serving = JSON.parse(server.stdout().split('\n')[0] ?? '') as { url: string; workers: { agent: string; file: string }[] }
      const printed = (await here.run(['mcp', '--role', 'reviewer', '--agent', 'qa', '--print-token'], { env })).stdout.trim()
      expect(serving.workers).toContainEqual({ agent: 'qa', printedBy: 'assay mcp --role reviewer --agent qa --print-token' })
      const tokenOf = (agent: string) =>
        agent === 'qa' ? printed : readFileSync(serving.workers.find((one) => one.agent === agent)?.file ?? '', 'utf8').trim()
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

describe('a server over HTTP', () => {
  it(
    "lets nobody judge without the owner's authority: neither by a token of its own making nor by one that lies in the project",
    async () => {
      const here = project({ '*': [pass] }, { agents: { qa: { role: 'reviewer', brain: 'away' } } })
      await here.run(['run', 'plan.yaml'])
      // The account's home, as the system names it, is that of the test.
      here.write({
        'account.mjs': `import os from 'node:os'
import { syncBuiltinESMExports } from 'node:module'
const known = os.userInfo()
os.userInfo = () => ({ ...known, homedir: ${JSON.stringify(here.folder)} })
syncBuiltinESMExports()
`,
      })
      const agent = { CLAUDECODE: '1', NODE_OPTIONS: `--import=${pathToFileURL(join(here.folder, 'account.mjs'))}` }
      const made = 'a'.repeat(48)
      const serve = (args: string[], env: Record<string, string>) =>
        here.run(['serve', '--port', '0', ...args], { env: { ...env, MADE: made } })
      for (const env of [agent, {}, { ASSAY_OWNER_TOKEN: 'guessed' }])
        for (const args of [
          ['--worker-token-env', 'MADE=qa'],
          ['--worker', 'qa'],
        ]) {
          const refused = await serve(args, env as Record<string, string>)
          expect(refused).toMatchObject({ code: 2, stdout: '' })
          expect(refused.stderr).toMatch(/as qa: .*ASSAY_OWNER_TOKEN/)
          expect(refused.stderr).not.toContain('owner-token')
        }
      expect(existsSync(join(here.folder, '.assay/tokens'))).toBe(false)
      const stranger = { XDG_CONFIG_HOME: join(here.folder, 'mine'), ASSAY_OWNER_TOKEN: 'mine' }
      here.write({ 'mine/assay/owner-token': 'mine\n' })
      expect(await serve(['--worker', 'qa'], stranger)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('not that of this project'),
      })
      const own = (await here.asOwner(['mcp', '--role', 'reviewer', '--agent', 'qa', '--print-token'])).stdout.trim()
      const server = here.start(['serve', '--port', '0', '--worker-token-env', 'OWN=qa', '--json'], { env: { ...agent, OWN: own } })
      await expect.poll(() => server.stdout(), { timeout: 60_000 }).toContain('serving')
      const { url } = JSON.parse(server.stdout().split('\n')[0] ?? '') as { url: string }
      const at = (token: string) =>
        fetch(`${url}/mcp/reviewer`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' })
      expect((await at(made)).status).toBe(401)
      expect((await at(own)).status).not.toBe(401)
      server.child.kill('SIGTERM')
      expect((await server.ended).code).toBe(0)
    },
    timeout,
  )
})
