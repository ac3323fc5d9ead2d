import type { AuditReport } from '../../engine/audit/verify.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Project } from '../../engine/project.ts'

/** What the HTTP door needs of the world; `main/serve` provides it. */
export interface HttpWorld {
  engine: Engine
  project: Project
  version: string
  /** Name under which the owner's decisions are recorded. */
  ownerName: string
  /** Agents by the SHA-256 of their tokens. */
  workers: ReadonlyMap<string, string>
  /** Names, without port, by which this server may be addressed. */
  hosts: readonly string[]
  /** Digest of what lies at the source of a deliverable now; undefined where that cannot be told. */
  digestNow(source: string): Promise<string | undefined>
  /** The Model Context Protocol, where it is spoken. */
  mcp?: HttpMcp
  /** Proves chains, views and objects. */
  prove(): Promise<AuditReport>
  /** Missions that are worked on here, and open ones that are not because their policy is another. */
  running(): { running: string[]; otherPolicy: string[] }
  /** Folder with the files of the web pages; undefined where they were not built. */
  ui?: string
  /** Faults and bugs, for whoever runs the server. */
  log(line: string): void
  /** No new work from here on. */
  stop: AbortSignal
}

export interface HttpMcp {
  /** Whether an agent comes by itself to judge. */
  mayJudge(agent: string): boolean
  speak(role: 'worker' | 'reviewer' | 'owner', agent: string, request: Request): Promise<Response>
}
