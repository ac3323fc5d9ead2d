import { setImmediate as nextTurn } from 'node:timers/promises'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Authority, McpRequest } from '../../doors/cli/app.ts'
import { mcpServer } from '../../doors/mcp/server.ts'
import { Session } from '../../doors/mcp/session.ts'
import type { Engine } from '../../engine/engine.ts'
import { reviewerAuthority } from '../authority.ts'
import { speaksForOwner } from '../speaks-for-owner.ts'
import { PlainMessages } from './doubled.ts'
import { TouchedMissions } from './touched.ts'
import { mcpWorld } from './world.ts'

/** Bytes of one message; a client that sends more is not listened to any longer. */
const longestMessage = 16 * 1024 * 1024

/**
 * Serves one agent in one role over standard input and output, until the client has gone or the stop is heard. The tools are there at once; the
 * journal is opened meanwhile.
 */
export async function serveMcp(request: McpRequest, open: () => Promise<Engine>, authority: () => Promise<Authority>): Promise<void> {
  const { role, agent, folder, version, log } = request
  const gone = new AbortController()
  const stop = AbortSignal.any([request.stop, gone.signal])
  // After the first message, if one is there already: a client waits for the answer to that one.
  const engine = nextTurn().then(open)
  const touched = engine.then((opened) => new TouchedMissions(opened, stop, log))
  // Whoever calls a tool is told; before that nobody has to hear of it but whoever runs the server.
  touched.catch((error: unknown) => log((error as Error).message))
  const world = mcpWorld({
    folder,
    version,
    engine: () => engine,
    workOn: (mission) => void touched.then((missions) => missions.touch(mission)).catch(() => undefined),
    authority: async () => {
      const shown = role === 'reviewer' ? reviewerAuthority(process.env, agent) : await authority()
      if (!shown.ok) return { ok: false, error: shown.message }
      return (await speaksForOwner(await engine, shown.token))
        ? { ok: true, value: { by: shown.by } }
        : { ok: false, error: "the token is not that of this project's owner" }
    },
    log,
    stop,
  })
  const session = new Session(world, role, agent)
  const messages = process.stdin.pipe(new PlainMessages(longestMessage, (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`)))
  const transport = new StdioServerTransport(messages, process.stdout, { maxBufferSize: longestMessage })
  const handle = serveStdio(() => mcpServer(session), { transport, onerror: (error) => log(`mcp: ${error.message}`) })
  process.stdin.once('close', () => gone.abort()).once('end', () => gone.abort())
  process.stdout.once('error', () => gone.abort())
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }))
  await handle.close()
  process.stdin.unpipe(messages).pause()
  await session.reviews.settled()
  await touched.then((missions) => missions.ended()).catch(() => undefined)
  await engine.then((opened) => opened.close()).catch(() => undefined)
}
