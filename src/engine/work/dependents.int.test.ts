import { afterEach, describe, expect, it } from 'vitest'
import type { BrainPort } from '../../ports/brain.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
}

const open: { remove(): void }[] = []
afterEach(() => {
  for (const shop of open.splice(0)) shop.remove()
})

const hands = (order: string[]): BrainPort => ({
  conversational: false,
  work: async ({ task }) => {
    order.push(task.title)
    return { kind: 'finished', raw: null, output: `work of ${task.title}`, sandboxed: false }
  },
  judge: async () => ({ kind: 'unavailable', detail: 'a worker does not judge' }),
  close: async () => {},
})
const eyes: BrainPort = {
  conversational: false,
  work: async () => ({ kind: 'failed', failure: 'error', detail: 'a judge does not work', output: '', beforeEffect: false }),
  judge: async () => ({ kind: 'reply', reply: { channel: 'text', body: 'SCORE: 90' } }),
  close: async () => {},
}

async function runGraph(graph: Record<string, string[]>) {
  const order: string[] = []
  const shop = openWorkshop({ config, brains: { hands: hands(order), eyes } })
  open.push(shop)
  const tasks = Object.entries(graph).map(([title, dependsOn]) =>
    specWith({ id: `plan/${title}`, title, criteria: [], mission: 'plan', dependsOn: dependsOn.map((one) => `plan/${one}`) }),
  )
  const started = await shop.engine.start({ id: 'plan', name: 'Plan', tasks })
  if (!started.ok) throw new Error(started.error.message)
  const end = await shop.engine.run({ missions: [started.value.mission], stop: new AbortController().signal })
  return { order, end, engine: shop.engine }
}

const names = (count: number) => Array.from({ length: count }, (_, n) => `t${n}`)

describe('tasks that wait', () => {
  it('for many: one starts after the last of them, with every input in the order of its list', async () => {
    const many = names(40)
    const { order, end, engine } = await runGraph({ last: [...many].reverse(), ...Object.fromEntries(many.map((name) => [name, []])) })
    expect(end.counts).toEqual({ clean: 41 })
    expect(order.at(-1)).toBe('last')
    const inputs = await engine.inputsOf('plan-1/last')
    expect(inputs.map((input) => input.task)).toEqual([...many].reverse().map((name) => `plan-1/${name}`))
  })

  it('for one: many start once it is done', async () => {
    const many = names(150)
    const { order, end } = await runGraph({ first: [], ...Object.fromEntries(many.map((name) => [name, ['first']])) })
    expect(end.counts).toEqual({ clean: 151 })
    expect(order[0]).toBe('first')
    expect(new Set(order).size).toBe(151)
  })
})
