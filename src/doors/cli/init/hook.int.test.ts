import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { App, HookRequest } from '../app.ts'
import { Output } from '../output.ts'
import { initCommand, type InitFlags } from './init.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-init-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function init(flags: InitFlags, hook?: (request: HookRequest) => Awaited<ReturnType<NonNullable<App['hook']>>>) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const asked: HookRequest[] = []
  const app = {
    survey: () => Promise.resolve({ agents: [], keys: [], git: 'none', pages: [], documents: [], chrome: false }),
    ask: () => Promise.resolve(undefined),
    ...(hook && {
      hook: (request: HookRequest) => {
        asked.push(request)
        return Promise.resolve(hook(request))
      },
    }),
  } as unknown as App
  const code = await initCommand(app, new Output({ stdout, stderr, env: {}, cwd: folder }, false), flags)
  return { code, asked, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') }
}

describe('assay init --hook', () => {
  it('shows what it would change before it changes it', async () => {
    const { code, asked, stdout, stderr } = await init({ hook: ['claude'], yes: true }, ({ dryRun }) => ({
      ok: true,
      value: ['--- a.json', '+++ a.json', dryRun ? '+    "would": 1' : '+    "done": 1'],
    }))
    expect(code).toBe(0)
    expect(asked).toEqual([true, false].map((dryRun) => ({ agent: 'claude', folder, remove: false, dryRun })))
    expect(stderr).toContain('\n+    "would": 1\n')
    expect(stdout).toContain('changed a.json\n')
  })

  it('writes nothing at all where the hook cannot be put in', async () => {
    const { code, stderr } = await init({ hook: ['claude'], yes: true }, () => ({ ok: false, error: 'its settings are torn' }))
    expect(code).toBe(2)
    expect(stderr).toContain('its settings are torn')
    expect(existsSync(join(folder, 'assay.yaml'))).toBe(false)
  })

  it('takes back what it wrote where the hook cannot be put in after all', async () => {
    writeFileSync(join(folder, 'AGENTS.md'), '# Ours, ünd no line break')
    const { code, stdout, stderr } = await init({ hook: ['claude'], yes: true }, ({ dryRun }) =>
      dryRun ? { ok: true, value: ['+++ a.json'] } : { ok: false, error: 'the disk is full' },
    )
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('the disk is full')
    expect(readdirSync(folder)).toEqual(['AGENTS.md'])
    expect(readFileSync(join(folder, 'AGENTS.md'), 'utf8')).toBe('# Ours, ünd no line break')
  })

  it('only rehearses without a yes, and takes the hook out with the rest', async () => {
    const unasked = await init({ hook: ['claude'] }, () => ({ ok: true, value: ['would change'] }))
    expect(unasked).toMatchObject({ code: 2, asked: [{ dryRun: true }] })
    const removed = await init({ hook: ['claude'], yes: true, remove: true }, () => ({ ok: true, value: ['taken out'] }))
    expect(removed).toMatchObject({
      code: 0,
      asked: [
        { remove: true, dryRun: true },
        { remove: true, dryRun: false },
      ],
    })
  })

  it('takes out every hook of the project’s own with the rest, and says which settings it could not read', async () => {
    await init({ yes: true })
    const removed = await init({ yes: true, remove: true }, ({ agent }) =>
      agent === 'codex' ? { ok: false, error: 'hooks.json is torn' } : { ok: true, value: agent === 'claude' ? ['+++ c.json'] : [] },
    )
    expect(removed.code, removed.stderr).toBe(0)
    expect(removed.asked.filter(({ dryRun }) => !dryRun).map(({ agent, onlyOfProject }) => [agent, onlyOfProject])).toContainEqual([
      'claude',
      true,
    ])
    expect(removed.stdout).toContain('changed c.json\n')
    expect(removed.stderr.match(/hooks.json is torn/g)).toHaveLength(1)
    expect(existsSync(join(folder, 'assay.yaml'))).toBe(false)
  })

  it('has nothing to do where the hook is in already', async () => {
    await init({ yes: true })
    expect((await init({ hook: ['claude'] }, () => ({ ok: true, value: [] }))).stdout).toBe('nothing to do\n')
  })

  it('says so where there are no hooks', async () => {
    const { code, stderr } = await init({ hook: ['claude'], yes: true })
    expect(code).toBe(2)
    expect(stderr).toContain('not available')
  })
})
