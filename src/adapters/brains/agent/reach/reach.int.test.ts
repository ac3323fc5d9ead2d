import { chmodSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AgentName, logins, openStage, type Stage } from '../../../../testing/agents/stand-in.ts'
import type { AgentBrainOptions } from '../brain.ts'
import { wayTo } from './way.ts'

let stage: Stage
beforeEach(() => {
  stage = openStage()
})
afterEach(() => stage.remove())

const agents = Object.keys(logins) as AgentName[]
const prints: Record<AgentName, string> = {
  claude: 'claude/worked.out',
  codex: 'codex/worked.out',
  gemini: 'gemini/worked.out',
  opencode: 'opencode/worked.out',
}
const says = 'SCORE: 90'

function env(more: Record<string, string> = {}): Partial<AgentBrainOptions> {
  return { env: { PATH: `${stage.bin}:/usr/bin:/bin`, HOME: stage.home, ...more } }
}

/** Moves a file into the project, with a link in its old place. */
function lead(from: string, name: string): string {
  const to = join(stage.project, name)
  mkdirSync(dirname(to), { recursive: true })
  renameSync(from, to)
  symlinkSync(to, from)
  return to
}

/** The agent judges; then something is done, and it does not judge any more. The sentence is the answer. */
async function notAsked(agent: AgentName, does: () => Partial<AgentBrainOptions>): Promise<string> {
  stage.cast(agent, { prints: prints[agent], says })
  expect((await stage.judge(agent, env())).kind).toBe('reply')
  const changes = does()
  const ending = await stage.judge(agent, changes)
  if (ending.kind !== 'unavailable') throw new Error(`it was asked: ${JSON.stringify(ending)}`)
  expect(ending.detail).toContain(`${agent} does not judge`)
  return ending.detail
}

describe.each(agents)('%s does not judge', (agent) => {
  it('where its program is a link into the project', async () => {
    const said = await notAsked(agent, () => {
      lead(join(stage.bin, agent), 'tools/agent.sh')
      return env()
    })
    expect(said).toContain(`its program is ${join(stage.bin, agent)}, through ${join(stage.project, 'tools/agent.sh')}`)
    expect(said).toContain('npm install -g')
    // A worker may be what it likes.
    expect((await stage.work(agent, env())).kind).not.toBe('unavailable')
  })

  it('where its login is a link into the project', async () => {
    const said = await notAsked(agent, () => {
      lead(join(stage.home, logins[agent]), 'login.json')
      return env()
    })
    expect(said).toContain(join(stage.project, 'login.json'))
  })

  it('where its settings would be made in the project', async () => {
    await notAsked(agent, () => {
      const folder = { claude: '.claude', codex: '.codex', gemini: '.gemini', opencode: '.config/opencode' }[agent]
      const name = { claude: 'settings.json', codex: 'config.toml', gemini: '.env', opencode: 'opencode.json' }[agent]
      mkdirSync(join(stage.home, folder), { recursive: true })
      symlinkSync(join(stage.project, 'not-there-yet'), join(stage.home, folder, name))
      return env()
    })
  })

  it('where its home lies in the project', async () => {
    await notAsked(agent, () => env({ HOME: stage.project }))
  })
})

describe('a program', () => {
  it('is not run where the way to it leads through the project and out again', async () => {
    await notAsked('claude', () => {
      const real = join(stage.home, 'claude-2')
      renameSync(join(stage.bin, 'claude'), real)
      symlinkSync(real, join(stage.project, 'current'))
      symlinkSync(join(stage.project, 'current'), join(stage.bin, 'claude'))
      return env()
    })
  })

  it('is not run where something before it in PATH leads to a file that a worker can make', async () => {
    await notAsked('claude', () => {
      const first = join(stage.home, 'first')
      mkdirSync(first)
      symlinkSync(join(stage.project, 'later.sh'), join(first, 'claude'))
      return env({ PATH: `${first}:${stage.bin}:/usr/bin:/bin` })
    })
  })

  it.each(['#!/usr/bin/env runtime', '#!/usr/bin/env -S runtime -x', '#!{{bin}}/runtime'])(
    'is not run where its interpreter lies in the project (%s)',
    async (first) => {
      const said = await notAsked('claude', () => {
        writeFileSync(join(stage.project, 'runtime'), '#!/bin/sh\n')
        chmodSync(join(stage.project, 'runtime'), 0o755)
        symlinkSync(join(stage.project, 'runtime'), join(stage.bin, 'runtime'))
        writeFileSync(join(stage.bin, 'claude'), `${first.replace('{{bin}}', stage.bin)}\n`)
        return env()
      })
      expect(said).toContain('the interpreter of its program')
    },
  )
})

describe('variables', () => {
  it.each([
    ['claude', 'CLAUDE_CONFIG_DIR'],
    ['codex', 'CODEX_HOME'],
    ['gemini', 'GOOGLE_APPLICATION_CREDENTIALS'],
    ['opencode', 'OPENCODE_CONFIG'],
    ['opencode', 'OPENCODE_CONFIG_DIR'],
    ['codex', 'SSL_CERT_FILE'],
  ] as const)('that lead %s into the project or the work (%s)', async (agent, name) => {
    const said = await notAsked(agent, () => env({ [name]: join(stage.project, '.own') }))
    expect(said).toContain(name)
    expect((await stage.judge(agent, env({ [name]: '.own' }))).kind).toBe('unavailable')
  })
})

it('a folder that tasks share outside of the project counts as the project does', async () => {
  const shared = realpathSync(mkdtempSync(join(tmpdir(), 'assay-shared-')))
  try {
    stage.cast('claude', { prints: prints.claude, says })
    symlinkSync(join(shared, 'settings.json'), join(stage.home, '.claude/settings.json'))
    const place = { folder: shared, copy: () => Promise.reject(new Error('not needed')) }
    expect((await stage.judge('claude', env())).kind).toBe('reply')
    for (const where of [{ before: place }, { beside: [place] }])
      expect(await stage.judge('claude', env(), undefined, where)).toMatchObject({
        kind: 'unavailable',
        detail: expect.stringContaining(join(shared, 'settings.json')),
      })
  } finally {
    rmSync(shared, { recursive: true })
  }
})

it('the way to a file names every place on it, and ends where links go round in circles', () => {
  const folder = stage.home
  symlinkSync('b', join(folder, 'a'))
  symlinkSync('a', join(folder, 'b'))
  expect(wayTo(join(folder, 'a', 'x')).length).toBeLessThan(100)
  symlinkSync('../project/./work', join(folder, 'c'))
  expect(wayTo(`${folder}/c/../made`).slice(-4)).toEqual([
    join(folder, 'c'),
    stage.project,
    join(stage.project, 'work'),
    join(stage.project, 'made'),
  ])
})
