import type { Config } from '../../contract/config/config.ts'
import { durationMs } from '../../contract/config/duration.ts'
import type { Finding, Path } from '../../contract/source/problem.ts'
import { named, shown } from '../../contract/source/shown.ts'
import { suggest } from '../../contract/source/suggest.ts'
import { patternFindings } from '../notify/patterns.ts'
import { organisationProblems } from '../routing/organisation.ts'
import { checkFindings } from './check-checks.ts'
import { type Checked, checkDimensions } from './dimensions.ts'

type Section = keyof Config

/** Rules, each with the sections that it looks at: where one of them could not be read, the rule has nothing to say. */
const rules: { needs: Section[]; findings: (config: Config) => Finding[] }[] = [
  { needs: ['brains', 'agents', 'notify'], findings: nameFindings },
  { needs: ['agents', 'brains'], findings: organisationFindings },
  { needs: ['brains'], findings: brainFindings },
  { needs: ['review', 'brains'], findings: costFindings },
  { needs: ['review'], findings: (config) => dimensionsOf(config).findings },
  { needs: ['checks'], findings: ({ checks }) => checkFindings(checks.map((spec, index) => ({ spec, path: ['checks', index] }))) },
  { needs: ['delegate', 'agents', 'brains'], findings: delegateFindings },
  { needs: ['notify', 'sla'], findings: channelFindings },
  { needs: ['notify'], findings: ({ notify }) => patternFindings(notify.rules) },
  { needs: ['limits'], findings: limitFindings },
]

/** Everything about a configuration that its shape does not say. */
export function checkConfig(config: Config, unread: ReadonlySet<string> = new Set()): Checked {
  const able = rules.filter(({ needs }) => !needs.some((section) => unread.has(section)))
  return { findings: able.flatMap(({ findings }) => findings(config)), notices: dimensionsOf(config).notices }
}

function dimensionsOf({ review }: Config): Checked {
  return checkDimensions(review.dimensions, review.weightSum, ['review', 'dimensions'])
}

/** A bound on money that nobody can keep is no bound. */
function costFindings({ review, brains }: Config): Finding[] {
  if (review.maxCost === undefined) return []
  return Object.entries(brains).flatMap(([name, brain]) =>
    brain.kind === 'model' && brain.prices === undefined
      ? [
          {
            path: ['brains', name],
            at: 'key' as const,
            message: `\`review.maxCost\` is set, and the brain ${named(name)} has no prices to count with`,
            fix: 'add `prices: { inputPerMillion: …, outputPerMillion: … }`, or leave `review.maxCost` out',
          },
        ]
      : [],
  )
}

/** Says that a name is not among those declared, and which one was probably meant. */
export function unknownName(path: Path, what: string, name: string, known: readonly string[], where: string): Finding {
  const meant = suggest(name, known)
  const fix = meant === undefined ? (known.length === 0 ? `none is declared ${where}` : undefined) : `did you mean ${named(meant)}?`
  return { path, message: `${what} ${named(name)} is not declared ${where}`, ...(fix === undefined ? {} : { fix }) }
}

/** Names are shown to people and used as keys: plain ones only, and none that every object already has. */
function nameFindings(config: Config): Finding[] {
  const groups: [Path, object][] = [
    [['brains'], config.brains],
    [['agents'], config.agents],
    [['notify', 'channels'], config.notify.channels],
  ]
  return groups.flatMap(([path, group]) =>
    Object.keys(group)
      .filter((name) => !/^[\p{L}\p{N}_][\p{L}\p{M}\p{N} ._-]{0,63}$/u.test(name) || name in Object.prototype)
      .map((name) => ({
        path: [...path, name],
        at: 'key' as const,
        message: `${shown(name)} cannot be used as a name`,
        fix: 'begin with a letter, digit or _; go on with those, space, `.`, `-`; at most 64 characters',
      })),
  )
}

function organisationFindings({ agents, brains }: Config): Finding[] {
  return organisationProblems({ agents, brains }).map(({ path, message }) => {
    const [, name = '', key] = path
    const agent = agents[name]
    const meant =
      key === 'brain'
        ? suggest(agent?.brain ?? '', Object.keys(brains))
        : key === 'reportsTo'
          ? suggestManager(agent?.reportsTo, name, agents)
          : undefined
    return {
      path,
      message,
      ...(key === undefined ? { at: 'key' as const } : {}),
      ...(meant === undefined ? {} : { fix: `did you mean ${named(meant)}?` }),
    }
  })
}

