import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import { RememberedAnswers } from './answer/remembered.ts'
import { refuse, type Refused, refusedFor } from './answer/problem.ts'
import { type Answer, problemReply, type Reply, replyOf, unlessKnown } from './answer/reply.ts'
import { refusedAddress } from './authority/address.ts'
import { Tokens, type Who } from './authority/who.ts'
import { cursorAt, keyAt, listName } from './cursor.ts'
import type { Door } from './door.ts'
import { openApiOf } from './openapi.ts'
import { bodyText, readBody, readWith } from './request.ts'
import type { Route } from './route.ts'
import { eventsRoute, routes } from './routes/table.ts'
import type { EventHub } from './sse/hub.ts'
import { serveEvents } from './sse/serve.ts'
import { uiFile } from './ui.ts'

type Env = { Bindings: HttpBindings; Variables: { who: Who } }
type Ctx = Context<Env>

/** Answers kept for repeated requests. */
const kept = { entries: 1000, bytes: 32 * 1024 * 1024 }

/** The whole server but for its socket. */
export function createApp(door: Door, hub: EventHub): Hono<Env> {
  const app = new Hono<Env>()
  const remembered = new RememberedAnswers(kept)
  const tokens = new Tokens(door)
  app.onError((error) => respond(failed(door, error)))
  app.use('*', async (c, next) => {
    const address = {
      target: c.env.incoming.url,
      host: c.req.header('host'),
      origin: c.req.header('origin'),
      site: c.req.header('sec-fetch-site'),
    }
    const refused = refusedAddress(address, door.hosts)
    if (refused) return respond(problemReply(refuse(refused.code, refused.detail).refused))
    if (door.stop.aborted) return respond(closing(problemReply(refuse('stopping', 'this server is stopping').refused)))
    return next()
  })
  for (const path of ['/v1/*', '/mcp', '/mcp/*'])
    app.use(path, async (c, next) => {
      const who = await tokens.who(c.req.header('authorization'))
      if (!who) return respond(problemReply(refuse('unauthorized', 'show a token: Authorization: Bearer <token>').refused))
      c.set('who', who)
      return next()
    })
  for (const path of ['/mcp', '/mcp/reviewer']) app.all(path, (c) => speakMcp(c, door))
  const document = JSON.stringify(openApiOf(routes, door.version))
  app.get('/v1/openapi.json', (c) => {
    const reply = { status: 200, headers: { 'content-type': 'application/json' }, body: document }
    return respond(unlessKnown(reply, c.req.header('if-none-match')))
  })
  for (const route of routes) {
    const answer = route === eventsRoute ? (c: Ctx) => live(c, door, hub) : (c: Ctx) => answerTo(c, door, route, remembered)
    app.on(route.method.toUpperCase(), honoPath(route.path), answer)
  }
  for (const path of new Set(routes.map((route) => route.path))) app.all(honoPath(path), () => respond(wrongMethod(path)))
  app.all('/v1/*', (c) => respond(problemReply(refuse('not_found', `there is nothing at ${c.req.path}`).refused)))
  app.get('*', async (c) => respond(await uiFile(door.ui, c.req.path)))
  return app
}

const honoPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** A worker's token reaches no route of the owner's, whatever else is in the request. */
function mayReach(who: Who, { scope }: Route): boolean {
  return who.scope === 'owner' || scope === 'worker'
}

/** The Model Context Protocol: the owner's token reaches the owner's tools, an agent's token that agent's, and to judge it takes a reviewer. */
async function speakMcp(c: Ctx, { mcp, project }: Door): Promise<Response> {
  const { scope, name } = c.get('who')
  const judges = c.req.path === '/mcp/reviewer'
  if (!mcp) return respond(problemReply(refuse('not_found', `there is nothing at ${c.req.path}`).refused))
  if (judges && (scope === 'owner' || !mcp.mayJudge(name)))
    return respond(problemReply(refuse('forbidden', 'this needs the token of a reviewer whose brain is outside').refused))
  const { url, method, headers } = c.req.raw
  const body = method === 'POST' ? await bodyText(c.req.raw, project.config.limits.requestBytes) : undefined
  if (body && !body.ok) return respond(closing(problemReply(body.error.refused)))
  const request = body ? new Request(url, { method, headers, body: body.value, signal: c.req.raw.signal }) : c.req.raw
  return mcp.speak(judges ? 'reviewer' : scope, name, request)
}

const notYours = (): Reply => problemReply(refuse('forbidden', "this needs the owner's token").refused)

