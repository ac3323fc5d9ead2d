import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatProblem } from '../../source/problem.ts'
import { configKnobs } from '../knobs/known.ts'
import { type ConfigSource, parseConfig } from './parse.ts'

type Given = Omit<ConfigSource, 'file'>

function load(given: Given) {
  const result = parseConfig({ file: 'assay.yaml', ...given })
  if (!result.ok) throw new Error(result.error.map(formatProblem).join('\n'))
  return result.value
}

function problems(given: Given): string[] {
  const result = parseConfig({ file: 'assay.yaml', ...given })
  return result.ok ? [] : result.error.map(formatProblem)
}

describe('without a file', () => {
  it('is the defaults', () => {
    const { config, origins, notices } = load({})
    expect(config).toMatchObject({ version: 1, concurrency: 4, stopGrace: '10s', agents: {}, checks: [] })
    expect(config.review).toMatchObject({
      evaluate: true,
      threshold: 60,
      maxAttempts: 2,
      onUnreadable: 'rework',
      panel: { size: 3, quorum: 2, mode: 'escalate' },
    })
    expect(config.delegate).toMatchObject({ maxDelegations: 3, maxDelegationDepth: 2, panel: { size: 1, quorum: 1 } })
    expect(config.gate).toMatchObject({ maxRetries: 2, urlVerdictTtl: '24h', bypassTtl: '7d', agentBypass: false })
    expect(config.inbox.expireAfter).toBe('30d')
    expect(config.sla).toEqual({
      checkIntervalMs: 30_000,
      warningThreshold: 0.8,
      warningChannels: [],
      violationChannels: [],
      violationAction: 'notify',
    })
    expect(config.limits).toMatchObject({ judgeRequest: '120s', judgeSitting: '10m' })
    expect(new Set(Object.values(origins).map(({ source }) => source))).toEqual(new Set(['default']))
    expect(notices).toEqual([])
  })

  it('still refuses what is wrong outside the file, naming the variable or flag', () => {
    expect(problems({ env: { EVAL: 'perhaps' } })).toEqual([
      'environment variable EVAL: `review.evaluate`: expected one of on, off, true, false, 1, 0; got "perhaps"',
    ])
    expect(problems({ flags: { '--max-attempts': '0' } })).toEqual([
      '--max-attempts: `review.maxAttempts`: expected a number of at least 1; got 0',
    ])
  })
})

