import { z } from 'zod'
import { type Ask, certificateVariables, type KnownAgent, networkVariables, type Printed, type Report } from './known-agent.ts'
import { count, jsonLines, repeatsKey, total } from './printed.ts'

/** What `--json` prints: JSON Lines. Items of the type `error` are often only warnings; `turn.failed` never is. */
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('item.completed'), item: z.object({ type: z.string(), text: z.string().optional() }) }),
  z.object({ type: z.literal('turn.completed'), usage: z.object({ input_tokens: count, output_tokens: count }).optional() }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }).catch({ message: 'it does not say why' }) }),
  z.object({ type: z.literal('error'), message: z.string() }),
])

/** Codex, as of 0.166. */
export const codex: KnownAgent = {
  program: 'codex',
  install: 'npm install -g @openai/codex',
  login: 'run `codex login`, or set CODEX_API_KEY',
  loggedOut: /not logged in|codex login|401 unauthorized|missing environment variable|missing bearer/i,
  env: [...networkVariables, 'CODEX_API_KEY', 'OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_ORGANIZATION', 'OPENAI_PROJECT', 'CODEX_HOME'],
  reads: certificateVariables,
  keeps: [
    {
      at: '.codex',
      variable: 'CODEX_HOME',
      login: {
        'auth.json': [
          { at: ['tokens'], tokens: ['id_token', 'access_token', 'refresh_token'], same: ['account_id'] },
          { at: [], tokens: ['last_refresh'], same: ['auth_mode', 'OPENAI_API_KEY'] },
        ],
        '.credentials.json': [
          { at: ['*'], tokens: ['access_token', 'refresh_token', 'expires_at'], same: ['server_name', 'server_url', 'client_id'] },
        ],
      },
      settings: ['config.toml', 'managed_config.toml', 'requirements.toml', 'packages', 'bin'],
      instructs: [
        'AGENTS.md',
        'AGENTS.override.md',
        'instructions.md',
        'prompts',
        'skills',
        'rules',
        'hooks.json',
        'hooks',
        'plugins',
        'agents',
      ],
      copies: ['installation_id', 'models_cache.json', 'version.json'],
    },
  ],
  // Its own sandbox does not start inside another one; where there is none around it, it brings its own.
  work: (ask) => ({ args: [...shared(ask), '-s', ask.sandboxed ? 'danger-full-access' : 'workspace-write', '-'] }),
  judge: (ask) => ({
    args: [
      ...[...shared(ask), '-s', 'read-only', '--ignore-rules', '-c', 'project_doc_max_bytes=0'],
      ...(ask.strict ? ['--output-schema', ask.schemaFile] : []),
      '-',
    ],
  }),
  read,
}

function shared({ model }: Ask): string[] {
  return [...['exec', '--json', '--ephemeral', '--skip-git-repo-check', '--color', 'never'], ...(model === undefined ? [] : ['-m', model])]
}

function read({ stdout }: Printed): Report {
  const lines = jsonLines(stdout).flatMap((line) => {
    const known = Line.safeParse(line)
    return known.success ? [known.data] : []
  })
  const done = lines.flatMap((line) => (line.type === 'turn.completed' ? [line] : []))
  const usage = total(done.map(({ usage: used }) => ({ input: used?.input_tokens ?? 0, output: used?.output_tokens ?? 0 })))
  const failure = lines.findLast((line) => line.type === 'turn.failed')
  if (failure?.type === 'turn.failed') return { kind: 'failed', detail: failure.error.message, usage }
  if (done.length === 0) {
    const trouble = lines.findLast((line) => line.type === 'error')
    return { kind: 'failed', detail: trouble?.type === 'error' ? trouble.message : 'its turn did not come to an end' }
  }
  if (repeatsKey(stdout)) return { kind: 'failed', detail: 'it printed a line that says something twice', usage }
  const messages = lines.flatMap((line) =>
    line.type === 'item.completed' && line.item.type === 'agent_message' ? [line.item.text ?? ''] : [],
  )
  return { kind: 'answered', text: messages.at(-1) ?? '', earlier: messages.slice(0, -1), usage }
}
