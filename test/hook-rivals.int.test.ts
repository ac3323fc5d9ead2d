import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { startAssay, useAssay } from './front-door/assay.ts'
import { type HookAnswer, ruledFiles } from './front-door/hooked.ts'
import { readEvents } from './front-door/journal.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

interface Own {
  outer: Project
  hook(event: string, session: string, options?: { at?: string; env?: Record<string, string> }): Promise<HookAnswer>
  /** Puts a project with a judge that is content with everything into a folder. */
  contented(at: string): void
  unreviewed(at: string): Promise<string[]>
}

/** A project in a folder of the user's. */
function own(): Own {
  const outer = makeProject(Object.fromEntries(Object.entries(ruledFiles()).map(([path, content]) => [`proj/${path}`, content])))
  outer.write({
    // A clock that went back by ten years.
    'tmp/past.mjs':
      'const now = Date.now\nconst Real = Date\nDate.now = () => now() - 315360000000\nglobalThis.Date = class extends Real { constructor(...a) { a.length ? super(...a) : super(Date.now()) } static now() { return now() - 315360000000 } }\n',
  })
  return {
    outer,
    hook: async (event, session, { at = 'proj', env = {} } = {}) => {
      const cwd = join(outer.folder, at)
      const input = JSON.stringify({ session_id: session, cwd, hook_event_name: event })
      const ended = await startAssay(['hook', '--agent', 'claude'], { cwd, env: { HOME: outer.folder, ...env }, input }).ended
      expect(ended.code, ended.stderr).toBe(0)
      return JSON.parse(ended.stdout) as HookAnswer
    },
    contented: (at) =>
      outer.write({
        [join(at, 'assay.yaml')]: outer.read('proj/assay.yaml').replace('judge.sh', 'yes.sh'),
        [join(at, 'yes.sh')]: 'cat >/dev/null\necho "SCORE: 100"\n',
      }),
    unreviewed: async (at) =>
      (await readEvents(join(outer.folder, at)))
        .filter(({ type }) => type === 'session.unreviewed')
        .map(({ data }) => (data as { reason: string }).reason),
  }
}

const past = ({ outer }: Own) => ({ env: { NODE_OPTIONS: `--import=${pathToFileURL(outer.log('past.mjs'))}` } })

describe('a project that an agent makes around its own, with a journal of older dates', () => {
  it('does not let go what was sent back, and nothing passes by it', { timeout }, async () => {
    const here = own()
    await here.hook('SessionStart', 's1')
    here.outer.write({ 'proj/a.txt': 'bad\n' })
    expect((await here.hook('Stop', 's1')).decision).toBe('block')
    here.contented('.')
    await here.hook('SessionStart', 's1', { at: '.', ...past(here) })
    const [first] = await readEvents(here.outer.folder)
    expect(Date.parse(first?.meta.at ?? '')).toBeLessThan(Date.now() - 300_000_000_000)
    here.outer.write({ 'proj/a.txt': 'worse\n' })
    expect((await here.hook('Stop', 's1')).decision).toBe('block')
    here.outer.write({ 'proj/a.txt': 'good\n' })
    const { systemMessage } = await here.hook('Stop', 's1')
    expect(systemMessage).toMatch(/UNREVIEWED: nobody can tell which project judges this session/)
    for (const at of ['proj', '.'])
      expect(await here.unreviewed(at), at).toEqual([expect.stringContaining('nobody can tell which project')])
    await here.hook('SessionStart', 's2')
    here.outer.write({ 'proj/a.txt': 'bad again\n' })
    expect((await here.hook('Stop', 's2')).decision).toBe('block')
    expect((await here.hook('Stop', 's3')).systemMessage ?? '').not.toContain('PASS')
  })

  it('does not take the place of one whose journal or configuration was taken away', { timeout }, async () => {
    for (const gone of ['.assay', 'assay.yaml']) {
      const here = own()
      await here.hook('SessionStart', 's1')
      here.contented('.')
      await here.hook('SessionStart', 's1', { at: '.' })
      rmSync(join(here.outer.folder, 'proj', gone), { recursive: true })
      here.outer.write({ 'proj/a.txt': 'bad\n' })
      expect((await here.hook('Stop', 's1')).systemMessage, gone).toContain('UNREVIEWED')
    }
  })
})

describe('a project that an agent makes inside its own, with a journal of older dates', () => {
  it('does not judge a session that nobody saw begin', { timeout }, async () => {
    const here = own()
    await here.hook('SessionStart', 's1')
    here.contented('proj/sub')
    here.contented('elsewhere')
    await here.hook('SessionStart', 's2', { at: 'elsewhere', env: { HOME: makeProject().folder, ...past(here).env } })
    renameSync(join(here.outer.folder, 'elsewhere/.assay'), join(here.outer.folder, 'proj/sub/.assay'))
    here.outer.write({ 'proj/sub/a.txt': 'bad\n' })
    expect((await here.hook('Stop', 's3', { at: 'proj/sub' })).systemMessage ?? '').not.toContain('PASS')
    expect((await readEvents(join(here.outer.folder, 'proj'))).at(-1)?.stream).toContain('s3')
  })
})

describe('a torn journal above', () => {
  it('keeps nothing from being judged and on record in the project', { timeout }, async () => {
    const here = own()
    await here.hook('SessionStart', 's1')
    here.contented('.')
    here.outer.write({ '.assay/assay.db': 'garbage\n', 'proj/a.txt': 'bad\n' })
    expect((await here.hook('Stop', 's1')).decision).toBe('block')
    expect((await here.hook('Stop', 's2')).systemMessage ?? '').not.toContain('on record nowhere')
    here.outer.write({ 'proj/assay.yaml': 'version: [\n' })
    expect((await here.hook('Stop', 's1')).systemMessage).toMatch(/UNREVIEWED(?!.*on record nowhere)/)
    expect(await here.unreviewed('proj')).not.toEqual([])
  })
})
