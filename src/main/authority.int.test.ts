import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ownerAuthority } from './authority.ts'

/** What coding agents set for the commands that they run. */
const set = {
  'Claude Code': ['CLAUDECODE', 'CLAUDE_CODE', 'CLAUDE_CODE_SESSION_ID'],
  Codex: ['CODEX_SANDBOX', 'CODEX_SANDBOX_NETWORK_DISABLED', 'CODEX_CI', 'CODEX_THREAD_ID'],
  'Gemini CLI': ['GEMINI_CLI'],
  opencode: ['OPENCODE', 'OPENCODE_CLIENT'],
  Copilot: ['COPILOT_CLI', 'COPILOT_AGENT', 'COPILOT_AGENT_SESSION_ID'],
  Cursor: ['CURSOR_AGENT', 'CURSOR_TRACE_ID'],
  others: [
    'AI_AGENT',
    'AGENT',
    'AMP_CURRENT_THREAD_ID',
    'ANTIGRAVITY_AGENT',
    'AUGMENT_AGENT',
    'CLINE_ACTIVE',
    'GOOSE_TERMINAL',
    'QWEN_CODE',
  ],
  'a worker of Assay': ['ASSAY_RUN_ID'],
}

function own(): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), 'assay-authority-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return { XDG_CONFIG_HOME: folder }
}

describe("the owner's authority", () => {
  it('is found by itself on a terminal where no agent runs the command', () => {
    expect(ownerAuthority({ env: own(), person: true })).toMatchObject({ ok: true })
  })

  it.each(Object.entries(set).flatMap(([agent, names]) => names.map((name) => [agent, name] as const)))(
    'is not there for %s, whose commands have %s, terminal or not',
    (_agent, name) => {
      const refused = ownerAuthority({ env: { ...own(), [name]: '1' }, person: true })
      expect(refused).toEqual({ ok: false, message: expect.stringContaining(`${name} is set`) })
    },
  )
})
