/** The loopback model in a process of its own. Tells its address; then each message sets it up anew, and is answered with what came before. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, accept, reject, use } from '../../src/testing/model-server/answers.ts'
import { callsMade, type ModelRequest } from '../../src/testing/model-server/request.ts'
import { startModelServer } from '../../src/testing/model-server/server.ts'

export interface Served {
  requests: number
  bytes: number
  /** Bodies of the first requests, oldest first. */
  first: string[]
}

export interface Setting {
  latencyMs: number
  /** How often a panel's seats reject before they accept. */
  rejections?: number
}

/** Most bodies that are told. */
const mostTold = 24

/** Calls of a model worker that needs no program: it writes, looks, corrects, and hands in. */
const steps: [tool: string, args: object][] = [
  ['write_file', { path: 'work.txt', content: 'one\ntwo\n' }],
  ['read_file', { path: 'work.txt' }],
  ['edit_file', { path: 'work.txt', old: 'two', new: 'three' }],
  ['submit_case', { summary: 'Written.', ac_coverage: [] }],
]
const rework: typeof steps = [
  ['edit_file', { path: 'work.txt', old: 'three', new: 'four' }],
  ['submit_case', { summary: 'Corrected.', ac_coverage: [] }],
]

function answer(request: ModelRequest, rejections: number, verdicts: number): Answer {
  if (!request.tools.includes('submit_case')) return verdicts < rejections ? reject(request) : accept(request)
  const made = callsMade(request).length
  const [tool, args] = [...steps, ...rework][made] ?? ['submit_case', {}]
  return use(tool, args)
}

const server = await startModelServer(accept)
process.on('message', ({ latencyMs, rejections = 0 }: Setting) => {
  const { requests } = server
  const bytes = requests.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  process.send?.({ requests: requests.length, bytes, first: requests.slice(0, mostTold).map(({ text }) => text) } satisfies Served)
  let verdicts = 0
  server.play(async (request) => {
    if (latencyMs > 0) await sleep(latencyMs)
    const said = answer(request, rejections, verdicts)
    if (!request.tools.includes('submit_case')) verdicts += 1
    return said
  })
})
process.on('disconnect', () => process.exit())
process.send?.({ baseURL: server.baseURL('openai-compatible') })
