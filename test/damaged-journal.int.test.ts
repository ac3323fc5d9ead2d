import { closeSync, cpSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import type { Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

let master = ''
beforeAll(() => {
  master = mkdtempSync(join(tmpdir(), 'assay-held-'))
})
afterAll(() => rmSync(master, { recursive: true, force: true }))

/** A project whose mission is held, so that both `run` and `resume` would go on with it. It is run once and copied from then on. */
async function heldProject(): Promise<Project> {
  const project = oneTask({ worker: 'echo x > work.txt; echo done', judge: "echo 'no idea'", review: { onUnreadable: 'hold' } })
  const kept = join(master, '.assay')
  if (existsSync(kept)) {
    cpSync(kept, join(project.folder, '.assay'), { recursive: true })
    return project
  }
  expect((await project.run(['run', 'm.yaml'])).code).toBe(3)
  cpSync(join(project.folder, '.assay'), kept, { recursive: true })
  return project
}

const database = (project: Project) => join(project.folder, '.assay', 'assay.db')

function edit(project: Project, sql: string): void {
  const db = new DatabaseSync(database(project))
  const { changes } = db.prepare(sql).run()
  db.close()
  expect(Number(changes), 'the fault fired').toBeGreaterThan(0)
}

const edits: { what: string; sql: string; names: RegExp }[] = [
  {
    what: 'a verdict was turned into a pass',
    sql: `UPDATE events SET body = replace(body, 'no idea', 'SCORE: 99') WHERE body LIKE '%no idea%'`,
    names: /task\/m-1\/a at version \d+ \(position \d+\): the event does not match its hash/,
  },
  { what: 'an event was removed', sql: 'DELETE FROM events WHERE position = 5', names: /task\/m-1\/a at version \d+ \(position 6\)/ },
  {
    what: 'the end was cut off',
    sql: 'DELETE FROM events WHERE position > 7',
    names: /task\/m-1\/a at version \d+.*\n.*\(journal\) at version 0 \(position 7\)/,
  },
  {
    what: 'an event was added',
    sql: `INSERT INTO events SELECT position + 1000, stream, version + 1000, prev, hash, place, body FROM events ORDER BY position DESC LIMIT 1`,
    names: /task\/m-1\/a at version \d+ \(position \d+\)/,
  },
  {
    what: 'a stream was renamed',
    sql: `UPDATE events SET stream = 'task/m-1/b' WHERE stream = 'task/m-1/a'`,
    names: /task\/m-1\/b at version 1 \(position 5\)/,
  },
  {
    what: 'an event got another number',
    sql: 'UPDATE events SET version = 1002 WHERE version = 2',
    names: /task\/m-1\/a at version \d+ \(position \d+\)/,
  },
]

/** Nothing runs on such a journal, and everybody says where it is broken. */
async function expectRefused(project: Project, names: RegExp, brokenAs: 'chain' | 'file'): Promise<void> {
  const before = readFileSync(database(project))
  const turns = project.logged('turns')
  const commands = [['run', 'm.yaml'], ['resume'], ['run', 'm.yaml', '--fresh']]
  const [verified, json, ...refusals] = await Promise.all([
    project.run(['audit', 'verify']),
    project.json<{ breaks: unknown[] }>(['audit', 'verify']),
    ...commands.map((args) => project.run(args)),
  ])
  for (const { code, stdout, stderr } of refusals) {
    expect(code, stderr).toBe(3)
    expect(stdout).toBe('')
    expect(stderr).toMatch(names)
    expect(stderr).not.toMatch(/\n\s+at [^v]/)
    if (brokenAs === 'file') expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  }
  expect(verified.code, verified.stderr).toBe(1)
  expect(verified.stdout).toMatch(/^audit BROKEN/)
  expect(verified.stdout).toMatch(names)
  expect(json.code).toBe(1)
  expect(json.lines[0]?.breaks.length).toBeGreaterThan(0)
  expect(project.logged('turns'), 'nothing was run').toEqual(turns)
  if (brokenAs === 'file') expect(readFileSync(database(project)).equals(before), 'it was left as it was').toBe(true)
}

describe('a journal that somebody changed by hand', () => {
  it.each(edits)('$what', { timeout }, async ({ sql, names }) => {
    const project = await heldProject()
    edit(project, sql)
    await expectRefused(project, names, 'chain')
  })
})

describe('a journal that is damaged', () => {
  const damages: { what: string; damage: (file: string) => void; names: RegExp }[] = [
    {
      what: 'a page was overwritten',
      damage: (file) => {
        const fd = openSync(file, 'r+')
        writeSync(fd, Buffer.alloc(3000, 0x41), 0, 3000, 8192)
        closeSync(fd)
      },
      names: /assay\.db is damaged/,
    },
    { what: 'it ends in the middle', damage: (file) => truncateSync(file, 10_000), names: /damaged/ },
    {
      what: 'something else has its name',
      damage: (file) => writeFileSync(file, 'Dear diary,\n'.repeat(1000)),
      names: /is not an Assay journal/,
    },
  ]

  it.each(damages)('$what', { timeout }, async ({ damage, names }) => {
    const project = await heldProject()
    // Pages that still stand in the log of the store would heal the damage.
    const db = new DatabaseSync(database(project))
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
    for (const rest of ['-wal', '-shm']) rmSync(`${database(project)}${rest}`, { force: true })
    damage(database(project))
    await expectRefused(project, names, 'file')
  })

  it('is put away by reset, whole, and a new one begins', { timeout }, async () => {
    const project = await heldProject()
    writeFileSync(database(project), 'Dear diary,\n')
    const { code, stdout } = await project.asOwner(['reset', '--json'])
    expect(code).toBe(0)
    const { archive } = JSON.parse(stdout) as { archive: string }
    expect(readFileSync(join(archive, 'assay.db'), 'utf8')).toBe('Dear diary,\n')
    expect(project.has('.assay')).toBe(false)
    project.write({ 'judge.sh': "#!/bin/sh\necho 'SCORE: 80'\n" })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
  })
})
