import type { Config } from '../contract/config/config.ts'
import type { ConfigSource, ParsedConfig } from '../contract/config/read/parse.ts'
import type { Result } from '../contract/errors.ts'
import type { Policy } from '../contract/policy.ts'
import type { CriterionEntry, Mission } from '../contract/mission/mission.ts'
import type { Problem } from '../contract/source/problem.ts'
import { loadConfig } from '../core/config/load.ts'
import { usesUnbuilt } from '../core/config/unbuilt.ts'
import { criteriaFindings, criteriaOf } from '../core/mission/criteria.ts'
import { type KnownRun, loadAddition } from '../core/mission/addition.ts'
import { loadMission, missionProblems } from '../core/mission/load.ts'
import { policyDigest } from '../core/policy/policy.ts'
import { isReviewerRole } from '../core/routing/organisation.ts'
import type { Rules } from '../core/task/draft.ts'
import type { Criterion, TaskSpec } from '../contract/task.ts'
import type { Plan } from './mission/missions.ts'

/** A configuration that loaded, and the policy in it. */
export interface Project {
  parsed: ParsedConfig
  config: Config
  rules: Rules
}

export function readProject(source: ConfigSource): Result<Project, Problem[]> {
  const loaded = loadConfig(source)
  if (!loaded.ok) return loaded
  const { config } = loaded.value
  const policy = policyOf(config)
  return { ok: true, value: { parsed: loaded.value, config, rules: { policy, digest: policyDigest(policy) } } }
}

/**
 * What of the configuration decides, what judges and checks get to see among it, and what ends a task or a worker's turn. The rest (concurrency, times, channels) may change under a running
 * mission.
 */
export function policyOf({ review, agents, brains, checks, gate, delegate, hook, limits, chrome, sla }: Config): Policy {
  const { criteria, maxAttempts } = hook
  const { violationAction } = sla
  const { promptBytes, judgeTurns, outputBytes, caseBytes, replyBytes, attemptTurns, attemptCost } = limits
  const sight = { promptBytes, judgeTurns, outputBytes, caseBytes, replyBytes, ...(chrome !== undefined && { chrome }) }
  const attempts = { attemptTurns, ...(attemptCost !== undefined && { attemptCost }) }
  const ends = { sla: { violationAction }, attempts }
  const other = { checks, gate, delegate, hook: { criteria, maxAttempts }, seatingOrder: Object.keys(agents), sight, ...ends }
  return { review, agents, brains, other }
}

/** The same rules with the digests of the files that judges are made of: another program under the name of a judge is another policy. */
export function withJudgeFiles(rules: Rules, digests: Readonly<Record<string, string>>): Rules {
  if (Object.keys(digests).length === 0) return rules
  const policy = { ...rules.policy, other: { ...rules.policy.other, judgeFiles: digests } }
  return { ...rules, policy, digest: policyDigest(policy) }
}

/** Names of the brains that may judge and are made of files: programs of whoever is a judge by role or by word, and every script. */
export function judgingBrains({ agents, brains, delegate }: Config): string[] {
  const judges = Object.values(agents).filter(
    ({ role, judges, brain }) => isReviewerRole(role) || judges === true || brains[brain]?.kind === 'scripted',
  )
  const names = [...judges.map(({ brain }) => brain), delegate.judge ?? '']
  return [...new Set(names)].filter((name) => brains[name]?.kind === 'command' || brains[name]?.kind === 'scripted')
}

function planOf({ id, name, gates, qualityThreshold, deadline }: Mission, tasks: TaskSpec[]): Plan {
  return {
    id,
    name,
    tasks,
    gates,
    ...(qualityThreshold !== undefined && { qualityThreshold }),
    ...(deadline !== undefined && { deadline }),
  }
}

/** Criteria with their ids, or what is wrong with them together. */
export function numberedCriteria(entries: readonly CriterionEntry[]): Result<Criterion[], Problem[]> {
  const findings = criteriaFindings(entries, [])
  if (findings.length > 0)
    return {
      ok: false,
      error: findings.map(({ message, fix }) => ({ file: 'criteria', path: '', message, ...(fix !== undefined && { fix }) })),
    }
  return { ok: true, value: criteriaOf(entries) }
}

/** What is wrong with a mission file by itself, for a report beside the problems of a configuration that did not load. */
export function missionShapeProblems(source: { text: string; file: string }): Problem[] {
  return missionProblems(source)
}

/**
 * A mission file as a plan, or every problem in it. What this version cannot do is refused here, before anything runs, and so is a deadline
 * that has passed at `now`.
 */
export function readPlan(
  source: { text: string; file: string },
  project: Project,
  now = Date.now(),
): Result<{ plan: Plan; notices: Problem[] }, Problem[]> {
  const loaded = loadMission({ ...source, config: project.config, now })
  if (!loaded.ok) return loaded
  const unbuilt = usesUnbuilt(project.parsed)
  if (unbuilt.length > 0) return { ok: false, error: unbuilt }
  const { mission, tasks, notices } = loaded.value
  return { ok: true, value: { plan: planOf(mission, tasks), notices } }
}

/** The tasks of a mission file that a run does not have yet; a deadline of theirs that has passed at `now` is refused. */
export function readAddition(
  source: { text: string; file: string },
  run: KnownRun,
  project: Project,
  now = Date.now(),
): Result<TaskSpec[], Problem[]> {
  return loadAddition({ ...source, config: project.config, now }, run)
}
