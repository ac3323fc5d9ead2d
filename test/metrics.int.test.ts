import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openMemoryJournal } from '../src/adapters/memory/journal.ts'
import { openSqliteJournal } from '../src/adapters/sqlite/journal.ts'
import type { NewEvent } from '../src/contract/events/envelope.ts'
import type { AssayEvent } from '../src/contract/events/manifest.ts'
import {
  type MetricsGroup,
  metricsOf,
  missionMetricsView,
  type TaskMetrics,
  taskMetricsOf,
  taskMetricsView,
} from '../src/engine/views/metrics.ts'
import { spendingView } from '../src/engine/views/spending.ts'
import type { Journal, View } from '../src/ports/journal.ts'
import { answer, lives, places } from '../src/testing/task/lives.ts'
import { arbitraryRules, arbitrarySpec, arbitrarySteps, playHistory } from '../src/testing/task/random-history.ts'
import { useAssay } from './front-door/assay.ts'
import { compareAll } from './front-door/metrics-recount.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()
const views = [taskMetricsView as View, missionMetricsView as View, spendingView as View]

// Journals to count.

/** Calls that cost something, and tasks of two agents: random lives say neither. */
function dressed({ type, data }: AssayEvent, index: number, assignee: string): NewEvent {
  const usage = { inputTokens: index, outputTokens: 3, ...(index % 3 > 0 && { costUsd: index / 1000 }) }
  if (type === 'task.created') return { type, v: 1, data: { ...data, spec: { ...data.spec, assignee } } }
  if (type === 'verdict.recorded') return { type, v: 1, data: { ...data, sitting: { ...data.sitting, usage } } }
  if (type === 'task.eval.unparsed' || type === 'judge.unavailable' || type === 'case.submitted')
    return { type, v: 1, data: { ...data, usage } }
  return { type, v: 1, data }
}

interface Life {
  id: string
  events: NewEvent[]
}

const arbitraryLives: fc.Arbitrary<Life[]> = fc
  .array(fc.tuple(arbitraryRules, arbitrarySpec, arbitrarySteps), { minLength: 1, maxLength: 4 })
  .map((several) =>
    several.map(([rules, spec, steps], index) => {
      const id = `m-${index % 2}/t${index}`
      const history = playHistory(rules, { ...spec, id }, steps)
      return { id, events: history.events.map((event, at) => dressed(event, at, index < 2 ? 'dev' : 'eve')) }
    }),
  )

const streamsBeside = (played: readonly Life[]): [string, NewEvent][] => [
  ...played.map(({ id }, index): [string, NewEvent] => [
    `sla/task:${id}`,
    { type: index % 2 === 0 ? 'sla.met' : 'sla.violated', v: 1, data: { entityId: id, entityType: 'task', deadline: '', marginMs: 1 } },
  ]),
  ['sla/mission:m-0', { type: 'sla.violated', v: 1, data: { entityId: 'm-0', entityType: 'mission', deadline: '', overdueMs: 1 } }],
  ['gate/m-0/g', { type: 'gate.waived', v: 1, data: { missionId: 'm-0', gateName: 'g', by: 'owner', reason: 'r' } }],
  ['mission/m-0', { type: 'threshold.waived', v: 1, data: { missionId: 'm-0', by: 'owner', reason: 'r' } }],
]

/** Plays the lives side by side, one event at a time; each append is delivered twice, as after a crash, and refused the second time. */
async function playInto(journal: Journal, played: readonly Life[]): Promise<void> {
  let seconds = 0
  const say = async (stream: string, expected: number, event: NewEvent) => {
    seconds += 1
    const meta = { at: new Date(1_700_000_000_000 + seconds * 1000).toISOString(), actor: 'runtime' }
    const request = { streams: [{ stream, expected, events: [event] }], meta }
    expect(await journal.append(request)).toMatchObject({ ok: true })
    expect(await journal.append(request)).toMatchObject({ ok: false, code: 'version_conflict' })
  }
  for (let turn = 0; played.some(({ events }) => events.length > turn); turn += 1) {
    for (const { id, events } of played) {
      const event = events[turn]
      if (event) await say(`task/${id}`, turn, event)
    }
  }
  for (const [stream, event] of streamsBeside(played)) await say(stream, 0, event)
}

async function everythingIn(journal: Journal): Promise<(MetricsGroup | TaskMetrics)[]> {
  const groups: (MetricsGroup | TaskMetrics)[] = await metricsOf(journal)
  for await (const task of taskMetricsOf(journal)) groups.push(task)
  return groups
}

