import { z } from 'zod'
import { memberAt, membersAt } from '../model/reply/spans.ts'
import { type Ask, certificateVariables, type KnownAgent, networkVariables, type Printed, type Report } from './known-agent.ts'
import { count, money, parsed, total } from './printed.ts'

/** No argument of a process may be longer; a larger schema is left to the prompt. */
const longestArgument = 100_000

const ModelUsage = z.object({
  inputTokens: count,
  outputTokens: count,
  cacheReadInputTokens: count,
  cacheCreationInputTokens: count,
})
/** What `--output-format json` prints: one object. An API that fails comes as `subtype: "success"` with `is_error: true`. */
const Result = z.object({
  type: z.literal('result'),
  subtype: z.string().catch(''),
  is_error: z.boolean(),
  terminal_reason: z.string().nullish(),
  stop_reason: z.string().nullish(),
  result: z.string().nullish(),
  errors: z.unknown().optional(),
  api_error_status: z.unknown().optional(),
  total_cost_usd: money,
  modelUsage: z.record(z.string(), ModelUsage).catch({}),
})

/** Claude Code, as of 2.1.325. */
export const claude: KnownAgent = {
  program: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  login: 'run `claude` once and log in, or set ANTHROPIC_API_KEY',
  loggedOut: /not logged in|\/login|invalid.*api.?key|authentication_error|API Error: 401/i,
  env: [
    ...networkVariables,
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'ANTHROPIC_MODEL',
    'ANTHROPIC_CUSTOM_HEADERS',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
    'AWS_REGION',
    'AWS_PROFILE',
    'CLOUD_ML_REGION',
    'ANTHROPIC_VERTEX_PROJECT_ID',
  ],
  reads: certificateVariables,
  keeps: [
    {
      at: '.claude',
      variable: 'CLAUDE_CONFIG_DIR',
      login: {
        '.credentials.json': [
          { at: ['claudeAiOauth'], tokens: ['accessToken', 'refreshToken', 'expiresAt', 'refreshTokenExpiresAt'] },
          { at: ['mcpOAuth', '*'], tokens: ['accessToken', 'refreshToken', 'expiresAt'], same: ['serverName', 'serverUrl', 'clientId'] },
        ],
      },
      settings: ['settings.json', 'remote-settings.json', 'local'],
      instructs: ['CLAUDE.md', 'settings.local.json', 'commands', 'agents', 'skills', 'plugins', 'hooks', 'rules', 'output-styles'],
      copies: ['.claude.json'],
    },
  ],
  copies: ['.claude.json'],
  work: (ask) => ({
    args: [...shared(ask), '--permission-mode', 'acceptEdits', '--allowedTools', 'Bash,Edit,Write,NotebookEdit,Read,Grep,Glob'],
    env: quiet,
  }),
  judge: (ask) => ({
    args: [
      ...[...shared(ask), '--safe-mode', '--restricted', '--strict-mcp-config', '--tools', 'Read,Grep,Glob'],
      ...(ask.schema.length <= longestArgument ? ['--json-schema', ask.schema] : []),
    ],
    env: quiet,
  }),
  read,
}

const quiet = { DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }

function shared({ model, budgetUsd }: Ask): string[] {
  return [
    ...['-p', '--output-format', 'json', '--no-session-persistence', '--permission-prompts', 'none'],
    ...(budgetUsd === undefined ? [] : ['--max-budget-usd', String(budgetUsd)]),
    ...(model === undefined ? [] : ['--model', model]),
  ]
}

function read({ stdout }: Printed): Report {
  const text = stdout.trim()
  const result = Result.safeParse(parsed(text))
  if (!result.success) return { kind: 'failed', detail: 'it printed no result' }
  const keys = membersAt(text, 0).map(({ key }) => key)
  if (new Set(keys).size < keys.length) return { kind: 'failed', detail: 'it printed a result that says something twice' }
  const { is_error, subtype, terminal_reason, stop_reason, modelUsage, total_cost_usd, api_error_status } = result.data
  const models = Object.values(modelUsage).map((used) => ({
    input: used.inputTokens + used.cacheReadInputTokens + used.cacheCreationInputTokens,
    output: used.outputTokens,
  }))
  const usage = { ...total(models), ...(total_cost_usd !== undefined && { costUsd: total_cost_usd }) }
  const costUnknown = total_cost_usd === undefined
  const said = result.data.result ?? ''
  const ended = terminal_reason ?? 'completed'
  const errors = errorsIn(result.data.errors)
  if (is_error || subtype !== 'success' || ended !== 'completed' || errors.length > 0 || api_error_status != null) {
    const status = api_error_status == null ? [] : [`API status ${JSON.stringify(api_error_status)}`]
    const words = [...status, ...errors, said].filter((word) => word !== '').join('; ')
    return { kind: 'failed', detail: `${ended === 'completed' ? subtype : ended}${words === '' ? '' : `: ${words}`}`, usage, costUnknown }
  }
  const finish = stop_reason == null ? {} : { finish: stop_reason }
  // Its own text of the structured answer, not a parsed one: what is wrong with it must stay to be seen.
  const span = memberAt(text, 0, 'structured_output')
  const structured = span && text[span.start] === '{' ? { structured: text.slice(span.start, span.end) } : {}
  return { kind: 'answered', text: said, ...structured, ...finish, usage, costUnknown }
}

/** Whatever stands in the place of errors is one. */
function errorsIn(errors: unknown): string[] {
  const list = Array.isArray(errors) ? (errors as unknown[]) : errors == null ? [] : [errors]
  return list.map((error) => (typeof error === 'string' ? error : JSON.stringify(error)))
}
