import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openInventory } from '../../adapters/snapshots/inventory.ts'
import { durationMs } from '../../contract/config/duration.ts'
import type { Result } from '../../contract/errors.ts'
import type { Problem } from '../../contract/source/problem.ts'
import type { ServeRequest, Serving } from '../../doors/cli/app.ts'
import { type HttpServer, serveHttp } from '../../doors/http/server.ts'
import type { HttpWorld } from '../../doors/http/world.ts'
import { verifyEverything } from '../../engine/audit/verify.ts'
import type { Engine } from '../../engine/engine.ts'
import { ownerName } from '../authority.ts'
import { httpMcp } from '../mcp/http.ts'
import { digestNow } from '../subjects/subjects.ts'
import { type Keeper, keepRunning } from './keep-running.ts'
import { judgingBy } from './judging.ts'
import { workerTokens } from './tokens.ts'

/** Names of this machine for itself. */
const loopback = ['localhost', '127.0.0.1', '[::1]']

/** Opens the HTTP door and works on every open mission, until the stop. */
export async function startServing(request: ServeRequest, engine: Engine): Promise<Result<Serving, Problem[]>> {
  const { folder, project, host, port, allowHosts, stop, log } = request
  const home = join(folder, '.assay')
  const tokens = await workerTokens({
    agents: Object.keys(project.config.agents),
    fromEnv: request.workerTokenEnv,
    made: request.workers,
    env: request.env,
    folder: join(home, 'tokens'),
    judging: judgingBy(engine, request.env),
  })
  if (!tokens.ok) return tokens
  const failed = new AbortController()
  const stopping = AbortSignal.any([stop, failed.signal])
  let keeper: Keeper | undefined
  const ui = uiFolder()
  const listening = await listen(
    {
      engine,
      project,
      version: request.version,
      ownerName: ownerName(),
      workers: tokens.value.digests,
      hosts: [...loopback, named(host), ...allowHosts.map(named)],
      digestNow: (source) => digestNow(source, engine),
      mcp: httpMcp({ folder, version: request.version, engine, log, stop: stopping }),
      prove: shared(() => verifyEverything({ ...engine.parts, inventory: openInventory(join(home, 'objects')) })),
      running: () => keeper?.state() ?? { running: [], otherPolicy: [] },
      ...(ui !== undefined && { ui }),
      log,
      stop: stopping,
    },
    { host, port },
  )
  if (!listening.ok) return listening
  const server = listening.value
  keeper = keepRunning(engine, stopping, () => failed.abort())
  const ended = endOf(stopping, keeper, server, durationMs(project.config.stopGrace))
  return { ok: true, value: { url: `http://${named(host)}:${server.port}`, port: server.port, workers: tokens.value.given, ended } }
}

/** An address that cannot be had is a matter of how the server was called. */
async function listen(world: HttpWorld, { host, port }: { host: string; port: number }): Promise<Result<HttpServer, Problem[]>> {
  try {
    return { ok: true, value: await serveHttp(world, { host, port }) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code ?? '')) throw error
    const message = `${host}:${port} cannot be listened on (${code})`
    return { ok: false, error: [{ file: 'serve', path: '', message, fix: '--port 0 takes a free port' }] }
  }
}

/** Once told to stop, requests and work end side by side; a store that failed is told last. */
async function endOf(stopping: AbortSignal, keeper: Keeper, server: HttpServer, graceMs: number): Promise<void> {
  if (!stopping.aborted) await new Promise((resolve) => stopping.addEventListener('abort', resolve, { once: true }))
  const [worked] = await Promise.allSettled([keeper.ended, server.close(graceMs)])
  if (worked.status === 'rejected') throw worked.reason
}

/** A host as it stands in an address: IPv6 in brackets, lower case. */
function named(host: string): string {
  const written = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return URL.canParse(`http://${written}`) ? new URL(`http://${written}`).hostname : written.toLowerCase()
}

/** Work that is under way is not begun a second time: whoever asks meanwhile gets the same answer. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let under: Promise<T> | undefined
  return () => {
    under ??= work().finally(() => {
      under = undefined
    })
    return under
  }
}

/** The web pages, beside the packed command line or as the repository builds them; undefined where they were not built. */
function uiFolder(): string | undefined {
  const places = ['../ui', '../../../dist/ui'].map((place) => fileURLToPath(new URL(place, import.meta.url)))
  return places.find((place) => existsSync(join(place, 'index.html')))
}
