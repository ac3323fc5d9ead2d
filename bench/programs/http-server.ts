/** A server with some tasks behind it, next to a bare one that answers and streams the same; it talks by messages. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { serveHttp } from '../../src/doors/http/server.ts'
import { frameOf } from '../../src/doors/http/sse/frames.ts'
import { readPlan, readProject } from '../../src/engine/project.ts'
import { openEngine } from '../../src/main/open-engine.ts'

export type Question = { open: string; tasks: number } | { append: number } | { spent: true }
export interface Opened {
  door: number
  bare: number
  plainStream: number
}

const config = JSON.stringify({
  brains: { out: { kind: 'outside' } },
  agents: { ext: { role: 'engineer', brain: 'out' }, qa: { role: 'reviewer', brain: 'out' } },
})
const noted = (index: number) => ({ type: 'note.made', v: 1, data: { index, text: 'x'.repeat(400) } })
const listeners = new Set<ServerResponse>()

async function open(folder: string, tasks: number) {
  const project = readProject({ text: config, file: 'assay.yaml', env: {}, flags: {} })
  if (!project.ok) throw new Error(JSON.stringify(project.error))
  const engine = await openEngine({ folder, project: project.value, create: true })
  if (!engine) throw new Error('no engine')
  const mission = {
    name: 'M',
    tasks: Array.from({ length: tasks }, (_, n) => ({ title: `task ${n}`, assignTo: 'ext', description: 'Do it.' })),
  }
  const plan = readPlan({ text: JSON.stringify(mission), file: 'm.json' }, project.value)
  if (!plan.ok) throw new Error(JSON.stringify(plan.error))
  await engine.start(plan.value.plan)
  const server = await serveHttp(
    {
      engine,
      project: project.value,
      version: '0',
      ownerName: 'bench',
      workers: new Map(),
      hosts: ['127.0.0.1'],
      digestNow: async () => undefined,
      prove: () => Promise.reject(new Error('not here')),
      running: () => ({ running: [], otherPolicy: [] }),
      log: () => {},
      stop: new AbortController().signal,
    },
    { host: '127.0.0.1', port: 0 },
  )
  const bare = new Hono()
  const [row] = await engine.taskRows()
  bare.get('/one', (c) => c.json(row))
  const bareServer = createAdaptorServer({ fetch: bare.fetch }).listen(0, '127.0.0.1')
  const plain = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n')
    listeners.add(response)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => setTimeout(resolve, 100))
  const port = (one: { address(): unknown }) => (one.address() as AddressInfo).port
  const opened: Opened = { door: server.port, bare: port(bareServer), plainStream: port(plain) }
  return { engine, opened }
}

let engine: Awaited<ReturnType<typeof open>>['engine'] | undefined

async function answer(question: Question): Promise<unknown> {
  if ('open' in question) {
    const made = await open(question.open, question.tasks)
    engine = made.engine
    return made.opened
  }
  if ('spent' in question) {
    const { user, system } = process.cpuUsage()
    return { cpuMs: (user + system) / 1000 }
  }
  if (!engine) throw new Error('nothing is open')
  const { journal } = engine.parts
  const streams = [
    { stream: 'notes/a', expected: await journal.head('notes/a'), events: Array.from({ length: question.append }, (_, n) => noted(n)) },
  ]
  const appended = await journal.append({ streams, meta: { at: new Date().toISOString(), actor: 'bench' } })
  if (!appended.ok) throw new Error(appended.code)
  // The floor: the same frames, written to whoever listens, nothing else.
  for (const event of appended.events) {
    const { text } = frameOf(event)
    for (const response of listeners) response.write(text)
  }
  return {}
}

process.on('message', (question: Question) => {
  void answer(question).then((said) => process.send?.(said))
})
process.on('disconnect', () => process.exit(0))