async function answerTo(c: Ctx, door: Door, route: Route, remembered: RememberedAnswers): Promise<Response> {
  const who = c.get('who')
  if (!mayReach(who, route)) return respond(notYours())
  if (route.method === 'get') return respond(unlessKnown(await handled(c, door, route, ''), c.req.header('if-none-match')))
  const body = await bodyText(
    c.req.raw,
    route.body === 'text' ? door.project.config.limits.missionBytes : door.project.config.limits.requestBytes,
  )
  if (!body.ok) return respond(closing(problemReply(body.error.refused)))
  const key = c.req.header('idempotency-key')
  const work = () => handled(c, door, route, body.value)
  if (key === undefined) return respond(await work())
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    return respond(problemReply(refuse('invalid_request', 'an Idempotency-Key has 1 to 255 visible characters').refused))
  const { pathname, search } = new URL(c.req.url)
  return respond(await remembered.answer([who.scope, who.name, pathname, search, key], body.value, work))
}

/** Parses, acts, and turns whatever comes of it into a reply. */
async function handled(c: Ctx, door: Door, route: Route, text: string): Promise<Reply> {
  const parts = {
    params: route.params ? readWith(route.params, c.req.param(), 'path') : nothing,
    query: route.query ? readWith(route.query.strict(), queryOf(c), 'query') : nothing,
    body: route.body === undefined ? nothing : readBody(c.req.header('content-type') ?? null, text, route.body),
  }
  const [wrong] = Object.values(parts).flatMap((part) => (part.ok ? [] : [part.error]))
  if (wrong) return problemReply(wrong.refused)
  const value = (part: { ok: boolean; value?: unknown }) => part.value as never
  const list = listName(c.get('who'), new URL(c.req.url).pathname, queryOf(c))
  const query = value(parts.query) as { cursor?: string }
  const at = query.cursor === undefined ? undefined : keyAt(list, query.cursor)
  if (at?.ok === false) return problemReply(at.error.refused)
  try {
    const key = c.req.header('idempotency-key')
    const answer = await route.handle({
      door,
      who: c.get('who'),
      params: value(parts.params),
      query: (at ? { ...query, cursor: at.value } : query) as never,
      body: value(parts.body),
      key,
    })
    return replyOf(isPaged(route) ? withCursor(list, answer) : answer)
  } catch (error) {
    return failed(door, error)
  }
}

const isPaged = ({ query }: Route): boolean => query !== undefined && 'cursor' in query.shape

/** A page as it leaves: where it ended is sealed with the list that it is of. */
function withCursor(list: string, answer: Answer<unknown>): Answer<unknown> {
  if ('refused' in answer || !('body' in answer)) return answer
  const page = answer.body as { next: string | null }
  return { ...answer, body: { ...page, next: page.next === null ? null : cursorAt(list, page.next) } }
}

const nothing: { ok: true; value: unknown } | { ok: false; error: Refused } = { ok: true, value: {} }
const queryOf = (c: Ctx): Record<string, string> => c.req.query()

async function live(c: Ctx, door: Door, hub: EventHub): Promise<Response> {
  if (c.req.method !== 'GET') return respond(wrongMethod(eventsRoute.path))
  if (!mayReach(c.get('who'), eventsRoute)) return respond(notYours())
  const query = readWith((eventsRoute.query as NonNullable<Route['query']>).strict(), queryOf(c), 'query')
  if (!query.ok) return respond(problemReply(query.error.refused))
  const last = c.req.header('last-event-id')
  if (last !== undefined && !/^\d{1,15}$/.test(last))
    return respond(problemReply(refuse('invalid_request', 'Last-Event-ID is the `id` of an event of this stream: a whole number').refused))
  const after = last === undefined ? (query.value as { after?: number }).after : Number(last)
  const refused = await serveEvents(hub, c.env.outgoing, after, door.engine.parts.journal)
  return refused ? respond(problemReply(refused.refused)) : RESPONSE_ALREADY_SENT
}

function failed(door: Door, error: unknown): Reply {
  const { refused } = refusedFor(error)
  door.log(refused.code === 'internal' ? `an error that should not happen\n${(error as Error).stack ?? String(error)}` : refused.detail)
  return problemReply(refused)
}

/** What is left of the request is not read: the connection ends with the answer. */
const closing = (reply: Reply): Reply => ({ ...reply, headers: { ...reply.headers, connection: 'close' } })

function wrongMethod(path: string): Reply {
  const methods = routes.filter((route) => route.path === path).map(({ method }) => method.toUpperCase())
  const reply = problemReply(refuse('method_not_allowed', `${path} takes ${methods.join(', ')}`).refused)
  return { ...reply, headers: { ...reply.headers, allow: methods.join(', ') } }
}

function respond({ status, headers, body }: Reply): Response {
  return new Response(status === 304 ? null : (body as string), { status, headers })
}