describe('metrics equal a recount of the journal', () => {
  it('over random lives of tasks', { timeout }, async () => {
    const most = { overruled: 0, agreed: 0, forced: 0, unread: 0, fixes: 0, first: 0, reused: 0 }
    await fc.assert(
      fc.asyncProperty(arbitraryLives, async (random) => {
        const journal = openMemoryJournal({ views })
        await playInto(journal, random)
        const events = await journal.read(0, 100_000)
        const groups = await everythingIn(journal)
        expect(compareAll(groups, events)).toBeGreaterThan(2)
        for (const group of groups) {
          if (group.kind !== 'task') continue
          most.overruled = Math.max(most.overruled, group.overruleRate.count)
          most.agreed = Math.max(most.agreed, group.judgeAgreement.count)
          most.forced = Math.max(most.forced, group.forceAccepts)
          most.unread = Math.max(most.unread, group.unreadableVerdicts)
          most.fixes = Math.max(most.fixes, group.totalFixes)
          most.first = Math.max(most.first, group.firstPassYield.count)
        }
        most.reused += events.filter(({ type }) => type === 'decision.reused').length
        expect(await journal.compareViews()).toEqual([])
        await journal.close()
      }),
      { numRuns: 100 },
    )
    for (const [figure, highest] of Object.entries(most))
      expect(highest, `the lives were rich enough to count: ${figure}`).toBeGreaterThan(0)
  })

  it('over a life up to every state, and an overrule of work that was put back', { timeout }, async () => {
    const restoring = lives.restoring()
    const { attempt, content } = restoring.last('restore.requested')
    const putBack = answer(restoring.when({ type: 'confirm_restored', attempt, content }), 'accept')
    const histories = [...places.map((place) => lives[place]()), putBack]
    const played = histories.map(({ events }, index) => ({
      id: `m-0/t${index}`,
      events: events.map((event, at) => dressed(event, at, 'dev')),
    }))
    const journal = openMemoryJournal({ views })
    await playInto(journal, played)
    const groups = await everythingIn(journal)
    expect(compareAll(groups, await journal.read(0, 100_000))).toBeGreaterThan(histories.length)
    const last = groups.find((group) => group.kind === 'task' && group.task === `m-0/t${places.length}`)
    expect(last?.overruleRate, 'the judges of the attempt that was put back, not of the last one').toMatchObject({ count: 2, of: 4 })
  })

  it('in a stored journal that was closed and opened again, and that was written before there were metrics', { timeout }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-metrics-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const [random = []] = fc.sample(arbitraryLives, 1)
    const path = join(folder, 'assay.db')
    const before = await openSqliteJournal({ path, views: [] })
    await playInto(before, random)
    await before.close()
    for (let opening = 1; opening <= 2; opening += 1) {
      const journal = await openSqliteJournal({ path, views })
      const events = await journal.read(0, 100_000)
      expect(compareAll(await everythingIn(journal), events)).toBeGreaterThan(2)
      expect(await journal.rebuildViews()).toEqual([])
      compareAll(await everythingIn(journal), events)
      await journal.close()
    }
  })
})

/** Two judges who differ, one of whom cannot be read once, so that a third takes its seat; a gate that is waived; a task that ends below the bar and is overruled. */
function livelyProject(): Project {
  const usage = { inputTokens: 100, outputTokens: 10, costUsd: 0.001 }
  return makeProject({
    'assay.yaml': {
      brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
      agents: {
        dev: { role: 'engineer', brain: 'canned' },
        eve: { role: 'engineer', brain: 'canned', instructions: 'Another.' },
        ada: { role: 'reviewer', brain: 'canned', instructions: 'One.' },
        bob: { role: 'reviewer', brain: 'canned', instructions: 'Two.' },
        cal: { role: 'reviewer', brain: 'canned', instructions: 'Three.' },
      },
      review: { threshold: 70, panel: { size: 2, quorum: 2, mode: 'full' } },
    },
    'brain.yaml': {
      workers: { '*': [{ write: { 'x.txt': '1' } }, { write: { 'x.txt': '2' } }, { write: { 'x.txt': '3' } }] },
      judges: {
        ada: {
          a: [{ accept: true, scores: 4, usage }],
          b: [
            { accept: false, scores: 2, usage, next_step: 'More.' },
            { accept: false, scores: 3, usage, next_step: 'Much more.' },
          ],
          c: [
            { text: 'looks fine to me', usage },
            { accept: true, scores: 5, usage },
          ],
        },
        bob: {
          a: [{ accept: true, scores: 5, usage: { inputTokens: 7 } }],
          b: [
            { accept: true, scores: 3 },
            { accept: true, scores: 3, usage },
          ],
          c: [{ accept: true, scores: 4 }],
        },
        cal: [{ accept: true, scores: 5 }],
      },
    },
    'm.yaml': {
      name: 'Lively',
      tasks: [
        { title: 'a', assignTo: 'dev', description: 'd' },
        { title: 'b', assignTo: 'eve', description: 'd' },
        { title: 'c', assignTo: 'dev', description: 'd', dependsOn: ['a'] },
      ],
      qualityGates: [{ name: 'high', afterTasks: ['a'], blocksTasks: ['c'], minScore: 5 }],
    },
  })
}

