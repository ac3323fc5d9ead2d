import type { Config } from '../../contract/config/config.ts'
import { type ConfigSource, type ParsedConfig, parseConfig } from '../../contract/config/read/parse.ts'
import { readSections } from '../../contract/config/read/sections.ts'
import type { Environment } from '../../contract/config/read/overrides.ts'
import type { Result } from '../../contract/errors.ts'
import { arrange, type Finding, placeFindings, type Problem } from '../../contract/source/problem.ts'
import { named } from '../../contract/source/shown.ts'
import { attemptCostNotices } from './attempt-cost.ts'
import { writtenChannelFindings } from './channels.ts'
import { checkConfig } from './check.ts'

/**
 * The one way to a configuration: shape and rules, all problems at once, or nothing. A file that is wrong in any place loads in none,
 * so that no mistake can leave a weaker gate than was written.
 */
export function loadConfig(source: ConfigSource): Result<ParsedConfig, Problem[]> {
  const parsed = parseConfig(source)
  if (!parsed.ok) return { ok: false, error: arrange([...parsed.error, ...problemsOfBroken(source)]) }
  const { config, locate } = parsed.value
  const { findings, notices } = checkConfig(config)
  if (findings.length > 0) return { ok: false, error: placeFindings(findings, locate) }
  const told = placeFindings([...notices, ...keyNotices(config, source.env ?? {}), ...attemptCostNotices(config)], locate)
  return { ok: true, value: { ...parsed.value, notices: arrange([...parsed.value.notices, ...told]) } }
}

/** Rules that a file whose shape is wrong breaks beside that, as far as it can be read. */
function problemsOfBroken(source: ConfigSource): Problem[] {
  const sections = readSections(source)
  if (!sections) return []
  const { config, unread, raw, locate } = sections
  const channels = unread.has('notify') || unread.has('sla') ? writtenChannelFindings(raw) : []
  return placeFindings([...checkConfig(config, unread).findings, ...channels], locate)
}

/** `openai-compatible` without a key is called without one; whoever meant to send one should know. Brains that nothing uses stay silent. */
function keyNotices(config: Config, env: Environment): Finding[] {
  const used = new Set([...Object.values(config.agents).map((agent) => agent.brain), config.delegate.judge])
  return Object.entries(config.brains).flatMap(([name, brain]): Finding[] => {
    if (!used.has(name) || brain.kind !== 'model' || brain.provider !== 'openai-compatible') return []
    if (brain.apiKeyEnv === undefined)
      return [{ path: ['brains', name], message: `the brain ${named(name)} names no \`apiKeyEnv\`: no key is sent` }]
    if (env[brain.apiKeyEnv]) return []
    return [
      {
        path: ['brains', name, 'apiKeyEnv'],
        message: `the variable ${named(brain.apiKeyEnv)} is not set: no key is sent for the brain ${named(name)}`,
      },
    ]
  })
}
