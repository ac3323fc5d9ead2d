/** The loopback model in a process of its own. Tells its address; then each message sets it up anew, and is answered with what came before. */
import { setTimeout as sleep } from 'node:timers/promises'
import { accept } from '../../src/testing/model-server/answers.ts'
import { startModelServer } from '../../src/testing/model-server/server.ts'

export interface Served {
  requests: number
  bytes: number
  /** Body of the first request; empty where there was none. */
  first: string
}

const server = await startModelServer(accept)
process.on('message', ({ latencyMs }: { latencyMs: number }) => {
  const { requests } = server
  const bytes = requests.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  process.send?.({ requests: requests.length, bytes, first: requests[0]?.text ?? '' } satisfies Served)
  server.play(async (request) => {
    if (latencyMs > 0) await sleep(latencyMs)
    return accept(request)
  })
})
process.on('disconnect', () => process.exit())
process.send?.({ baseURL: server.baseURL('openai-compatible') })
