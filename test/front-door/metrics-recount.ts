import { expect } from 'vitest'
import type { StoredEvent } from '../../src/contract/events/envelope.ts'
import type { AssayEvent, EventData, EventType } from '../../src/contract/events/manifest.ts'
import { evolve } from '../../src/core/task/evolve/evolve.ts'
import type { MaybeTask } from '../../src/core/task/state.ts'
import type { MetricsGroup, TaskMetrics } from '../../src/engine/views/metrics.ts'

// The recount: every figure anew from the whole journal, each by the words of its definition.

const dataOf = <T extends EventType>(events: readonly StoredEvent[], ...types: T[]): EventData<T>[] =>
  events.filter(({ type }) => (types as string[]).includes(type)).map(({ data }) => data as EventData<T>)

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)
const share = (count: number, of: number) => ({ count, of, rate: of === 0 ? null : count / of })

/** Average, lowest and highest of reduced fractions, by school arithmetic. */
function statisticsOf(exacts: readonly string[]) {
  const parts = exacts.map((exact) => exact.split('/').map(BigInt) as [bigint, bigint])
  const common = parts.reduce((product, [, d]) => product * d, 1n)
  const scaled = parts.map(([n, d]) => (n * common) / d).sort((a, b) => (a < b ? -1 : 1))
  const reduced = (n: bigint, d: bigint) => {
    let [a, b] = [n, d]
    while (b !== 0n) [a, b] = [b, a % b]
    return `${n / a}/${d / a}`
  }
  const [lowest, highest] = [scaled[0], scaled.at(-1)]
  if (lowest === undefined || highest === undefined) return { avg: undefined, min: undefined, max: undefined }
  const total = scaled.reduce((sum, one) => sum + one, 0n)
  return { avg: reduced(total, common * BigInt(scaled.length)), min: reduced(lowest, common), max: reduced(highest, common) }
}

function byName(scores: readonly { name: string; exact: string }[]): Record<string, string | undefined> {
  const names = [...new Set(scores.map(({ name }) => name))]
  return Object.fromEntries(
    names.map((name) => [name, statisticsOf(scores.filter((one) => one.name === name).map(({ exact }) => exact)).avg]),
  )
}

/** Events of each task, in their order. */
function tasksIn(events: readonly StoredEvent[]): Map<string, StoredEvent[]> {
  const streams = Map.groupBy(events, ({ stream }) => stream)
  return new Map([...streams].filter(([stream]) => stream.startsWith('task/')).map(([stream, own]) => [stream.slice('task/'.length), own]))
}

/** Graded verdicts of every review of a task with a graded decision. */
function panelsOf(events: readonly StoredEvent[]) {
  const graded = events.filter(({ type, data }) => type === 'review.decided' && (data as EventData<'review.decided'>).decision.graded)
  return graded.map((decided) => {
    const { review, decision } = decided.data as EventData<'review.decided'>
    const verdicts = events.filter(({ type, data }) => {
      if (type !== 'verdict.recorded') return false
      const said = data as EventData<'verdict.recorded'>
      return said.review === review && said.sitting.outcome === 'graded'
    })
    const content = dataOf(events, 'review.opened').find((one) => one.review === review)?.subject.content
    return { at: decided.position, content, passes: decision.outcome === 'pass', verdicts }
  })
}

const sittingIn = (event: StoredEvent) => (event.data as EventData<'verdict.recorded'>).sitting

/** Positions of verdicts that the owner turned: on the work at hand, as the task's state has it, in the latest decision on it. */
function turnedIn(events: readonly StoredEvent[]): Set<number> {
  const turned = new Set<number>()
  let state: MaybeTask
  for (const event of events) {
    if (event.type === 'task.overruled') {
      const { outcome } = event.data as EventData<'task.overruled'>
      const content = state?.done?.content ?? state?.current?.content?.digest
      const panel = panelsOf(events).findLast((one) => one.at < event.position && one.content === content)
      for (const verdict of panel?.verdicts ?? []) if (sittingIn(verdict).accepts !== (outcome === 'pass')) turned.add(verdict.position)
    }
    state = evolve(state, { type: event.type, data: event.data } as AssayEvent)
  }
  return turned
}

const judgeIn = ({ type, data }: StoredEvent) =>
  type === 'verdict.recorded' ? (data as EventData<'verdict.recorded'>).sitting.judge : (data as { judge?: string }).judge

function spendingIn(events: readonly StoredEvent[]) {
  const calls = events.filter(({ type, data }) =>
    type === 'verdict.recorded' ? !(data as { reused?: object }).reused : type === 'task.eval.unparsed' || type === 'judge.unavailable',
  )
  const usages = calls.map(
    (call) => (call.type === 'verdict.recorded' ? sittingIn(call) : (call.data as EventData<'judge.unavailable'>)).usage ?? {},
  )
  return {
    calls: calls.length,
    unpriced: usages.filter(({ costUsd }) => costUsd === undefined).length,
    inputTokens: sumOf(usages.map(({ inputTokens = 0 }) => inputTokens)),
    outputTokens: sumOf(usages.map(({ outputTokens = 0 }) => outputTokens)),
    microDollars: sumOf(usages.map(({ costUsd = 0 }) => Math.round(costUsd * 1e6))),
  }
}

