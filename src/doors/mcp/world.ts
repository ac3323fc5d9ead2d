import type { Result } from '../../contract/errors.ts'
import type { BroughtDeliverable } from '../../engine/deliverables/review.ts'
import type { Engine } from '../../engine/engine.ts'
import type { SnapshotReader } from '../../ports/brain.ts'

/** What is to be reviewed, as a producer names it: exactly one of the three. */
export interface NamedSubject {
  text?: string | undefined
  /** A file or folder below the project's folder. */
  path?: string | undefined
  url?: string | undefined
}

export type BroughtSubject = Pick<BroughtDeliverable, 'kind' | 'snapshot' | 'base' | 'digest' | 'source'>

/** Looks into the work for a judge; every answer is bounded and fenced as data. */
export interface Explorer {
  answer(tool: 'read_file' | 'list' | 'grep', input: unknown): Promise<string>
}

/** What the MCP door needs of the world; `main/mcp` provides it. */
export interface McpWorld {
  version: string
  /** The engine; it may still be opening when the first call arrives. */
  engine(): Promise<Engine>
  /** Sees to it that somebody works on a mission from here on, so that its checks run and its judges are asked. */
  workOn(mission: string): void
  /** Takes what is to be reviewed into the store. */
  subject(named: NamedSubject): Promise<Result<BroughtSubject, string>>
  /** Digest of what lies at a source now; undefined where that cannot be told. */
  digestNow(source: string): Promise<string | undefined>
  explore(reader: SnapshotReader, nonce: string): Promise<Explorer>
  /** Under whose name the owner decides here, or a reviewer gives its verdict; or why nobody may. */
  authority(): Promise<Result<{ by: string }, string>>
  /** Faults and bugs, for whoever runs the server. */
  log(line: string): void
  /** No new work from here on. */
  stop: AbortSignal
}
