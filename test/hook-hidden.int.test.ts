import { execFileSync } from 'node:child_process'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startAssay, useAssay } from './front-door/assay.ts'
import { type HookAnswer, ruledFiles } from './front-door/hooked.ts'
import { readEvents } from './front-door/journal.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

/** A judge that finds fault with one file alone. */
const judge = 'cat >/dev/null\nif [ -e "$ASSAY_SNAPSHOT/evil.txt" ]; then echo "SCORE: 30"; else echo "SCORE: 90"; fi\n'

interface Inner {
  outer: Project
  git(...args: string[]): void
  hook(event: string, session: string): Promise<HookAnswer>
}

/** A project in a folder of another that has no configuration. */
function inner(): Inner {
  const files = Object.entries({ ...ruledFiles(), 'judge.sh': judge }).map(([path, content]) => [`proj/${path}`, content] as const)
  const outer = makeProject({ '.gitignore': '/tmp/\n/.config/\n*.log\n', ...Object.fromEntries(files) })
  const folder = join(outer.folder, 'proj')
  return {
    outer,
    git: (...args) => {
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], { cwd: folder, stdio: 'pipe' })
    },
    hook: async (event, session) => {
      const input = JSON.stringify({ session_id: session, cwd: folder, hook_event_name: event })
      const ended = await startAssay(['hook', '--agent', 'claude'], { cwd: folder, env: { HOME: outer.folder }, input }).ended
      expect(ended.code, ended.stderr).toBe(0)
      return JSON.parse(ended.stdout) as HookAnswer
    },
  }
}

const committed = (here: Inner, top: string): void => {
  here.git('init', '-q', top)
  here.git('add', '-A', '.')
  here.git('commit', '-qm', 'so far')
}

/** How a repository lies when the session begins, and what the agent does about it. */
const ways: Record<string, { before(here: Inner): void; hide(here: Inner): void }> = {
  'a rule above, in a repository around it': {
    before: (here) => committed(here, '..'),
    hide: ({ outer }) => outer.write({ '.gitignore': `${outer.read('.gitignore')}proj/evil.txt\n` }),
  },
  'a repository that is made around a folder without one': {
    before: () => undefined,
    hide: (here) => {
      here.git('init', '-q', '..')
      here.outer.write({ '.gitignore': 'evil.txt\n' })
    },
  },
  'its repository being moved up': {
    before: (here) => committed(here, '.'),
    hide: ({ outer }) => {
      renameSync(join(outer.folder, 'proj/.git'), join(outer.folder, '.git'))
      outer.write({ '.gitignore': 'evil.txt\n' })
    },
  },
  'a rule for other letters': {
    before: (here) => {
      here.outer.write({ 'proj/.gitignore': `${here.outer.read('proj/.gitignore')}EVIL.txt\n` })
      committed(here, '.')
    },
    hide: (here) => here.git('config', 'core.ignorecase', 'true'),
  },
}

describe('work that is hidden', () => {
  it.each(Object.keys(ways))('by %s is judged all the same, in the next session too', { timeout }, async (name) => {
    const here = inner()
    const way = ways[name]
    way?.before(here)
    expect(await here.hook('SessionStart', 's1')).toEqual({})
    way?.hide(here)
    here.outer.write({ 'proj/evil.txt': 'evil\n', 'proj/a.txt': 'more\n' })
    expect((await here.hook('Stop', 's1')).decision).toBe('block')
    here.outer.write({ 'proj/a.txt': 'still more\n' })
    await here.hook('SessionStart', 's2')
    expect((await here.hook('Stop', 's2')).decision).toBe('block')
  })

  it('is not looked for in what rules above ignored from the beginning', { timeout }, async () => {
    const here = inner()
    committed(here, '..')
    await here.hook('SessionStart', 's1')
    here.outer.write({
      'proj/a.txt': 'more\n',
      'proj/deep/run.log': 'a line\n',
      '.gitignore': `${here.outer.read('.gitignore')}*.tmp\n`,
      'proj/b.tmp': '1',
    })
    expect((await here.hook('Stop', 's1')).systemMessage).toContain('PASS')
    const cases = (await readEvents(join(here.outer.folder, 'proj'))).filter(({ type }) => type === 'case.submitted')
    expect(cases.map(({ data }) => (data as { content: { paths: string[] } }).content.paths)).toEqual([['a.txt', 'b.tmp']])
  })
})
