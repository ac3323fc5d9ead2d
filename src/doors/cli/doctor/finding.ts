import type { Result } from '../../../contract/errors.ts'
import type { Problem } from '../../../contract/source/problem.ts'
import type { Project } from '../../../engine/project.ts'

/** What looking at one thing came to. */
export interface Finding {
  /** Stable name for programs, e.g. `agent.claude`. */
  id: string
  /** `none`: it is not there, or was not looked at, and nothing that is configured needs it. */
  state: 'ok' | 'bad' | 'none'
  detail: string
  /** What mends it: a command where there is one. */
  fix?: string
}

export interface DiagnoseRequest {
  cwd: string
  env: NodeJS.ProcessEnv
  /** The configuration, its folder and its name for people, or what is wrong with it. */
  project: Result<{ project: Project; folder: string; file: string | null }, Problem[]>
  /** Ask every judge brain one small question. */
  ping: boolean
  /** Fold the views from the journal anew, and store them. */
  rebuild: boolean
}
