import type { Result } from '../../contract/errors.ts'
import type { McpWorld } from '../../doors/mcp/world.ts'
import type { Engine } from '../../engine/engine.ts'

/** Most characters that one look into the work answers with. */
const exploreBudget = 100_000

export interface McpPlace {
  folder: string
  version: string
  engine: () => Promise<Engine>
  workOn(mission: string): void
  authority(): Promise<Result<{ by: string }, string>>
  log(line: string): void
  stop: AbortSignal
}

/** The world as the MCP door sees it; what only some tools need is loaded when they are called. */
export function mcpWorld({ folder, ...place }: McpPlace): McpWorld {
  return {
    ...place,
    subject: async (named) => {
      const { namedSubject } = await import('./subject.ts')
      return namedSubject(named, folder, await place.engine())
    },
    digestNow: async (source) => {
      const { digestNow } = await import('../subjects/subjects.ts')
      return digestNow(source, await place.engine())
    },
    explore: async (reader, nonce) => {
      const { openExplorer } = await import('../../adapters/brains/model/tools/explorer.ts')
      return openExplorer(reader, nonce, exploreBudget)
    },
  }
}
