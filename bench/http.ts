/** Reads per second next to a bare hono route, and the live stream to a hundred readers. Run: `npx node bench/http.ts [--size small|full]`. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { median, printTable, ratio } from './measure.ts'
import type { Opened, Question } from './programs/http-server.ts'
import { openPrograms } from './programs/open.ts'

const { values: flags } = parseArgs({ options: { size: { type: 'string', default: 'full' }, dir: { type: 'string' } } })
const small = flags.size === 'small'
const rounds = small ? 3 : 7
const reads = small ? 500 : 3000
const connections = 16
const readers = 100
const events = small ? 100 : 500

/** The owner's token is made in a home of its own. */
const home = mkdtempSync(join(flags.dir ?? tmpdir(), 'assay-bench-'))
process.env.XDG_CONFIG_HOME = home
const folder = join(home, 'project')
mkdirSync(folder)
const programs = await openPrograms(['http-server'], flags.dir)
const child = programs.start('http-server')

async function tell<T>(question: Question): Promise<T> {
  child.send(question)
  const [said] = await once(child as ChildProcess, 'message')
  return said as T
}

const spent = async (): Promise<number> => (await tell<{ cpuMs: number }>({ spent: true })).cpuMs
const token = (): string => readFileSync(join(home, 'assay', 'owner-token'), 'utf8').trim()

/** So many reads over a few connections that stay open. */
async function read(agent: Agent, port: number, path: string, count: number): Promise<void> {
  const headers = { authorization: `Bearer ${token()}` }
  let left = count
  const one = () =>
    new Promise<void>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path, agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`))
        response.resume().once('end', resolve)
      }).on('error', reject)
    })
  const loop = async () => {
    while (left > 0) {
      left -= 1
      await one()
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
}

async function compareReads({ door, bare }: Opened): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const contenders: [string, number, string][] = [
    ['floor: a bare hono route', bare, '/one'],
    ['GET /v1/health', door, '/v1/health'],
    ['GET /v1/tasks/{task}', door, '/v1/tasks/m-1%2Ftask-0'],
    ['GET /v1/tasks?limit=100', door, '/v1/tasks?limit=100'],
    ['GET /v1/audit?limit=100', door, '/v1/audit?limit=100'],
  ]
  const results = contenders.map(() => ({ perSecond: [] as number[], cpu: [] as number[] }))
  for (let round = 0; round <= rounds; round += 1)
    for (const [index, [, port, path]] of contenders.entries()) {
      const [before, start] = [await spent(), performance.now()]
      await read(agent, port, path, reads)
      const ms = performance.now() - start
      // The first round only warms up.
      if (round === 0) continue
      results[index]?.perSecond.push((reads / ms) * 1000)
      results[index]?.cpu.push((((await spent()) - before) / reads) * 1000)
    }
  agent.destroy()
  const [base] = results
  printTable(
    `Reads over ${connections} connections, ${rounds} rounds of ${reads} in turns, 200 tasks in SQLite`,
    ['', 'reads/s', 'of the floor', 'server CPU µs a read', 'against floor'],
    contenders.map(([name], index) => {
      const { perSecond = [], cpu = [] } = results[index] ?? {}
      return [
        name,
        median(perSecond),
        ratio(median(perSecond), median(base?.perSecond ?? [])),
        median(cpu),
        ratio(median(cpu), median(base?.cpu ?? [])),
      ]
    }),
  )
}

interface Reader {
  heard(count: number): Promise<void>
  close(): void
}

function listen(port: number): Promise<Reader> {
  const headers = { authorization: `Bearer ${token()}` }
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path: '/v1/events', headers }, (response) => {
      let count = 0
      let wanted: { count: number; done: () => void } | undefined
      response.setEncoding('latin1').on('data', (chunk: string) => {
        count += chunk.split('\nevent: ').length - 1
        if (wanted && count >= wanted.count) wanted.done()
      })
      const heard = (more: number) =>
        new Promise<void>((done) => {
          count = 0
          wanted = { count: more, done }
        })
      resolve({ heard, close: () => request.destroy() })
    }).on('error', reject)
  })
}

async function compareStreams({ door, plainStream }: Opened): Promise<void> {
  const rows: (string | number)[][] = []
  let floor: number | undefined
  for (const [name, port] of [
    ['floor: the same frames written to plain responses', plainStream],
    ['GET /v1/events', door],
  ] as const) {
    const all = await Promise.all(Array.from({ length: readers }, () => listen(port)))
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const heard = Promise.all(all.map((one) => one.heard(events)))
      const start = performance.now()
      await Promise.all([tell({ append: events }), heard])
      times.push(performance.now() - start)
    }
    for (const one of all) one.close()
    floor ??= median(times)
    rows.push([name, median(times), (readers * events * 1000) / median(times), ratio(median(times), floor)])
  }
  printTable(`Live stream: ${events} events to ${readers} readers, appended durably`, ['', 'ms', 'deliveries/s', 'against floor'], rows)
}

try {
  const opened = await tell<Opened>({ open: folder, tasks: 200 })
  await compareReads(opened)
  await compareStreams(opened)
} finally {
  programs.close()
  rmSync(home, { recursive: true, force: true })
}