function suggestManager(written: string | undefined, self: string | number, agents: Config['agents']): string | undefined {
  if (written === undefined || Object.hasOwn(agents, written)) return undefined
  return suggest(
    written,
    Object.keys(agents).filter((name) => name !== self),
  )
}

/** A model's address: needed where no provider has one, http(s), and without a password in it. */
function brainFindings({ brains }: Config): Finding[] {
  return Object.entries(brains).flatMap(([name, brain]): Finding[] => {
    if (brain.kind !== 'model') return []
    const path = ['brains', name, 'baseURL']
    if (brain.baseURL === undefined) {
      if (brain.provider !== 'openai-compatible') return []
      return [
        {
          path,
          message: `the brain ${named(name)} is \`openai-compatible\` and has no \`baseURL\``,
          fix: 'write the address of its API, e.g. http://127.0.0.1:4010/v1',
        },
      ]
    }
    const url = URL.canParse(brain.baseURL) ? new URL(brain.baseURL) : undefined
    if (url === undefined || !/^https?:$/.test(url.protocol))
      return [{ path, message: `the \`baseURL\` of ${named(name)} is not an http or https address` }]
    if (url.username !== '' || url.password !== '') {
      return [
        {
          path,
          message: `the \`baseURL\` of ${named(name)} has a password in it`,
          fix: 'name the key by its environment variable, in `apiKeyEnv`',
        },
      ]
    }
    return []
  })
}

function delegateFindings({ delegate, agents, brains }: Config): Finding[] {
  const findings: Finding[] = []
  if (delegate.agent !== undefined && !Object.hasOwn(agents, delegate.agent)) {
    findings.push(unknownName(['delegate', 'agent'], 'the agent', delegate.agent, Object.keys(agents), 'under agents'))
  }
  if (delegate.judge !== undefined && !Object.hasOwn(brains, delegate.judge)) {
    findings.push(unknownName(['delegate', 'judge'], 'the brain', delegate.judge, Object.keys(brains), 'under brains'))
  }
  return findings
}

function channelFindings({ notify, sla }: Config): Finding[] {
  const uses: [Path, string[]][] = [
    [['sla', 'warningChannels'], sla.warningChannels],
    [['sla', 'violationChannels'], sla.violationChannels],
    ...notify.rules.map((rule, index): [Path, string[]] => [['notify', 'rules', index, 'channels'], rule.channels]),
  ]
  const findings = uses.flatMap(([path, names]) => undeclaredChannels(path, names, notify.channels))
  for (const [name, channel] of Object.entries(notify.channels)) {
    if (channel.kind !== 'webhook') continue
    const path = ['notify', 'channels', name]
    if ((channel.url === undefined) === (channel.urlEnv === undefined))
      findings.push({ path, message: `the webhook ${named(name)} needs either \`url\` or \`urlEnv\`` })
    if (channel.url !== undefined && holdsSecret(channel.url))
      findings.push({
        path: [...path, 'url'],
        message: `the address of ${named(name)} has a name or a password in it`,
        fix: 'name the variable that holds the address: `urlEnv`',
      })
  }
  return findings
}

/** Whoever may read the file would have it. */
function holdsSecret(url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

/** Channels used by a name that `notify.channels` does not declare. */
export function undeclaredChannels(path: Path, names: readonly string[], channels: Config['notify']['channels']): Finding[] {
  return names.flatMap((name, index) =>
    Object.hasOwn(channels, name)
      ? []
      : [unknownName([...path, index], 'the channel', name, Object.keys(channels), 'under notify.channels')],
  )
}

function limitFindings({ limits }: Config): Finding[] {
  if (durationMs(limits.judgeRequest) <= durationMs(limits.judgeSitting)) return []
  const message = `\`limits.judgeRequest\` (${limits.judgeRequest}) is longer than the sitting around it, \`limits.judgeSitting\` (${limits.judgeSitting})`
  return [{ path: ['limits', 'judgeRequest'], message }]
}
