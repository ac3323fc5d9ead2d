import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openMemoryJournal } from '../../../adapters/memory/journal.ts'
import { engineViews } from '../../../engine/views/tasks.ts'
import type { Journal } from '../../../ports/journal.ts'
import { eyesOf, handsOf } from '../../../testing/engine/brains.ts'
import { openWorkshop } from '../../../testing/engine/workshop.ts'
import { specWith } from '../../../testing/task/world.ts'
import type { App } from '../app.ts'
import { Output } from '../output.ts'
import { missionStopCommand } from './mission.ts'
import { resumeCommand } from './run.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { panel: { size: 1, quorum: 1 } },
}
const brains = { hands: handsOf(() => 'done'), eyes: eyesOf(() => 'SCORE: 90') }
const stop = new AbortController().signal

/** The journal as a process finds it that shares it with others: closing it ends nothing. */
function shared(journal: Journal, dying = false): Journal {
  let dead = false
  return new Proxy(journal, {
    get: (target, key: keyof Journal) => {
      const member = target[key] as (...args: unknown[]) => unknown
      if (key === 'close') return async () => undefined
      return async (...args: unknown[]) => {
        if (dead) throw new Error('killed')
        const result = await member.apply(target, args)
        const [request] = args as [{ streams?: { events: { type: string }[] }[] } | undefined]
        dead ||=
          dying &&
          key === 'append' &&
          request?.streams?.some(({ events }) => events.some(({ type }) => type === 'mission.finished')) === true
        return result
      }
    },
  })
}

function commandLine(folder: string, journal: Journal, written: object) {
  writeFileSync(join(folder, 'assay.yaml'), JSON.stringify(written))
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const output = new Output({ stdout, stderr, env: {}, cwd: folder }, false)
  const { engine } = openWorkshop({ config: written, brains, journal: shared(journal), folder })
  engine.isOwner = async () => true
  const authority = async () => ({ ok: true as const, by: 'owner', token: 'token' })
  const app = { open: async () => engine, problems: async () => [], authority } as unknown as App
  return { app, output, said: () => `${stdout.read() ?? ''}${stderr.read() ?? ''}` }
}

async function begun(journal: Journal, deadline: string, dying = false) {
  const { engine, folder, remove } = openWorkshop({ config, brains, journal: shared(journal, dying) })
  onTestFinished(remove)
  const tasks = [specWith({ id: 'plan/a', criteria: [], mission: 'plan', expectsDiff: false })]
  expect(await engine.start({ id: 'plan', name: 'Plan', tasks, deadline })).toMatchObject({ ok: true })
  return { engine, folder }
}

describe('a run that was left in the middle', () => {
  it('of its end: resume says what became of its deadline', async () => {
    const journal = openMemoryJournal({ views: engineViews })
    const { engine, folder } = await begun(journal, '1h', true)
    await expect(engine.run({ missions: ['plan-1'], stop })).rejects.toThrow('killed')
    const types = async () => (await journal.readStream('sla/mission:plan-1')).map(({ type }) => type)
    expect(await types()).toEqual([])
    const { app, output, said } = commandLine(folder, journal, config)
    expect(await resumeCommand(app, output, undefined, {})).toBe(0)
    expect(said()).toContain('Nothing to resume')
    expect(await types()).toEqual(['sla.met'])
  })

  it('is stopped by its owner under another policy, and is over then', async () => {
    const journal = openMemoryJournal({ views: engineViews })
    const { folder } = await begun(journal, '1h')
    const { app, output, said } = commandLine(folder, journal, { ...config, review: { ...config.review, threshold: 61 } })
    expect(await missionStopCommand(app, output, 'plan-1', { reason: 'enough' })).toBe(0)
    expect(said()).toBe('stopped: plan-1/a\n')
    expect((await journal.readStream('mission/plan-1')).map(({ type }) => type)).toContain('mission.finished')
  })
})
