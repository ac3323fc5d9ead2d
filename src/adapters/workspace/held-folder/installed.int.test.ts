import { mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { planted, type Tree } from '../../../testing/snapshot-suite/trees.ts'
import { lookAtInstalled, lookClosely } from './installed.ts'

const pad: Tree = { 'node_modules/pad/package.json': '{}', 'node_modules/pad/lib/index.js': '1' }

function folderWith(tree: Tree): { root: string; at(path: string): string } {
  const root = planted(tree)
  return { root, at: (path) => join(root, path) }
}

/** Which packages do not stand as they did, by the given look, after something was done. */
async function touched(root: string, act: () => void, look = lookAtInstalled): Promise<string[]> {
  const before = await look(root)
  // Some kernels note times in steps of several milliseconds.
  await sleep(20)
  act()
  const now = await look(root)
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((path) => before[path] !== now[path]).sort()
}

const names = async (tree: Tree) => Object.keys(await lookAtInstalled(planted(tree))).sort()

describe('what is installed', () => {
  it('is every package by itself: in scopes, of programs, in folders inside, and of pnpm', async () => {
    expect(
      await names({
        ...pad,
        'node_modules/@app/one/index.js': '1',
        'node_modules/@app/two/index.js': '1',
        'node_modules/.bin/tool': '1',
        'node_modules/.pnpm/left@1.0.0/node_modules/left/index.js': '1',
        'node_modules/.pnpm/node_modules/hoisted/index.js': '1',
        'packages/web/node_modules/own/index.js': '1',
        'src/index.js': 'no package',
      }),
    ).toEqual([
      'node_modules/.bin/tool',
      'node_modules/.pnpm/left@1.0.0',
      'node_modules/.pnpm/node_modules/hoisted',
      'node_modules/@app/one',
      'node_modules/@app/two',
      'node_modules/pad',
      'packages/web/node_modules/own',
    ])
  })

  it('is nothing where nothing is, or where Assay and git keep their own', async () => {
    expect(await names({ 'a.txt': 'a' })).toEqual([])
    expect(await names({ '.assay/work/node_modules/x/a.js': '1', '.git/node_modules/x/a.js': '1' })).toEqual([])
    expect(await lookAtInstalled(join(planted({ 'a.txt': 'a' }), 'absent'))).toEqual({})
  })

  it.each(['.cache', '.vite', '.vite-temp', '.vitest'])(
    'leaves out %s as the folder that a tool makes of it, and nothing else of that name',
    async (name) => {
      expect(await names({ [`node_modules/${name}/result`]: '1' })).toEqual([])
      expect(await names({ [`node_modules/${name}`]: 'module.exports = 1' })).toEqual([`node_modules/${name}`])
      const { root, at } = folderWith({ 'evil/index.js': '1', 'node_modules/pad/index.js': '1' })
      symlinkSync('../evil', at(`node_modules/${name}`))
      expect(Object.keys(await lookAtInstalled(root)).sort()).toEqual([`node_modules/${name}`, 'node_modules/pad'])
    },
  )

  it.each(['.package-lock.json', '.modules.yaml', '.yarn-integrity', '.yarn-state.yml', '.pnpm-workspace-state.json'])(
    'leaves out %s as the file that a tool makes of it, and nothing else of that name',
    async (name) => {
      expect(await names({ [`node_modules/${name}`]: '{}' })).toEqual([])
      expect(await names({ [`node_modules/${name}/index.js`]: 'module.exports = 1' })).toEqual([`node_modules/${name}`])
    },
  )

  it('leaves caches and notes out only where packages lie, not inside of one', async () => {
    const { root, at } = folderWith({ ...pad, 'node_modules/pad/.cache/x': '1' })
    expect(await touched(root, () => writeFileSync(at('node_modules/pad/.cache/x'), '2'))).toEqual(['node_modules/pad'])
  })
})

describe('a package stands otherwise', () => {
  const ways: [string, (at: (path: string) => string) => void][] = [
    ['after an edit', (at) => writeFileSync(at('node_modules/pad/lib/index.js'), '2')],
    [
      'after an edit of the same length with the old time set again',
      (at) => {
        const file = at('node_modules/pad/lib/index.js')
        const { atime, mtime } = statSync(file)
        writeFileSync(file, '2')
        utimesSync(file, atime, mtime)
      },
    ],
    ['with a file more', (at) => writeFileSync(at('node_modules/pad/more.js'), '')],
    ['with a file less', (at) => rmSync(at('node_modules/pad/package.json'))],
    [
      'with a link in the place of a file',
      (at) => {
        rmSync(at('node_modules/pad/lib/index.js'))
        symlinkSync('/etc/hostname', at('node_modules/pad/lib/index.js'))
      },
    ],
    [
      'as a link to another folder',
      (at) => {
        renameSync(at('node_modules/pad'), at('moved'))
        symlinkSync('../moved', at('node_modules/pad'))
      },
    ],
    [
      'when the same is installed again',
      (at) => {
        const text = readFileSync(at('node_modules/pad/lib/index.js'))
        rmSync(at('node_modules/pad/lib'), { recursive: true })
        mkdirSync(at('node_modules/pad/lib'))
        writeFileSync(at('node_modules/pad/lib/index.js'), text)
      },
    ],
    [
      'where all packages are those of another folder',
      (at) => {
        renameSync(at('node_modules'), at('away'))
        mkdirSync(dirname(at('evil/pad/index.js')), { recursive: true })
        writeFileSync(at('evil/pad/index.js'), '2')
        symlinkSync('evil', at('node_modules'))
      },
    ],
  ]
  it.each(ways)('%s', async (_what, act) => {
    const { root, at } = folderWith(pad)
    expect(await touched(root, () => act(at))).toEqual(['node_modules/pad'])
  })

  it('not because others do, nor because tools write beside it', async () => {
    const { root, at } = folderWith({ ...pad, 'node_modules/other/index.js': '1' })
    expect(
      await touched(root, () => {
        writeFileSync(at('node_modules/other/index.js'), '2')
        mkdirSync(at('node_modules/.cache'))
        writeFileSync(at('node_modules/.cache/x'), '1')
        writeFileSync(at('src.js'), '1')
      }),
    ).toEqual(['node_modules/other'])
  })
})

describe('a package that was swapped and put back', () => {
  const swap = (at: (path: string) => string, what: string) => () => {
    renameSync(at(what), at('kept'))
    mkdirSync(at(what))
    rmSync(at(what), { recursive: true })
    renameSync(at('kept'), at(what))
  }

  it.each([
    ['node_modules/pad', ['node_modules', 'node_modules/pad']],
    ['node_modules/@app/one', ['node_modules/@app', 'node_modules/@app/one']],
    ['node_modules/@app', ['node_modules', 'node_modules/@app']],
    ['node_modules/pad/lib', ['node_modules/pad']],
    ['node_modules', ['node_modules']],
  ])('as %s has left a trace for a close look', async (what, traces) => {
    const tree: Tree = { ...pad, 'node_modules/@app/one/index.js': '1' }
    const plain = folderWith(tree)
    expect(await touched(plain.root, swap(plain.at, what)), 'all of it is what it was').toEqual([])
    const close = folderWith(tree)
    expect(await touched(close.root, swap(close.at, what), lookClosely)).toEqual(traces)
  })

  it('leaves none where nobody touched anything', async () => {
    const { root, at } = folderWith({ ...pad, 'node_modules/.cache/x': '1' })
    expect(await touched(root, () => writeFileSync(at('node_modules/.cache/x'), '2'), lookClosely)).toEqual([])
  })
})