describe('assay metrics', () => {
  it('tells of a mission run through the front door what a recount of its journal gives', { timeout }, async () => {
    const project = livelyProject()
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    expect((await project.asOwner(['requests', 'answer', 'high', 'waive', '--reason', 'good enough'])).code).toBe(0)
    expect((await project.asOwner(['overrule', 'b', 'pass', '--reason', 'I like it'])).code).toBe(0)
    await project.run(['resume'])

    const { code, lines, stderr } = await project.json<MetricsGroup | TaskMetrics>(['metrics'])
    expect(code, stderr).toBe(0)
    expect(compareAll(lines, await project.events())).toBe(1 + 2 + 3 + 3)
    expect(lines.find(({ kind }) => kind === 'mission')).toMatchObject({
      mission: 'lively-1',
      tasks: 3,
      totalAssessments: 4,
      passedAssessments: 2,
      totalRetries: 1,
      forceAccepts: 1,
      bypasses: 1,
      unreadableVerdicts: 2,
      firstPassYield: { count: 2, of: 3 },
    })
    const judges = lines.filter((line) => line.kind === 'judge')
    expect(judges.map(({ agent }) => agent)).toEqual(['ada', 'bob', 'cal'])
    expect(judges).toMatchObject([
      { overruleRate: { count: 1, of: 3 }, judgeAgreement: { rate: 1 }, judging: { calls: 5, inputTokens: 500, costUsd: 0.005 } },
      { overruleRate: { count: 0, of: 4 }, judgeAgreement: { count: 2 }, judging: { calls: 4, unpriced: 3, inputTokens: 107 } },
      { overruleRate: { count: 0, of: 1 }, judgeAgreement: { rate: 1 }, totalAssessments: 1 },
    ])
    expect((await project.json(['audit', 'verify'])).code).toBe(0)

    const narrowed = (await project.json<MetricsGroup | TaskMetrics>(['metrics', '--agent', 'eve', '--mission', 'lively-1'])).lines
    expect(narrowed.map(({ kind }) => kind)).toEqual(['worker', 'task'])
    expect((await project.json<MetricsGroup | TaskMetrics>(['metrics', '--agent', 'ada'])).lines.map(({ kind }) => kind)).toEqual(['judge'])

    const shown = await project.run(['metrics'])
    expect(shown.code).toBe(0)
    for (const heading of ['mission', 'worker', 'judge', 'task']) expect(shown.stdout).toMatch(new RegExp(`^${heading} `, 'm'))
    expect(shown.stdout).toMatch(/^eve +[▁▂▃▄▅▆▇█]{2} /m)
    const dumb = await project.run(['metrics'], { env: { TERM: 'dumb' } })
    expect(dumb.stdout).toMatch(/^eve +[_.\-~=+*#]{2} /m)
    expect(dumb.stdout).not.toMatch(/[^\n -~]/)
  })

  it('says what it does not know, and that there is nothing yet', { timeout }, async () => {
    const project = livelyProject()
    expect((await project.run(['metrics'])).code).toBe(2)
    await project.run(['run', 'm.yaml'])
    for (const flags of [
      ['--mission', 'nope'],
      ['--agent', 'nope'],
      ['--agent', 'ada', '--mission', 'nope'],
    ]) {
      const { code, stdout, stderr } = await project.run(['metrics', ...flags])
      expect(code).toBe(2)
      expect(stdout).toBe('')
      expect(stderr).toMatch(/nothing is known of .*nope; there are: /)
    }
  })
})
