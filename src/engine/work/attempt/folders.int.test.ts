import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { BrainPort } from '../../../ports/brain.ts'
import { eyesOf, handsOf } from '../../../testing/engine/brains.ts'
import { openWorkshop } from '../../../testing/engine/workshop.ts'
import { specWith } from '../../../testing/task/world.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { panel: { size: 1, quorum: 1 }, maxAttempts: 1, onExhausted: 'fail' },
  concurrency: 4,
}
const stop = new AbortController().signal
const timeout = 60_000
const plan = (id: string, tasks: Record<string, string>) => ({
  id,
  name: id,
  gates: [],
  tasks: Object.entries(tasks).map(([title, path], index) =>
    specWith({
      ...{ id: `${id}/${title}`, title, criteria: [], mission: id, expectsDiff: false, priority: 9 - index },
      workspace: { kind: 'folder', path },
    }),
  ),
})

/** Workers that stay for a while; says who was at work with whom. */
function busyHands(): { hands: BrainPort; met: Set<string> } {
  const working = new Set<string>()
  const met = new Set<string>()
  const finished = handsOf(({ task: { title } }) => `work of ${title}`)
  return {
    met,
    hands: {
      ...finished,
      work: async (order, signal) => {
        for (const other of working) met.add([other, order.task.title].sort().join(' '))
        working.add(order.task.title)
        await sleep(150)
        working.delete(order.task.title)
        return await finished.work(order, signal)
      },
    },
  }
}

describe('shared folders of which one lies in the other', () => {
  it('are worked in one after the other, by two missions and two processes too', { timeout }, async () => {
    const { hands, met } = busyHands()
    const brains = { hands, eyes: eyesOf(() => 'SCORE: 90') }
    const first = openWorkshop({ config, brains })
    onTestFinished(first.remove)
    const second = openWorkshop({ config, brains, journal: first.parts.journal, folder: first.folder })
    for (const folder of ['site/pages', 'site-too']) mkdirSync(join(first.folder, folder), { recursive: true })
    await first.engine.start(plan('outer', { whole: 'site', beside: 'site-too' }))
    await second.engine.start(plan('inner', { pages: 'site/pages', again: 'site/pages/' }))
    const ends = await Promise.all([first.engine.run({ missions: ['outer-1'], stop }), second.engine.run({ missions: ['inner-1'], stop })])
    expect(ends.map(({ counts }) => counts)).toEqual([{ clean: 2 }, { clean: 2 }])
    expect([...met].filter((pair) => !pair.includes('beside'))).toEqual([])
    expect(met.size, 'folders beside each other are worked in at once').toBeGreaterThan(0)
    expect(await first.parts.journal.viewRows('folders')).toEqual([])
  })
})

describe('a shared folder that cannot be put back', () => {
  it('ends no run: whoever wants it is held, and goes on when it can be', { timeout }, async () => {
    const finished = handsOf(({ task: { title } }) => `work of ${title}`)
    const hands: BrainPort = {
      ...finished,
      work: async (order, signal) => {
        writeFileSync(join(order.workspace, `${order.task.title}.txt`), 'x')
        return await finished.work(order, signal)
      },
    }
    const eyes = eyesOf(({ task: { title } }) => (title === 'bad' ? 'SCORE: 10' : 'SCORE: 90'))
    const shop = openWorkshop({ config, brains: { hands, eyes } })
    onTestFinished(shop.remove)
    let refusals = 0
    let writable = false
    const { settle } = shop.parts.workspaces
    shop.parts.workspaces.settle = async (task, outcome, left) => {
      if (outcome === 'keep' || writable) return settle(task, outcome, left)
      refusals += 1
      return { stuck: 'EPERM: operation not permitted, unlink' }
    }
    await shop.engine.start(plan('plan', { bad: 'site', next: 'site', elsewhere: 'other' }))
    const end = await shop.engine.run({ missions: ['plan-1'], stop })
    expect(refusals).toBeGreaterThan(0)
    expect(end.counts).toEqual({ failed: 1, held: 1, clean: 1 })
    const [request] = await shop.engine.requests()
    expect(request).toMatchObject({ subject: 'plan-1/next', answers: expect.arrayContaining(['retry']) })
    expect(request?.detail).toMatch(/what plan-1\/bad left there cannot be put back.*EPERM/)
    const bad = join(shop.folder, 'site/bad.txt')
    expect(existsSync(bad)).toBe(true)
    writable = true
    if (!request) throw new Error('nobody was asked')
    const answered = await shop.engine.answer({ request, answer: 'retry', by: 'owner', reason: '' })
    expect(answered).toMatchObject({ ok: true })
    expect((await shop.engine.run({ missions: ['plan-1'], stop })).counts).toEqual({ failed: 1, clean: 2 })
    expect(existsSync(bad)).toBe(false)
  })
})
