import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'

/**
 * Set by programs that run commands for an agent; whoever has one of them is not a person at a terminal. Variables by which people set an agent
 * up (`CODEX_HOME`, keys) are none of them. `CURSOR_TRACE_ID` stands in a person's terminal inside Cursor too: there the token is shown by hand.
 */
export const agentVariables = [
  'AI_AGENT',
  'AGENT',
  'CLAUDECODE',
  'CLAUDE_CODE',
  'CLAUDE_CODE_SESSION_ID',
  'CODEX_CI',
  'CODEX_SANDBOX',
  'CODEX_SANDBOX_NETWORK_DISABLED',
  'CODEX_THREAD_ID',
  'COPILOT_AGENT',
  'COPILOT_AGENT_SESSION_ID',
  'COPILOT_CLI',
  'CURSOR_AGENT',
  'CURSOR_TRACE_ID',
  'GEMINI_CLI',
  'OPENCODE',
  'OPENCODE_CLIENT',
  'AMP_CURRENT_THREAD_ID',
  'ANTIGRAVITY_AGENT',
  'AUGMENT_AGENT',
  'CLINE_ACTIVE',
  'GOOSE_TERMINAL',
  'QWEN_CODE',
  'ASSAY_RUN_ID',
]

/** The variable by which an agent gives itself away; undefined for anybody else. */
export const agentIn = (env: NodeJS.ProcessEnv): string | undefined => agentVariables.find((variable) => env[variable])

/**
 * Where the owner's token lives: outside every project, hidden from sandboxed workers. An agent sets its variables as it likes, so where one
 * runs the command the token is looked for in the home folder that the system knows, not in the one that the environment names.
 */
export function tokenPath(env: NodeJS.ProcessEnv): string {
  const folder =
    agentIn(env) === undefined ? (env.XDG_CONFIG_HOME ?? join(env.HOME ?? homedir(), '.config')) : join(accountHome(), '.config')
  return join(folder, 'assay', 'owner-token')
}

/** Home folder of the account that runs this process, whatever the environment says. */
function accountHome(): string {
  try {
    return userInfo().homedir
  } catch {
    // An account that the system does not know has no home: nothing is found there, and nothing can be made.
    return '/nonexistent'
  }
}