/** Agreement and overrules of all judges, or of one. */
function standingOf(tasks: readonly StoredEvent[][], judge?: string) {
  const wanted = (verdict: StoredEvent) => judge === undefined || sittingIn(verdict).judge === judge
  const panels = tasks.flatMap((events) => panelsOf(events))
  const verdicts = panels.flatMap(({ verdicts: all, passes }) => all.filter(wanted).map((one) => sittingIn(one).accepts === passes))
  const turned = tasks.flatMap((events) => {
    const positions = turnedIn(events)
    return events.filter((event) => positions.has(event.position) && wanted(event))
  })
  return {
    judgeAgreement: share(verdicts.filter((agrees) => agrees).length, verdicts.length),
    overruleRate: share(turned.length, verdicts.length),
  }
}

function firstPassOf(events: readonly StoredEvent[]): boolean | undefined {
  const begun = events.findIndex(({ type }) => type === 'attempt.started')
  for (const [index, { type, data }] of events.entries()) {
    if (type === 'task.accepted') {
      const { flag } = data as EventData<'task.accepted'>
      if (flag !== 'unreviewed') return flag === 'clean'
    }
    if (type === 'review.decided' && (data as EventData<'review.decided'>).decision.outcome === 'reject') return false
    if (['attempt.rejected', 'attempt.failed', 'attempt.interrupted', 'merge.failed', 'task.force_accepted'].includes(type)) return false
    if (type === 'task.failed' && begun >= 0 && begun < index) return false
  }
  return undefined
}

function timesOf(events: readonly StoredEvent[]): number[] {
  return events
    .filter(({ type }) => type === 'review.decided')
    .map((decided) => {
      const { review } = decided.data as EventData<'review.decided'>
      const opened = events.find(({ type, data }) => type === 'review.opened' && (data as { review: number }).review === review)
      return Date.parse(decided.meta.at) - Date.parse(opened?.meta.at ?? '')
    })
}

function fixesOf(events: readonly StoredEvent[]): number {
  const handedIn = dataOf(events, 'case.submitted', 'case.parse_error')
  const attempts = Map.groupBy(handedIn, ({ attempt }) => attempt)
  return sumOf([...attempts.values()].map((cases) => cases.length - 1))
}

function recountWork(all: readonly StoredEvent[], ids: readonly string[], mission?: string) {
  const tasks = ids.map((id) => tasksIn(all).get(id) ?? [])
  const events = all.filter(({ stream }) => ids.some((id) => stream === `task/${id}`))
  const decisions = dataOf(events, 'review.decided').map(({ decision }) => decision)
  const scores = decisions.flatMap(({ score }) => (score ? [score] : []))
  const { avg, min, max } = statisticsOf(scores.map(({ exact }) => exact))
  const first = tasks.map(firstPassOf).filter((one) => one !== undefined)
  const deadlines = (type: string) =>
    all.filter((event) => {
      const { entityId = '', entityType } = event.data as { entityId?: string; entityType?: string }
      return event.type === type && (entityType === 'task' ? ids.includes(entityId) : entityId === mission)
    }).length
  const waived = all.filter(
    ({ type, data }) => /^(gate|threshold)\.waived$/.test(type) && (data as { missionId: string }).missionId === mission,
  )
  return {
    tasks: ids.length,
    totalAssessments: decisions.length,
    passedAssessments: decisions.filter(({ outcome }) => outcome === 'pass').length,
    scoredAssessments: scores.length,
    ...{ avg, min, max },
    dimensionScores: byName(decisions.flatMap(({ dimensions }) => dimensions.map(({ name, score }) => ({ name, exact: score.exact })))),
    totalRetries: sumOf(tasks.map((own) => Math.max(0, dataOf(own, 'attempt.started').length - 1))),
    totalFixes: sumOf(tasks.map(fixesOf)),
    deadlinesMet: deadlines('sla.met'),
    deadlinesMissed: deadlines('sla.violated'),
    forceAccepts: dataOf(events, 'task.force_accepted').length,
    bypasses: waived.length,
    unreadableVerdicts: dataOf(events, 'task.eval.unparsed').length,
    ...standingOf(tasks),
    firstPassYield: share(first.filter((passed) => passed).length, first.length),
    timeInReviewMs: sumOf(tasks.flatMap(timesOf)),
    judging: spendingIn(events),
    lastScores: scores.slice(-20).map(({ on5 }) => on5),
  }
}

