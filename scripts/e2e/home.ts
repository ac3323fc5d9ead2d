import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

/** Makes a home folder in which every agent is logged in to the model at that address; tells the variables that go with it. */
export async function makeHome(home: string, origin: string): Promise<Record<string, string>> {
  const files = {
    '.claude/settings.json': '{}',
    '.claude.json': '{}',
    '.codex/config.toml': `model = "loopback"
model_provider = "loopback"
[model_providers.loopback]
name = "loopback"
base_url = "${origin}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`,
    '.gemini/settings.json': JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }),
    '.config/opencode/opencode.json': JSON.stringify({
      model: 'loopback/any',
      provider: {
        loopback: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${origin}/v1`, apiKey: 'loopback' },
          models: { any: { name: 'any' } },
        },
      },
    }),
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, path)), { recursive: true })
    await writeFile(join(home, path), text)
  }
  for (const path of ['.gemini/tmp', '.gemini/history', '.local/share/opencode', '.local/state/opencode', '.cache/opencode'])
    await mkdir(join(home, path), { recursive: true })
  return {
    HOME: home,
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_API_KEY: 'loopback',
    OPENAI_API_KEY: 'loopback',
    GEMINI_API_KEY: 'loopback',
    GOOGLE_GEMINI_BASE_URL: origin,
  }
}

/** The same variables, with `assay` where a shell finds it. */
export async function withAssay(stage: string, env: Record<string, string>): Promise<Record<string, string>> {
  const bin = join(stage, 'bin')
  await mkdir(bin, { recursive: true })
  const launcher = join(import.meta.dirname, '..', '..', 'bin', 'assay.mjs')
  await writeFile(join(bin, 'assay'), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`)
  await chmod(join(bin, 'assay'), 0o755)
  return { ...env, PATH: `${bin}:${env.PATH ?? ''}` }
}

/** Words of the example's task: whoever keeps them remembers the run. */
const ofTheTask = 'does not read hours and minutes together'
/** Larger files are programs. */
const mostBytes = 32 * 1024 * 1024

/** The first file in which an agent has kept its task, relative to the home folder; undefined where there is none. */
export async function leftBehind(home: string): Promise<string | undefined> {
  for (const entry of await readdir(home, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || (await stat(path)).size > mostBytes) continue
    if ((await readFile(path)).includes(ofTheTask)) return relative(home, path)
  }
  return undefined
}
