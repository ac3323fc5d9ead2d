import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TaskSpec } from '../../contract/task.ts'
import { isIgnored } from './ignored.ts'
import { inputNames, safeName } from './names.ts'
import { sampleTask } from './fixtures/task.ts'

const ids = fc.oneof(
  fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' }),
  fc.constantFrom('a', 'A', 'a/b', 'a-b', 'a.b', '..', '.', '/', 'con', 'a~b', 'a.base', 'a.staging', 'x'.repeat(200), 'X'.repeat(200)),
)

describe('the folder name of a task', () => {
  it('is the id itself where that is simple', () => {
    expect(safeName('write-core_2')).toBe('write-core_2')
    expect(safeName('Mission/Write core')).toMatch(/^mission-write-core~[0-9a-f]{64}$/)
  })

  it('is one plain name, also where case does not count, and never shared', () => {
    fc.assert(
      fc.property(ids, ids, (one, other) => {
        const name = safeName(one)
        expect(name).toMatch(/^[^/\\.\0]+$/)
        expect(Buffer.byteLength(`${name}.staging`)).toBeLessThanOrEqual(255)
        expect(name).toBe(name.toLowerCase())
        if (one !== other) expect(safeName(other)).not.toBe(name)
      }),
    )
  })
})

describe('the folder names of inputs', () => {
  const input = (task: string, title: string) => ({ task, title, prefix: '', content: null, output: '' })

  it('come from their titles, and from their tasks where titles do not tell them apart', () => {
    const inputs = [input('t1', 'Implement core module'), input('t2', 'Docs!'), input('t3', 'docs'), input('t4', '…')]
    const names = [...inputNames(inputs).values()]
    expect(names[0]).toBe('implement-core-module')
    expect(names[1]).toMatch(/^docs~[0-9a-f]{32}$/)
    expect(names[2]).toMatch(/^docs~[0-9a-f]{32}$/)
    expect(names[3]).toMatch(/^input~[0-9a-f]{32}$/)
    expect(new Set(names).size).toBe(4)
  })

  it('are plain names and all different for any titles', () => {
    fc.assert(
      fc.property(fc.uniqueArray(ids, { minLength: 1, maxLength: 8 }), fc.array(ids, { minLength: 8, maxLength: 8 }), (tasks, titles) => {
        const names = [...inputNames(tasks.map((task, n) => input(task, titles[n] ?? 'x'))).values()]
        expect(new Set(names).size).toBe(tasks.length)
        for (const name of names) expect(name).toMatch(/^[^/\\.\0]+$/)
      }),
    )
  })
})

describe('what is not the work', () => {
  const shared = sampleTask({ workspace: { kind: 'folder', path: 'site' } })

  it.each([
    ['.git', true],
    ['.git/HEAD', true],
    ['packages/x/node_modules', true],
    ['packages/x/node_modules/y/z.js', true],
    ['.assay/case.json', true],
    ['.gitignore', false],
    ['src/inputs/x', false],
    ['inputs.txt', false],
    ['my.assay', false],
    ['src/a.ts', false],
  ])('%s: %s, in any workspace', (path, ignored) => {
    expect(isIgnored(path)).toBe(ignored)
    expect(isIgnored(path, sampleTask())).toBe(ignored)
    expect(isIgnored(path, shared)).toBe(ignored)
  })

  it('includes inputs/ in a scratch workspace, but a shared folder or a repository may have work there', () => {
    expect(isIgnored('inputs')).toBe(true)
    expect(isIgnored('inputs/core/x', sampleTask())).toBe(true)
    expect(isIgnored('inputs/data.csv', shared)).toBe(false)
    const worktree = sampleTask({ workspace: { kind: 'worktree' } })
    expect(isIgnored('inputs/data.csv', worktree)).toBe(false)
    expect(isIgnored('.assay/inputs/core/x', worktree)).toBe(true)
  })

  it('is asked about tasks as the contract has them', () => {
    expect(TaskSpec.safeParse(shared).success).toBe(true)
  })
})
