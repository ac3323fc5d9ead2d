import type { Config } from '../contract/config/config.ts'
import type { ConfigSource, ParsedConfig } from '../contract/config/read/parse.ts'
import type { Result } from '../contract/errors.ts'
import type { Policy } from '../contract/policy.ts'
import { type CriterionEntry, type Mission, MissionFile } from '../contract/mission/mission.ts'
import { readDocument } from '../contract/source/document.ts'
import { parseWith } from '../contract/source/issues.ts'
import { placeFindings, type Problem } from '../contract/source/problem.ts'
import { loadConfig } from '../core/config/load.ts'
import { usesUnbuilt } from '../core/config/unbuilt.ts'
import { criteriaFindings, criteriaOf } from '../core/mission/criteria.ts'
import { type KnownTask, loadAddition } from '../core/mission/addition.ts'
import { loadMission } from '../core/mission/load.ts'
import { policyDigest } from '../core/policy/policy.ts'
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

/** What of the configuration decides. The rest (concurrency, limits, channels) may change under a running mission. */
export function policyOf({ review, agents, brains, checks, gate, delegate, hook }: Config): Policy {
  const { criteria, maxAttempts } = hook
  return { review, agents, brains, other: { checks, gate, delegate, hook: { criteria, maxAttempts }, seatingOrder: Object.keys(agents) } }
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
export function missionShapeProblems({ text, file }: { text: string; file: string }): Problem[] {
  const document = readDocument(text, file)
  if (!document.ok) return document.error
  const parsed = parseWith(MissionFile, document.value.value)
  return parsed.ok ? [] : placeFindings(parsed.error, document.value.locate)
}

/** A mission file as a plan, or every problem in it. What this version cannot do is refused here, before anything runs. */
export function readPlan(source: { text: string; file: string }, project: Project): Result<{ plan: Plan; notices: Problem[] }, Problem[]> {
  const loaded = loadMission({ ...source, config: project.config })
  if (!loaded.ok) return loaded
  const unbuilt = usesUnbuilt(project.parsed)
  if (unbuilt.length > 0) return { ok: false, error: unbuilt }
  const { mission, tasks, notices } = loaded.value
  return { ok: true, value: { plan: planOf(mission, tasks), notices } }
}

/** The tasks of a mission file that a run does not have yet. */
export function readAddition(
  source: { text: string; file: string },
  run: { mission: string; known: readonly KnownTask[] },
  project: Project,
): Result<TaskSpec[], Problem[]> {
  return loadAddition({ ...source, config: project.config }, run)
}
