import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eyesOf, handsOf } from '../../../testing/engine/brains.ts'
import { openWorkshop } from '../../../testing/engine/workshop.ts'
import { specWith } from '../../../testing/task/world.ts'

const timeout = 60_000

/** What somebody does with the programs of the folder that is in PATH. */
interface Hand {
  plant(): void
  remove(): void
}

interface Moments {
  beforeJudging?: (hand: Hand) => void
  whileJudging?: (hand: Hand) => void
}

/** One task in a shared folder that has a folder of PATH in it, and a judge of this kind. */
async function judged(eyes: object, workspace: object, { beforeJudging, whileJudging }: Moments) {
  let asked = 0
  const sees = eyesOf(() => {
    asked += 1
    whileJudging?.(hand)
    return 'SCORE: 90'
  })
  const config = {
    brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes },
    agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
    review: { panel: { size: 1, quorum: 1 }, maxAttempts: 1, onExhausted: 'fail' },
    limits: { judgeRetries: 0 },
  }
  const shop = openWorkshop({ config, brains: { hands: handsOf(() => 'work'), eyes: sees } })
  onTestFinished(shop.remove)
  const tools = join(shop.folder, 'site', 'tools')
  const hand: Hand = {
    plant: () => {
      writeFileSync(join(tools, 'new'), '#!/bin/sh\n')
      chmodSync(join(tools, 'new'), 0o755)
    },
    remove: () => rmSync(join(tools, 'new')),
  }
  mkdirSync(tools, { recursive: true })
  const path = process.env.PATH
  process.env.PATH = `${tools}:${path}`
  onTestFinished(() => {
    process.env.PATH = path
  })
  const { openBrain } = shop.parts
  Object.assign(shop.parts, {
    openBrain: (name: string) => {
      if (name === 'eyes') beforeJudging?.(hand)
      return openBrain(name)
    },
  })
  const spec = specWith({ id: 'm/a', title: 'a', criteria: [], mission: 'm', expectsDiff: false, workspace: workspace as never })
  await shop.engine.start({ id: 'm', name: 'm', gates: [], tasks: [spec] })
  await shop.engine.run({ missions: ['m-1'], stop: new AbortController().signal })
  const events = await shop.parts.journal.read(0, 1000)
  return { asked, types: events.map(({ type }) => type), said: JSON.stringify(events.map(({ data }) => data)) }
}

const shared = { kind: 'folder', path: 'site' }
const refused = /this judge is not asked|while it judged/

describe.each([
  ['a program', { kind: 'command', argv: ['/bin/true'] }, { kind: 'scratch' }],
  ['an agent', { kind: 'agent', agent: 'codex' }, shared],
])('%s that judges while PATH leads into a shared folder', (_which, eyes, workspace) => {
  it('is asked where nobody touched what is there', { timeout }, async () => {
    const { asked, said } = await judged(eyes, shared, {})
    expect(asked).toBeGreaterThan(0)
    expect(said).not.toMatch(refused)
  })

  it('is not asked once a program is there that the worker did not find', { timeout }, async () => {
    const { asked, types, said } = await judged(eyes, shared, { beforeJudging: (hand) => hand.plant() })
    expect([asked, types.includes('task.accepted')]).toEqual([0, false])
    expect(said).toContain('tools/new: this judge is not asked')
  })

  it(`has said nothing where one was there only meanwhile (${workspace.kind})`, { timeout }, async () => {
    const whileJudging = (hand: Hand) => {
      hand.plant()
      hand.remove()
    }
    const { asked, types, said } = await judged(eyes, workspace, { whileJudging })
    expect(asked).toBeGreaterThan(0)
    expect(types).not.toContain('task.accepted')
    expect(said).toContain('while it judged: site/tools, which is in PATH, was touched')
  })
})

it('a model that judges is asked all the same: it runs nothing', { timeout }, async () => {
  const eyes = { kind: 'model', provider: 'openai', model: 'any' }
  const { asked, said } = await judged(eyes, { kind: 'scratch' }, { whileJudging: (hand) => hand.plant() })
  expect(asked).toBeGreaterThan(0)
  expect(said).not.toMatch(refused)
})
