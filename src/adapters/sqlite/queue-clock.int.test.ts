import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from './file/open.ts'
import { type Machine, queueClock } from './file/queue-clock.ts'

async function machine() {
  const folder = mkdtempSync(join(tmpdir(), 'assay-queue-clock-'))
  const at = { steady: 500, wall: 1_000_000, boot: 'one' as string | undefined }
  const db = await openDatabase(join(folder, 'assay.db'))
  onTestFinished(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const opened = () => queueClock(db, { boot: at.boot, steady: () => at.steady, wall: () => at.wall } satisfies Machine)
  return { at, db, opened }
}

describe('the clock of the queue', () => {
  it.each([3_600_000, -3_600_000])('is the same for processes on both sides of a jump of %i ms', async (by) => {
    const { at, opened } = await machine()
    const before = opened()
    at.wall += by
    at.steady += 10
    const after = opened()
    expect(before.now()).toBe(1_000_010)
    expect(after.now()).toBe(1_000_010)
  })

  it('begins anew with the machine: what waited is due, and nobody has a lease for long', async () => {
    const { at, db, opened } = await machine()
    const far = opened().now() + 1e12
    const add = db.prepare(
      "INSERT INTO work (key, kind, scope, priority, payload, owner, fence, claims, waiting, ready_at) VALUES (?, 'k', '', 1, 'null', ?, 0, 0, 1, ?)",
    )
    add.run('delayed', null, far)
    add.run('leased', 'somebody', far)
    Object.assign(at, { boot: 'two', steady: 3, wall: 400_000 })
    const now = opened().now()
    expect(now).toBe(400_000)
    const rows = db.prepare('SELECT key, waiting, ready_at AS at FROM work ORDER BY key').all()
    expect(rows).toEqual([
      { key: 'delayed', waiting: 0, at: now },
      { key: 'leased', waiting: 1, at: now + 60_000 },
    ])
  })

  it('is the wall clock where starts of the machine have no names', async () => {
    const { at, opened } = await machine()
    at.boot = undefined
    const clock = opened()
    at.wall += 77
    expect(clock.now()).toBe(1_000_077)
  })
})
