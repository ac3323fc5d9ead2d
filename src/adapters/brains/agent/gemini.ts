import { z } from 'zod'
import { type Ask, certificateVariables, type KnownAgent, networkVariables, type Printed, type Report } from './known-agent.ts'
import { membersAt } from '../model/reply/spans.ts'
import { count, lastObject, parsed, total } from './printed.ts'

const Tokens = z.object({ prompt: count, candidates: count, thoughts: count })
/** What `-o json` prints: one object on standard output, or one with an `error` on standard error. */
const Result = z.object({
  response: z.string().nullish(),
  error: z.object({ message: z.string(), code: z.union([z.number(), z.string()]).nullish() }).nullish(),
  stats: z.object({ models: z.record(z.string(), z.object({ tokens: Tokens })).catch({}) }).nullish(),
})

/** Gemini CLI, as of 0.61. It has no flag for a schema, and no budget. */
export const gemini: KnownAgent = {
  program: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  login: 'run `gemini` once and log in, or set GEMINI_API_KEY',
  loggedOut: /set an auth method|invalid auth method|api key not valid|api_key_invalid|unauthenticated/i,
  env: [
    ...networkVariables,
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GENAI_USE_VERTEXAI',
    'GOOGLE_GENAI_USE_GCA',
    'GOOGLE_CLOUD_PROJECT',
    'GOOGLE_CLOUD_LOCATION',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'GOOGLE_GEMINI_BASE_URL',
  ],
  reads: [...certificateVariables, 'GOOGLE_APPLICATION_CREDENTIALS'],
  keeps: [
    {
      at: '.gemini',
      login: {
        'oauth_creds.json': [{ at: [], tokens: ['access_token', 'refresh_token', 'id_token', 'expiry_date'], same: ['token_type'] }],
        // Encrypted, and a list: nobody can tell what a run changed. Google's logins stay good without what is renewed.
        'gemini-credentials.json': [],
        'mcp-oauth-tokens.json': [],
      },
      settings: ['settings.json', '.env', 'trustedFolders.json'],
      instructs: ['GEMINI.md', 'AGENTS.md', 'system.md', 'commands', 'extensions', 'skills', 'agents', 'hooks', 'policies'],
      copies: ['installation_id', 'google_accounts.json', 'state.json'],
    },
  ],
  exits: {
    41: 'nobody is logged in',
    42: 'it does not take its input',
    52: 'its settings are wrong',
    53: 'its limit of turns was reached',
  },
  work: (ask) => ({ args: [...shared(ask), '--approval-mode', 'yolo'] }),
  // It would take settings, hooks and instructions from the folder that it runs in: the work is named to it instead.
  judge: (ask) => ({
    args: [...shared(ask), '--approval-mode', 'plan', '--extensions', 'none', '--include-directories', ask.snapshot],
    elsewhere: true,
  }),
  read,
}

function shared({ model }: Ask): string[] {
  return ['-o', 'json', '--skip-trust', ...(model === undefined ? [] : ['-m', model])]
}

function read({ stdout, stderr }: Printed): Report {
  const whole = stdout.trim()
  const printed = parsed(whole) === undefined ? (lastObject(stdout) ?? '') : whole
  const result = Result.safeParse(parsed(printed))
  const trouble = Result.safeParse(parsed(lastObject(stderr) ?? ''))
  const error = (result.success ? result.data.error : undefined) ?? (trouble.success ? trouble.data.error : undefined)
  const models = result.success ? Object.values(result.data.stats?.models ?? {}) : []
  const usage = total(models.map(({ tokens }) => ({ input: tokens.prompt, output: tokens.candidates + tokens.thoughts })))
  if (error != null) return { kind: 'failed', detail: error.message, ...(typeof error.code === 'number' && { exit: error.code }), usage }
  if (!result.success || typeof result.data.response !== 'string') return { kind: 'failed', detail: 'it printed no response', usage }
  const keys = membersAt(printed, 0).map(({ key }) => key)
  if (new Set(keys).size < keys.length) return { kind: 'failed', detail: 'it printed a result that says something twice', usage }
  return { kind: 'answered', text: result.data.response, usage }
}
