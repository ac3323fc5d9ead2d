import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { startRaw } from './front-door/mcp.ts'
import { pass, project } from './front-door/outside.ts'

const timeout = 240_000
useAssay()

const task = 'plan-1/greet'
const message = (id: number, method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id, method, params })
const hello = message(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } })
const call = (id: number, name: string, args: object) => message(id, 'tools/call', { name, arguments: args })

/** A case that says two things under one name: a reader would see one of them. */
const doubled = (id: number) =>
  call(id, 'submit_case', {
    task,
    attempt: 1,
    output: 'hello',
    summary: 's',
    ac_coverage: [{ criterion: 'AC1', pointer: 'output:1' }],
  }).replace('"summary":"s"', '"summary":"nothing was tested","summary":"everything was tested"')
const about = expect.stringContaining('a key appears twice')

describe('a call in which a key appears twice', () => {
  it('is refused over standard input, and the next one is heard', { timeout }, async () => {
    const here = project({ '*': [pass] })
    await here.run(['run', 'plan.yaml'])
    const server = startRaw(here, ['--role', 'worker'])
    const replies = () =>
      server
        .stdout()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { id: number; error?: { code: number; message: string }; result?: object })
    const reply = (id: number) => expect.poll(() => replies().find((one) => one.id === id), { timeout: 60_000 })
    server.write(`${hello}\n${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
    await reply(1).toMatchObject({ result: { serverInfo: {} } })
    server.write(`${call(2, 'take_task', { task })}\n`)
    await reply(2).toMatchObject({ result: { structuredContent: { attempt: 1 } } })
    const text = doubled(3)
    // In pieces, as a pipe may deliver it.
    server.write(text.slice(0, 40))
    server.write(`${text.slice(40)}\r\n${call(4, 'list_tasks', {})}\n`)
    await reply(3).toMatchObject({ error: { code: -32600, message: about } })
    await reply(4).toMatchObject({ result: { structuredContent: { tasks: [{ id: task }] } } })
    expect((await here.events()).map(({ type }) => type)).not.toContain('case.submitted')
    server.end()
    expect(await server.ended).toBe(0)
  })

  it('is refused over HTTP', { timeout }, async () => {
    const here = project({ '*': [pass] })
    await here.run(['run', 'plan.yaml'])
    const server = here.start(['serve', '--port', '0', '--worker', 'dev', '--json'])
    await expect.poll(() => server.stdout(), { timeout: 60_000 }).toContain('serving')
    const { url, workers } = JSON.parse(server.stdout().split('\n')[0] ?? '') as { url: string; workers: { file: string }[] }
    const headers = {
      authorization: `Bearer ${readFileSync(workers[0]?.file ?? '', 'utf8').trim()}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const say = async (body: string) => {
      const answer = await fetch(`${url}/mcp`, { method: 'POST', headers, body })
      return { status: answer.status, text: await answer.text() }
    }
    expect((await say(call(2, 'take_task', { task }))).text).toContain('"attempt":1')
    const refused = await say(doubled(3))
    expect(refused.status).toBe(400)
    expect(JSON.parse(refused.text)).toMatchObject({ jsonrpc: '2.0', id: 3, error: { code: -32600, message: about } })
    expect((await say(`[${doubled(4)}]`)).status).toBe(400)
    expect((await here.events()).map(({ type }) => type)).not.toContain('case.submitted')
    server.child.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })
})