describe('other names', () => {
  it('are these, and no others', () => {
    const named = configKnobs().filter((knob) => knob.env ?? knob.flag ?? knob.aliases[0])
    expect(named.map(({ path, env, flag, aliases }) => [path, env, flag, ...aliases])).toEqual([
      ['review.evaluate', 'EVAL', '--no-eval', 'evaluate'],
      ['review.threshold', 'EVAL_THRESHOLD', '--eval-threshold', 'evalThreshold'],
      ['review.maxAttempts', undefined, '--max-attempts', 'maxAttempts'],
      ['review.onUnreadable', undefined, '--fail-open', 'failOpenOnUnparsedEval'],
      ['review.maxCost', undefined, '--max-cost'],
      ['delegate.maxDelegations', undefined, undefined, 'maxDelegations'],
      ['delegate.maxDelegationDepth', undefined, undefined, 'maxDelegationDepth'],
      ['sla', undefined, undefined, 'settings.sla'],
      ['sla.checkIntervalMs', undefined, undefined, 'settings.sla.checkIntervalMs'],
      ['sla.warningThreshold', undefined, undefined, 'settings.sla.warningThreshold'],
      ['sla.warningChannels', undefined, undefined, 'settings.sla.warningChannels'],
      ['sla.violationChannels', undefined, undefined, 'settings.sla.violationChannels'],
      ['sla.violationAction', undefined, undefined, 'settings.sla.violationAction'],
    ])
  })

  it.each([
    ['evaluate: false', 'review.evaluate', false],
    ['evalThreshold: 75', 'review.threshold', 75],
    ['maxAttempts: 7', 'review.maxAttempts', 7],
    ['failOpenOnUnparsedEval: true', 'review.onUnreadable', 'accept'],
    ['failOpenOnUnparsedEval: false', 'review.onUnreadable', 'rework'],
    ['failOpenOnUnparsedEval: false\nreview: { onUnreadable: hold }', 'review.onUnreadable', 'hold'],
    ['failOpenOnUnparsedEval: true\nreview: { onUnreadable: accept }', 'review.onUnreadable', 'accept'],
    ['maxDelegations: 1', 'delegate.maxDelegations', 1],
    ['maxDelegationDepth: 0', 'delegate.maxDelegationDepth', 0],
    ['settings: { sla: { checkIntervalMs: 500 } }', 'sla.checkIntervalMs', 500],
    ['settings:\n  sla:\n    violationAction: fail\nsla: { warningThreshold: 0.5 }', 'sla.violationAction', 'fail'],
    ['settings: { sla: {} }', 'sla.violationAction', 'notify'],
    ['evalThreshold: 70\nreview: { threshold: 70, maxAttempts: 3 }', 'review.threshold', 70],
  ])('%j sets %s', (text, path, value) => {
    const { config } = load({ text })
    expect(path.split('.').reduce<unknown>((inner, step) => (inner as Record<string, unknown>)[step], config)).toEqual(value)
  })

  it('tell their own place as the origin', () => {
    const { origins } = load({ text: 'version: 1\nevalThreshold: 75\nsettings: { sla: { violationAction: fail } }\n' })
    expect(origins['review.threshold']).toEqual({ source: 'file', name: 'assay.yaml:2:1' })
    expect(origins['sla.violationAction']).toEqual({ source: 'file', name: 'assay.yaml:3:20' })
    expect(origins['sla.checkIntervalMs']).toEqual({ source: 'default' })
  })

  it.each([
    [
      'evalThreshold: 70\nreview:\n  threshold: 60\n',
      'assay.yaml:1:1: `evalThreshold` (70) and `review.threshold` (60, assay.yaml:3:14) are two names of one setting and disagree (keep one of the two)',
    ],
    [
      'review: { evaluate: true }\nevaluate: false\n',
      'assay.yaml:2:1: `evaluate` (false) and `review.evaluate` (true, assay.yaml:1:21) are two names',
    ],
    [
      'failOpenOnUnparsedEval: false\nreview: { onUnreadable: accept }\n',
      'assay.yaml:1:1: `failOpenOnUnparsedEval` (false) and `review.onUnreadable` ("accept", assay.yaml:2:25)',
    ],
    [
      'failOpenOnUnparsedEval: true\nreview: { onUnreadable: hold }\n',
      'assay.yaml:1:1: `failOpenOnUnparsedEval` (true) and `review.onUnreadable` ("hold", assay.yaml:2:25)',
    ],
    ['failOpenOnUnparsedEval: yes\n', 'assay.yaml:1:25: `failOpenOnUnparsedEval`: expected true or false; got "yes"'],
    [
      'sla: { violationAction: fail }\nsettings: { sla: { violationAction: notify } }\n',
      'assay.yaml:2:20: `settings.sla.violationAction` ("notify") and `sla.violationAction` ("fail", assay.yaml:1:25)',
    ],
    ['evalThreshold: high\n', 'assay.yaml:1:16: `review.threshold`: expected a number; got "high"'],
    ['evalThreshold: 0.6\n', 'assay.yaml:1:16: `review.threshold`: a bar between 0 and 1'],
    ['settings: { sla: { violationActon: fail } }\n', 'assay.yaml:1:20: unknown key `violationActon`; did you mean `violationAction`?'],
    ['settings: { slow: 1 }\n', 'assay.yaml:1:13: unknown key `slow` (known here: sla)'],
    ['settings: 5\n', 'assay.yaml:1:11: `settings`: expected a mapping; got 5'],
    ['settings: { sla: 5 }\n', 'assay.yaml:1:18: `settings.sla`: expected a mapping; got 5'],
    ['maxAttempts: 2\nreview: 5\n', 'assay.yaml:2:9: `review`: expected a mapping; got 5'],
  ])('refuses %j', (text, expected) => {
    expect(problems({ text }).join('\n')).toContain(expected)
  })
})

