import type { HttpMcp } from '../../doors/http/world.ts'
import type { Engine } from '../../engine/engine.ts'
import { judgesOutside } from '../../engine/outside/who.ts'
import { ownerName } from '../authority.ts'
import { doubledKey } from './doubled.ts'
import { mcpWorld } from './world.ts'

export interface HttpPlace {
  folder: string
  version: string
  engine: Engine
  log(line: string): void
  stop: AbortSignal
}

/** The Model Context Protocol beside the HTTP API. The server works on every open mission already, and has checked who asks. */
export function httpMcp({ engine, ...place }: HttpPlace): HttpMcp {
  const world = mcpWorld({
    ...place,
    engine: async () => engine,
    workOn: () => undefined,
    authority: async () => ({ ok: true, value: { by: ownerName() } }),
  })
  const doors = new Map<string, Promise<{ fetch(request: Request): Promise<Response> }>>()
  return {
    mayJudge: (agent) => judgesOutside(engine.parts.rules.policy, agent),
    speak: async (role, agent, request) => {
      const doubled = request.method === 'POST' ? doubledKey(await request.clone().text()) : undefined
      if (doubled) return Response.json(doubled, { status: 400 })
      const name = `${role} ${agent}`
      const door = doors.get(name) ?? import('../../doors/mcp/server.ts').then(({ mcpHandler }) => mcpHandler(world, role, agent))
      doors.set(name, door)
      return (await door).fetch(request)
    },
  }
}
