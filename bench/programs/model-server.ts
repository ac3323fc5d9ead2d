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
  /** Messages of a worker before its case is in; 4 unless told. */
  turns?: number
}

/** Most bodies that are told. */
const mostTold = 24

/** Calls of a model worker that needs no program: it writes, looks, corrects so often as wanted, and hands in. */
function stepsOf(turns: number): [tool: string, args: object][] {
  const between = Array.from({ length: turns - 2 }, (_, n): [string, object] => {
    const edit = Math.floor(n / 2)
    return n % 2 === 0
      ? ['read_file', { path: 'work.txt' }]
      : ['edit_file', { path: 'work.txt', old: `line ${edit}\n`, new: `line ${edit + 1}\n` }]
  })
  return [
    ['write_file', { path: 'work.txt', content: 'one\nline 0\n' }],
    ...between,
    ['submit_case', { summary: 'Written.', ac_coverage: [] }],
  ]
}
const rework: ReturnType<typeof stepsOf> = [
  ['edit_file', { path: 'work.txt', old: 'one', new: 'two' }],
  ['submit_case', { summary: 'Corrected.', ac_coverage: [] }],
]

function answer(request: ModelRequest, { rejections = 0, turns = 4 }: Setting, verdicts: number): Answer {
  if (!request.tools.includes('submit_case')) return verdicts < rejections ? reject(request) : accept(request)
  const made = callsMade(request).length
  const [tool, args] = [...stepsOf(turns), ...rework][made] ?? ['submit_case', {}]
  return use(tool, args)
}

const server = await startModelServer(accept)
process.on('message', (setting: Setting) => {
  const { requests } = server
  const bytes = requests.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  process.send?.({ requests: requests.length, bytes, first: requests.slice(0, mostTold).map(({ text }) => text) } satisfies Served)
  let verdicts = 0
  server.play(async (request) => {
    if (setting.latencyMs > 0) await sleep(setting.latencyMs)
    const said = answer(request, setting, verdicts)
    if (!request.tools.includes('submit_case')) verdicts += 1
    return said
  })
})
process.on('disconnect', () => process.exit())
process.send?.({ baseURL: server.baseURL('openai-compatible') })