function recountJudge(all: readonly StoredEvent[], judge: string) {
  const events = all.filter((event) => judgeIn(event) === judge)
  const verdicts = dataOf(events, 'verdict.recorded').map(({ sitting }) => sitting)
  const graded = verdicts.filter(({ outcome }) => outcome === 'graded')
  const { avg, min, max } = statisticsOf(graded.flatMap(({ score }) => (score ? [score.exact] : [])))
  const asked = dataOf(events, 'seat.asked').map(({ because }) => because)
  return {
    totalAssessments: verdicts.length,
    passedAssessments: graded.filter(({ accepts }) => accepts).length,
    scoredAssessments: graded.length,
    ...{ avg, min, max },
    dimensionScores: byName(
      graded.flatMap(({ verdict }) => verdict?.dimensions.map(({ name, score }) => ({ name, exact: `${score}/1` })) ?? []),
    ),
    abstained: verdicts.length - graded.length,
    unavailable: dataOf(events, 'judge.unavailable').length,
    totalRetries: asked.filter((because) => because === 'retry').length,
    totalFixes: asked.filter((because) => because === 'reprompt').length,
    unreadableVerdicts: dataOf(events, 'task.eval.unparsed').length,
    ...standingOf([...tasksIn(all).values()], judge),
    judging: spendingIn(events),
    lastScores: graded.slice(-20).map(({ score }) => score?.on5),
  }
}

/** What Assay tells, in the recount's words. */
function told(group: MetricsGroup | TaskMetrics) {
  const { avgScore, minScore, maxScore, dimensionScores, judging, ...rest } = group
  const {
    kind: _kind,
    agent: _agent,
    mission: _mission,
    task: _task,
    assignee: _assignee,
    working: _working,
    avgTimeInReviewMs: _avg,
    ...figures
  } = {
    agent: '',
    mission: '',
    task: '',
    assignee: '',
    working: null,
    avgTimeInReviewMs: null,
    ...rest,
  }
  const { costUsd, ...counts } = judging
  return {
    ...figures,
    ...{ avg: avgScore?.exact, min: minScore?.exact, max: maxScore?.exact },
    dimensionScores: Object.fromEntries(Object.entries(dimensionScores).map(([name, score]) => [name, score.exact])),
    judging: { ...counts, microDollars: Math.round(costUsd * 1e6) },
  }
}

/** Tokens that went into a task's work, by its events. */
function workTokens(events: readonly StoredEvent[]): number {
  const told = events.filter(
    ({ type, data }) =>
      /^(case\.submitted|attempt\.(failed|rejected|stopped|interrupted))$/.test(type) ||
      (type === 'usage.counted' && (data as { as: string }).as === 'working'),
  )
  return told.reduce((sum, { data }) => sum + ((data as { usage?: { inputTokens?: number } }).usage?.inputTokens ?? 0), 0)
}

/** Every group that there must be, against the recount; how many were compared. */
export function compareAll(groups: readonly (MetricsGroup | TaskMetrics)[], events: readonly StoredEvent[]): number {
  const assignees = new Map([...tasksIn(events)].map(([id, own]) => [id, dataOf(own, 'task.created')[0]?.spec.assignee ?? ''] as const))
  const ids = [...assignees.keys()].sort()
  const missionOf = (id: string) => id.slice(0, id.lastIndexOf('/'))
  const answers = events.filter(({ type }) => /^(verdict\.recorded|task\.eval\.unparsed|judge\.unavailable)$/.test(type))
  const askedAgain = dataOf(events, 'seat.asked').filter(({ because }) => because === 'retry' || because === 'reprompt')
  const judges = new Set([...answers.map(judgeIn), ...askedAgain.map(({ judge }) => judge)])
  const expected = new Map<string, unknown>()
  for (const mission of new Set(ids.map(missionOf)))
    expected.set(
      `mission ${mission}`,
      recountWork(
        events,
        ids.filter((id) => missionOf(id) === mission),
        mission,
      ),
    )
  for (const agent of new Set(assignees.values()))
    expected.set(
      `worker ${agent}`,
      recountWork(
        events,
        ids.filter((id) => assignees.get(id) === agent),
      ),
    )
  for (const judge of judges) expected.set(`judge ${judge}`, recountJudge(events, judge ?? ''))
  for (const id of ids) expected.set(`task ${id}`, recountWork(events, [id]))
  for (const group of groups)
    if (group.kind === 'task') expect(group.working.inputTokens).toBe(workTokens(tasksIn(events).get(group.task) ?? []))
  const nameOf = (group: MetricsGroup | TaskMetrics) =>
    `${group.kind} ${group.kind === 'mission' ? group.mission : group.kind === 'task' ? group.task : group.agent}`
  expect(Object.fromEntries(groups.map((group) => [nameOf(group), told(group)]))).toEqual(Object.fromEntries(expected))
  return expected.size
}
