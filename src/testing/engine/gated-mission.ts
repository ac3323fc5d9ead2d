import { expect, onTestFinished, vi } from 'vitest'
import { openMemoryJournal } from '../../adapters/memory/journal.ts'
import type { GateSpec } from '../../contract/events/gate.ts'
import type { DeliverableSpec } from '../../contract/mission/deliverable.ts'
import { TaskStore } from '../../engine/task/task-store.ts'
import { engineViews } from '../../engine/views/tasks.ts'
import type { Bench } from '../../engine/work/bench.ts'
import { KeptReports } from '../../engine/work/checking/reports-kept.ts'
import type { BrainPort } from '../../ports/brain.ts'
import type { AppendRequest, Journal } from '../../ports/journal.ts'
import { specWith } from '../task/world.ts'
import { eyesOf, handsOf } from './brains.ts'
import { openWorkshop } from './workshop.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { threshold: 60, maxAttempts: 1, onExhausted: 'fail', panel: { size: 1, quorum: 1 } },
  concurrency: 2,
}

export interface Scene {
  tasks: Record<string, { dependsOn?: string[]; gates?: string[]; deliverable?: DeliverableSpec }>
  gates?: (Partial<GateSpec> & Pick<GateSpec, 'name' | 'afterTasks' | 'blocksTasks'>)[]
  score?: (title: string, attempt: number) => number
  /** What happens before a turn ends. */
  during?: (title: string, attempt: number) => Promise<unknown>
  journal?: Journal
}

/** A mission `plan-1` with gates, on a whole engine; `score` says what judges give. Gone after the test. */
export async function stageMission({ tasks, gates = [], score = () => 90, during = async () => {}, journal }: Scene) {
  const finished = handsOf(({ task: { title }, attempt }) => `work ${attempt} of ${title}`)
  const hands: BrainPort = {
    ...finished,
    work: async (order, signal) => {
      await during(order.task.title, order.attempt)
      return finished.work(order, signal)
    },
  }
  const eyes = eyesOf(({ task: { title }, attempt }) => `Hm.\nSCORE: ${score(title, attempt)}`)
  const shop = openWorkshop({ config, brains: { hands, eyes }, ...(journal && { journal }) })
  onTestFinished(shop.remove)
  const named = (titles: readonly string[] = []) => titles.map((title) => `plan/${title}`)
  const specs = Object.entries(tasks).map(([title, more]) =>
    specWith({ ...more, id: `plan/${title}`, title, criteria: [], mission: 'plan', expectsDiff: false, dependsOn: named(more.dependsOn) }),
  )
  const specced = gates.map((gate) => ({
    requireAllPassed: true as const,
    notifyChannels: [],
    ...gate,
    afterTasks: named(gate.afterTasks),
    blocksTasks: named(gate.blocksTasks),
  }))
  expect(await shop.engine.start({ id: 'plan', name: 'Plan', tasks: specs, gates: specced })).toMatchObject({ ok: true })
  const { engine } = shop
  const statusOf = async (title: string) => (await engine.taskRows(`plan-1/${title}`))[0]?.status
  return {
    ...shop,
    run: () => engine.run({ missions: ['plan-1'], stop: new AbortController().signal }),
    statusOf,
    until: (title: string, status: string) => vi.waitUntil(async () => (await statusOf(title)) === status, 30_000),
    answer: async (gate: string, answer: 'retry' | 'waive' | 'stop') => {
      const request = (await engine.requests()).find(({ subject }) => subject === `plan-1/${gate}`)
      if (!request) throw new Error(`${gate} asks nothing`)
      return engine.answer({ request, answer, by: 'owner', reason: 'because' })
    },
    reopen: (title: string) => engine.handle(`plan-1/${title}`, { type: 'reopen_task', by: 'owner', reason: 'more' }, 'owner'),
    overrule: (title: string) =>
      engine.handle(`plan-1/${title}`, { type: 'overrule_task', outcome: 'fail', by: 'owner', reason: 'not so' }, 'owner'),
    finished: async () => (await engine.missions())[0]?.finished !== undefined,
    attempts: async (title: string) => (await engine.task(`plan-1/${title}`))?.attempts,
    gate: async (name: string) => (await engine.gates('plan-1')).find((row) => row.name === name)?.status,
    types: async (stream: string) => (await shop.parts.journal.readStream(stream)).map(({ type }) => type),
    /** Where in the journal the nth event of its kind in a stream stands. */
    positions: async (stream: string, type: string) =>
      (await shop.parts.journal.readStream(stream)).filter((event) => event.type === type).map(({ position }) => position),
  }
}

/** What a process has at hand that died before it did anything but decide. */
export function benchOf({ parts }: Pick<Bench, 'parts'>): Bench {
  return {
    parts,
    tasks: new TaskStore(parts),
    brain: () => Promise.reject(new Error('nobody thinks here')),
    missing: new Map(),
    paying: new Map(),
    reports: new KeptReports(),
  }
}

/** A journal in memory in which something happens right before an append: another process is faster. */
export function racingJournal(before: (request: AppendRequest, journal: Journal) => Promise<void>): Journal {
  return new Proxy(openMemoryJournal({ views: engineViews }), {
    get: (target, key: keyof Journal) => {
      const member = target[key] as (...args: never[]) => unknown
      if (key !== 'append') return typeof member === 'function' ? member.bind(target) : member
      return async (request: AppendRequest) => {
        await before(request, target)
        return target.append(request)
      }
    },
  })
}