describe('environment and flags', () => {
  it.each([
    ['off', false],
    ['0', false],
    ['false', false],
    ['OFF', false],
    ['on', true],
    ['1', true],
    ['true', true],
  ])('EVAL=%s is %s', (text, value) => {
    expect(load({ text: `review: { evaluate: ${!value} }`, env: { EVAL: text } }).config.review.evaluate).toBe(value)
  })

  it.each(['', ' ', 'no', 'yes', 'disabled', '2', 'null', 'constructor'])('EVAL=%j is refused', (text) => {
    expect(problems({ env: { EVAL: text } })).toHaveLength(1)
  })

  it.each(['', 'NaN', 'Infinity', '60%', '6e1', '0x3c', ' 60', '60 ', '-1', '101', '0.5', '0.999', '1,5', 'sixty'])(
    'EVAL_THRESHOLD=%j is refused, by variable and by flag',
    (text) => {
      expect(problems({ env: { EVAL_THRESHOLD: text } })).toHaveLength(1)
      expect(problems({ flags: { '--eval-threshold': text } })).toHaveLength(1)
    },
  )

  it('sets every knob that has a flag', () => {
    const { config, origins } = load({
      flags: { '--no-eval': true, '--eval-threshold': '72.5', '--max-attempts': 4, '--fail-open': true, '--max-cost': '0.25' },
    })
    expect(config.review).toMatchObject({ evaluate: false, threshold: 72.5, maxAttempts: 4, onUnreadable: 'accept', maxCost: 0.25 })
    expect(origins['review.maxCost']).toEqual({ source: 'flag', name: '--max-cost' })
  })

  it('leaves a switch that is off, and what is not given, alone', () => {
    const { config, origins } = load({
      text: 'review: { onUnreadable: hold }',
      flags: { '--no-eval': false, '--fail-open': undefined, '--max-cost': undefined },
      env: { EVAL: undefined },
    })
    expect(config.review).toMatchObject({ evaluate: true, onUnreadable: 'hold' })
    expect(origins['review.evaluate']).toEqual({ source: 'default' })
  })

  it.each([
    [{ '--no-such': true }, '--no-such: no setting has this flag'],
    [{ '--no-eval': 'yes' }, '--no-eval: the flag takes no value; got "yes"'],
    [{ '--max-attempts': true }, '--max-attempts: `review.maxAttempts`: expected a whole number; got true'],
    [{ '--max-attempts': '2.5' }, '--max-attempts: `review.maxAttempts`: expected a whole number; got 2.5'],
    [{ '--max-cost': '0' }, '--max-cost: `review.maxCost`: expected a number of more than 0; got 0'],
  ])('refuses the flags %j', (flags, expected) => {
    expect(problems({ flags: flags as Record<string, string | boolean> })).toEqual([expected])
  })
})

describe('precedence', () => {
  const bar = fc.option(fc.integer({ min: 6, max: 100 }), { nil: undefined })

  it('is flag, environment, file, default; the origin says which', () => {
    fc.assert(
      fc.property(bar, bar, bar, (file, env, flag) => {
        const { config, origins } = load({
          text: file === undefined ? 'version: 1' : `review: { threshold: ${file} }`,
          env: { EVAL_THRESHOLD: env?.toString() },
          flags: { '--eval-threshold': flag },
        })
        expect(config.review.threshold).toBe(flag ?? env ?? file ?? 60)
        const source = flag !== undefined ? 'flag' : env !== undefined ? 'env' : file !== undefined ? 'file' : 'default'
        expect(origins['review.threshold']?.source).toBe(source)
      }),
      { numRuns: 60 },
    )
  })

  it('hides no mistake of a layer below', () => {
    expect(problems({ text: 'review: { threshold: high }', env: { EVAL_THRESHOLD: '70' } })).toEqual([
      'assay.yaml:1:22: `review.threshold`: expected a number; got "high"',
    ])
    expect(problems({ env: { EVAL_THRESHOLD: '0.5' }, flags: { '--eval-threshold': '70' } })).toHaveLength(1)
  })
})

describe('a bar of 5 or less under a name that is on 0–100', () => {
  it.each<[Given, string, string]>([
    [
      { env: { EVAL_THRESHOLD: '3' } },
      'environment variable EVAL_THRESHOLD: EVAL_THRESHOLD is commonly on 0–100; 3 is read on the 1–5 scale and means 60 there',
      '3',
    ],
    [
      { flags: { '--eval-threshold': '5' } },
      '--eval-threshold: --eval-threshold is commonly on 0–100; 5 is read on the 1–5 scale and means 100 there',
      '5',
    ],
    [
      { text: 'evalThreshold: 3.3\n' },
      'assay.yaml:1:16: evalThreshold is commonly on 0–100; 3.3 is read on the 1–5 scale and means 66 there',
      '3.3',
    ],
    [{ env: { EVAL_THRESHOLD: '0' } }, 'environment variable EVAL_THRESHOLD: EVAL_THRESHOLD is 0: every score reaches that bar', '0'],
  ])('is kept, and told: %j', (given, notice, kept) => {
    const { config, notices } = load(given)
    expect(notices.map(formatProblem).join()).toContain(notice)
    expect(String(config.review.threshold)).toBe(kept)
  })

  it('is not told of where the scale is free, or the value is larger', () => {
    expect(load({ text: 'review: { threshold: 3 }' }).notices).toEqual([])
    expect(load({ text: 'review: { threshold: 3 }', env: { EVAL_THRESHOLD: '5.5' } }).notices).toEqual([])
  })
})
