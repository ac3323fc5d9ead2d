import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAlive, listPids, readProcess, startVariable } from './identity.ts'
import { membersOf, type RunRoot } from './members.ts'

/** A `/proc` of our own, so that reused pids and odd names can be shown at will. */
let proc: string
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), 'assay-proc-'))
})
afterEach(() => rmSync(proc, { recursive: true, force: true }))

interface Fake {
  pid: number
  start: number
  parent?: number
  group?: number
  session?: number
  state?: string
  name?: string
  environ?: string
}

function show({ pid, start, parent = 1, group = 1, session = 1, state = 'S', name = 'sh', environ = '' }: Fake): void {
  mkdirSync(join(proc, String(pid)), { recursive: true })
  const zeros = Array.from({ length: 15 }, () => 0).join(' ')
  writeFileSync(join(proc, String(pid), 'stat'), `${pid} (${name}) ${state} ${parent} ${group} ${session} ${zeros} ${start} 0 0\n`)
  writeFileSync(join(proc, String(pid), 'environ'), environ)
}

const root: RunRoot = { id: 'ns.1.2.run', trail: 'ns.1.2.run', pid: 100, start: 500, before: new Set([1]), since: 0 }
const found = () =>
  membersOf(root, proc)
    .map((member) => member.pid)
    .sort((a, b) => a - b)

describe('a process is known by pid and start', () => {
  it('reads the start past a name full of parentheses and newlines', () => {
    show({ pid: 7, start: 4242, parent: 3, group: 5, session: 6, name: 'a) S 9 9\n(b' })
    expect(readProcess(7, proc)).toEqual({ pid: 7, start: 4242, zombie: false, parent: 3, group: 5, session: 6 })
  })

  it('does not take another process with the same pid for it', () => {
    show({ pid: 7, start: 4242 })
    expect(isAlive({ pid: 7, start: 4242 }, proc)).toBe(true)
    show({ pid: 7, start: 9999 })
    expect(isAlive({ pid: 7, start: 4242 }, proc)).toBe(false)
  })

  it('counts a zombie and a missing process as dead', () => {
    show({ pid: 7, start: 1, state: 'Z' })
    expect(isAlive({ pid: 7, start: 1 }, proc)).toBe(false)
    expect(isAlive({ pid: 8, start: 1 }, proc)).toBe(false)
  })

  it('lists pids only, and none where the system shows none', () => {
    show({ pid: 7, start: 1 })
    mkdirSync(join(proc, 'self'))
    expect(listPids(proc)).toEqual([7])
    expect(listPids(join(proc, 'nowhere'))).toEqual([])
  })

  it('finds a variable by its whole name', () => {
    show({ pid: 7, start: 1, environ: 'XASSAY_RUN_ID=no\0ASSAY_RUN_ID=yes\0' })
    expect(startVariable(7, 'ASSAY_RUN_ID', proc)).toBe('yes')
    expect(startVariable(7, 'RUN_ID', proc)).toBe(undefined)
  })
})

describe('the members of a run', () => {
  it('are its descendants, its group, its session and whoever carries its id', () => {
    show({ pid: 100, start: 500, group: 100, session: 100 })
    show({ pid: 101, start: 501, parent: 100, group: 101, session: 101 })
    show({ pid: 102, start: 502, parent: 101, group: 101, session: 101 })
    show({ pid: 103, start: 503, group: 100, session: 100 })
    show({ pid: 104, start: 504, group: 104, session: 100 })
    show({ pid: 105, start: 505, group: 105, session: 105, environ: 'A=1\0ASSAY_RUN_ID=outer/ns.1.2.run/inner\0' })
    show({ pid: 106, start: 506, group: 106, session: 106, environ: 'ASSAY_RUN_ID=ns.1.2.run2\0' })
    expect(found()).toEqual([100, 101, 102, 103, 104, 105])
  })

  it('are no processes older than the run, and no zombies', () => {
    show({ pid: 90, start: 499, group: 100, session: 100 })
    show({ pid: 101, start: 501, parent: 100, group: 100, state: 'Z' })
    show({ pid: 102, start: 502, parent: 101, group: 7, session: 7 })
    expect(found()).toEqual([102])
  })

  it('are not a stranger that was given the first process’s pid, nor its group', () => {
    show({ pid: 100, start: 900, group: 100, session: 100 })
    show({ pid: 200, start: 901, parent: 100, group: 100, session: 100 })
    show({ pid: 105, start: 505, group: 105, session: 105, environ: 'ASSAY_RUN_ID=ns.1.2.run\0' })
    expect(found()).toEqual([105])
  })
})
