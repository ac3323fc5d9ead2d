import { join } from 'node:path'
import { z } from 'zod'
import { type Ask, certificateVariables, type KnownAgent, networkVariables, type Printed, type Report } from './known-agent.ts'
import { count, jsonLines, money, repeatsKey, total } from './printed.ts'

const Tokens = z.object({
  input: count,
  output: count,
  reasoning: count,
  cache: z.object({ read: count, write: count }).catch({ read: 0, write: 0 }),
})
/** What `--format json` prints: JSON Lines, a step for each answer of the model. */
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), part: z.object({ messageID: z.string(), text: z.string() }) }),
  z.object({ type: z.literal('step_finish'), part: z.object({ messageID: z.string(), reason: z.string(), tokens: Tokens, cost: money }) }),
  z.object({
    type: z.literal('error'),
    error: z.object({
      name: z.string().catch('error'),
      data: z
        .object({ message: z.string(), statusCode: z.number().optional().catch(undefined) })
        .nullish()
        .catch(null),
    }),
  }),
])

/** opencode, as of 1.18. It has no flag for a schema, and no budget. */
export const opencode: KnownAgent = {
  program: 'opencode',
  install: 'npm install -g opencode-ai',
  login: 'run `opencode auth login`',
  loggedOut: /api key is missing|unauthorized|invalid api key|auth login|\(HTTP 401\)/i,
  flagUnknown: /^opencode run \[message\.\.\]$/m,
  env: [
    ...networkVariables,
    'OPENCODE_CONFIG',
    'OPENCODE_CONFIG_DIR',
    'OPENCODE_CONFIG_CONTENT',
    'OPENCODE_API_KEY',
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEY',
    'GEMINI_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'OPENROUTER_API_KEY',
  ],
  reads: [...certificateVariables, 'OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR'],
  keeps: [
    {
      at: '.local/share/opencode',
      login: {
        // An entry of another type names variables and addresses that it takes configuration from.
        'auth.json': [{ at: ['*'], tokens: ['access', 'refresh', 'expires'], same: ['type', 'accountId', 'enterpriseUrl'] }],
        'mcp-auth.json': [{ at: ['*', 'tokens'], tokens: ['accessToken', 'refreshToken', 'expiresAt'] }],
        'account.json': [],
      },
      settings: ['bin'],
    },
    { at: '.local/state/opencode', copies: ['model.json', 'kv.json'] },
    {
      at: '.cache/opencode',
      settings: ['node_modules', 'packages', 'bin', 'package.json', 'bun.lock'],
      copies: ['version', 'models.json'],
    },
    {
      at: '.config/opencode',
      settings: ['opencode.json', 'opencode.jsonc', 'config.json', 'package.json', 'bun.lock', 'node_modules'],
      instructs: [
        'AGENTS.md',
        'agent',
        'agents',
        'command',
        'commands',
        'plugin',
        'plugins',
        'tool',
        'tools',
        'skill',
        'skills',
        'mode',
        'modes',
      ],
    },
  ],
  work: (ask) => ({ args: [...shared(ask), '--auto'], env: privately(ask) }),
  judge: (ask) => ({ args: [...shared(ask), '--pure', '--agent', 'plan'], env: { ...privately(ask), ...onlyReading } }),
  read,
}

/** Nothing of the work is obeyed, and nothing but reading is allowed. */
const onlyReading = {
  OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  OPENCODE_DISABLE_CLAUDE_CODE: '1',
  OPENCODE_DISABLE_EXTERNAL_SKILLS: '1',
  OPENCODE_PERMISSION: JSON.stringify({ edit: 'deny', bash: 'deny', webfetch: 'deny', task: 'deny', external_directory: 'deny' }),
}

function shared({ model }: Ask): string[] {
  return ['run', '--format', 'json', ...(model === undefined ? [] : ['-m', model])]
}

/** Its memory of this run goes with the private folder. */
function privately({ folder }: Ask): Record<string, string> {
  return { OPENCODE_DB: join(folder, 'opencode.db'), OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_SHARE: '1' }
}

function read({ stdout }: Printed): Report {
  const lines = jsonLines(stdout).flatMap((line) => {
    const known = Line.safeParse(line)
    return known.success ? [known.data] : []
  })
  const steps = lines.flatMap((line) => (line.type === 'step_finish' ? [line.part] : []))
  const usage = total(
    steps.map(({ tokens, cost }) => ({
      input: tokens.input + tokens.cache.read + tokens.cache.write,
      output: tokens.output + tokens.reasoning,
      cost,
    })),
  )
  const costUnknown = steps.some(({ cost }) => cost === undefined)
  const failure = lines.findLast((line) => line.type === 'error')
  if (failure?.type === 'error') {
    const { data, name } = failure.error
    const status = data?.statusCode === undefined ? '' : ` (HTTP ${data.statusCode})`
    return { kind: 'failed', detail: `${data?.message ?? name}${status}`, usage, costUnknown }
  }
  const last = steps.at(-1)
  if (last === undefined || last.reason === 'tool-calls')
    return { kind: 'failed', detail: 'its turn did not come to an end', usage, costUnknown }
  if (repeatsKey(stdout)) return { kind: 'failed', detail: 'it printed a line that says something twice', usage, costUnknown }
  const texts = lines.flatMap((line) => (line.type === 'text' ? [line.part] : []))
  const said = texts.filter(({ messageID }) => messageID === last.messageID).map(({ text }) => text)
  const earlier = texts.filter(({ messageID }) => messageID !== last.messageID).map(({ text }) => text)
  return { kind: 'answered', text: said.join('\n'), earlier, finish: last.reason, usage, costUnknown }
}
