import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultDimensions } from '../../../contract/config/review.ts'
import { formatProblem } from '../../../contract/source/problem.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import { readCase } from '../../../core/case/read.ts'
import { readReply } from '../../../core/verdict/read.ts'
import type { BrainPort, JudgeQuestion } from '../../../ports/brain.ts'
import { openScriptedBrain } from './brain.ts'

const task: TaskSpec = {
  id: 't1',
  title: 'Write core',
  description: '',
  assignee: 'dev',
  criteria: [
    { id: 'AC1', text: 'core.txt exists', hard: true },
    { id: 'AC2', text: 'it says hello', hard: true },
  ],
  checks: [],
  dimensions: defaultDimensions,
  bar: 60,
  dependsOn: [],
  priority: 1,
  workspace: { kind: 'scratch' },
  expectsDiff: true,
  depth: 0,
}

function open(text: string): BrainPort {
  const brain = openScriptedBrain({ file: 'brain.yaml', text })
  if (!brain.ok) throw new Error(brain.error.map(formatProblem).join('\n'))
  return brain.value
}
const live = new AbortController().signal

describe('a scripted worker', () => {
  let workspace: string
  beforeEach(() => {
    workspace = mkdtempSync(join(tmpdir(), 'assay-script-'))
  })
  afterEach(() => rmSync(workspace, { recursive: true, force: true }))

  const work = (brain: BrainPort, attempt = 1, other: Partial<TaskSpec> = {}, signal = live) =>
    brain.work({ task: { ...task, ...other }, agent: 'dev', instructions: undefined, attempt, prompt: '', workspace }, signal)
  const read = (path: string): string => readFileSync(join(workspace, path), 'utf8')

  it('does what its attempt says, and the last entry over and over', async () => {
    const brain = open(`
workers:
  Write core:
    - { write: { core.txt: "hullo", src/a.txt: "a" }, print: first }
    - { write: { core.txt: "hello" }, append: { src/a.txt: "b", log: "x" }, delete: [src/none, old], print: again }`)
    writeFileSync(join(workspace, 'old'), '')
    expect(await work(brain)).toMatchObject({ kind: 'finished', output: 'first' })
    expect([read('core.txt'), read('src/a.txt')]).toEqual(['hullo', 'a'])
    for (const attempt of [2, 3]) expect(await work(brain, attempt)).toMatchObject({ kind: 'finished', output: 'again' })
    expect([read('core.txt'), read('src/a.txt'), read('log'), existsSync(join(workspace, 'old'))]).toEqual(['hello', 'abb', 'xx', false])
  })

  it('finds its lines by id, then title, then for every task', async () => {
    const brain = open('workers: { t1: [{ print: id }], Write core: [{ print: title }], "*": [{ print: any }] }')
    expect(await work(brain)).toMatchObject({ output: 'id' })
    expect(await work(brain, 1, { id: 't2' })).toMatchObject({ output: 'title' })
    expect(await work(brain, 1, { id: 't3', title: 'Other' })).toMatchObject({ output: 'any' })
    expect(await work(open('workers: { Other: [{ print: x }] }'))).toMatchObject({
      kind: 'failed',
      failure: 'error',
      beforeEffect: false,
      detail: 'brain.yaml says nothing for the task "Write core"',
    })
  })

  it.each([
    ['write: { core.txt: x }', 'core.txt:1'],
    ['case: auto', 'output:1'],
    ['case: { auto: "src/a.ts:main", summary: Did it }', 'src/a.ts:main'],
  ])('submits a case that covers every criterion: %s', async (words, pointer) => {
    const ending = await work(open(`workers: { "*": [{ ${words} }] }`))
    if (ending.kind !== 'finished' || ending.raw === null) throw new Error('no case')
    expect(readCase(ending.raw, task.criteria)).toMatchObject({
      ok: true,
      case: {
        ac_coverage: [
          { criterion: 'AC1', pointer },
          { criterion: 'AC2', pointer },
        ],
      },
    })
  })

  it('submits any other case, and none', async () => {
    const brain = open(`workers: { "*": [{ case: { summary: s, ac_coverage: [] } }, { case: { raw: "{not json" } }, { case: none }] }`)
    expect(await work(brain, 1)).toMatchObject({ raw: '{"summary":"s","ac_coverage":[]}' })
    expect(await work(brain, 2)).toMatchObject({ raw: '{not json' })
    expect(await work(brain, 3)).toMatchObject({ raw: null })
  })

  it.each([
    ['exit: 3', { failure: 'exit', detail: 'exit code 3', beforeEffect: false, output: 'said' }, true],
    ['fault: crash', { failure: 'signal', beforeEffect: false, output: 'said' }, true],
    ['fault: timeout', { failure: 'timeout', beforeEffect: false, output: 'said' }, true],
    ['fault: not_found', { failure: 'not_found', beforeEffect: true, output: '' }, false],
    ['fault: spawn_error', { failure: 'spawn_error', beforeEffect: true, output: '' }, false],
  ])('fails as it is told: %s', async (words, expected, effects) => {
    expect(await work(open(`workers: { "*": [{ write: { a: b }, print: said, ${words} }] }`))).toMatchObject({
      kind: 'failed',
      ...expected,
    })
    expect(existsSync(join(workspace, 'a'))).toBe(effects)
  })

  it('fails as often as it is told', async () => {
    const brain = open('workers: { "*": [{ fault: spawn_error, times: 1, print: done }] }')
    expect(await work(brain)).toMatchObject({ kind: 'failed', beforeEffect: true })
    expect(await work(brain)).toMatchObject({ kind: 'finished', output: 'done' })
    expect(await work(brain, 2)).toMatchObject({ kind: 'failed' })
  })

  it('throws where a bug is asked for', async () => {
    await expect(work(open('workers: { "*": [{ fault: throw }] }'))).rejects.toThrow('the script says so')
  })

  it('prints more than anybody keeps', async () => {
    const { output } = (await work(open('workers: { "*": [{ print: { text: "0123456789", times: 1000000 } }] }'))) as { output: string }
    expect(output).toContain(`${10_000_000 - 1024 * 1024} bytes left out`)
  })

  it('hangs or dawdles until it is stopped', async () => {
    for (const words of ['fault: hang', 'delay: 10m']) {
      const stop = new AbortController()
      const ending = work(open(`workers: { "*": [{ ${words} }] }`), 1, {}, stop.signal)
      expect(await Promise.race([ending, sleep(100, 'still at it')])).toBe('still at it')
      stop.abort()
      expect(await ending).toMatchObject({ kind: 'stopped' })
    }
    expect(await work(open('workers: { "*": [{ delay: 5ms, print: late }] }'))).toMatchObject({ kind: 'finished', output: 'late' })
  })
})

describe('a scripted judge', () => {
  const question = (more: Partial<JudgeQuestion> = {}): JudgeQuestion => ({
    task,
    judge: 'qa',
    instructions: undefined,
    review: 1,
    attempt: 1,
    seat: 1,
    round: 1,
    nonce: 'nonce-1234',
    form: 'structured',
    criteria: task.criteria,
    dimensions: task.dimensions,
    points: [
      { ref: 'P1', source: 'judge', from: 'qa', text: 'say hello' },
      { ref: 'P2', source: 'check', from: 'c1', text: 'make it pass' },
    ],
    prompt: '',
    reader: { files: async () => [], read: async () => undefined },
    snapshot: () => Promise.reject(new Error('a script needs no copy')),
    ...more,
  })
  const judge = (text: string, more: Partial<JudgeQuestion> = {}, signal = live) => open(text).judge(question(more), signal)
  /** The verdict as the core reads it: well-formed, or the test fails. */
  async function verdict(words: string, more: Partial<JudgeQuestion> = {}) {
    const ending = await judge(`judges: { qa: [{ ${words} }] }`, more)
    if (ending.kind !== 'reply') throw new Error(JSON.stringify(ending))
    const read = readReply(ending.reply, question(more))
    if (read.kind !== 'verdict') throw new Error(JSON.stringify(read))
    return read.verdict
  }

  it('accepts in one word', async () => {
    const full = await verdict('accept: true')
    expect(full).toMatchObject({ nonce: 'nonce-1234', verdict: 'accept', rejection_category: null, next_step: null })
    expect(full.dimensions.map(({ name, score }) => [name, score])).toEqual(defaultDimensions.map(({ name }) => [name, 4]))
    expect(full.criteria.map(({ id, met }) => [id, met])).toEqual([
      ['AC1', 'yes'],
      ['AC2', 'yes'],
    ])
    expect(full.prior.map(({ ref, addressed }) => [ref, addressed])).toEqual([
      ['P1', 'yes'],
      ['P2', 'yes'],
    ])
  })

  it('rejects in one word', async () => {
    expect(await verdict('accept: false')).toMatchObject({
      verdict: 'reject',
      rejection_category: 'acceptance_gap',
      next_step: expect.stringMatching(/./),
    })
  })

  it('says as much as the script does', async () => {
    const words = `accept: false, scores: { correctness: 1 }, criteria: { AC2: no, AC1: { met: cannot_tell, evidence: [] } }, evidence: "core.txt:1",
      prior: { P1: partly }, category: half_finished, concern: It says hullo., next_step: Say hello., reasoning: Look at it.`
    expect(await verdict(words)).toEqual({
      nonce: 'nonce-1234',
      prior: [
        { ref: 'P1', addressed: 'partly', evidence: ['core.txt:1'] },
        { ref: 'P2', addressed: 'no', evidence: ['core.txt:1'] },
      ],
      criteria: [
        { id: 'AC1', evidence: [], reasoning: 'Look at it.', met: 'cannot_tell' },
        { id: 'AC2', evidence: ['core.txt:1'], reasoning: 'Look at it.', met: 'no' },
      ],
      dimensions: defaultDimensions.map(({ name }) => ({ name, reasoning: 'Look at it.', score: name === 'correctness' ? 1 : 2 })),
      verdict: 'reject',
      rejection_category: 'half_finished',
      concern: 'It says hullo.',
      evidence: ['core.txt:1'],
      next_step: 'Say hello.',
    })
    expect((await verdict('accept: true, scores: 5, prior: partly')).dimensions.every(({ score }) => score === 5)).toBe(true)
  })

  it('answers by review and round, the last over and over', async () => {
    const text = 'judges: { qa: [{ rounds: [{ raw: one }, { raw: two }] }, { text: "SCORE: 72" }] }'
    const bodies = await Promise.all(
      (
        [
          [1, 1],
          [1, 2],
          [1, 3],
          [2, 1],
          [5, 4],
        ] as const
      ).map(async ([review, round]) => {
        const ending = await judge(text, { review, round })
        return ending.kind === 'reply' ? ending.reply.body : ending.kind
      }),
    )
    expect(bodies).toEqual(['one', 'two', 'two', 'SCORE: 72', 'SCORE: 72'])
  })

  it('finds its lines by name and task, then for every judge', async () => {
    const text = 'judges: { qa: { Other: [{ raw: qa on other }], t9: [{ raw: qa on t9 }] }, "*": { Write core: [{ raw: any on core }] } }'
    const body = async (more: Partial<JudgeQuestion>) => {
      const ending = await judge(text, more)
      return ending.kind === 'reply' ? ending.reply.body : ending
    }
    expect(await body({ task: { ...task, id: 't9' } })).toBe('qa on t9')
    expect(await body({ task: { ...task, title: 'Other' } })).toBe('qa on other')
    expect(await body({})).toBe('any on core')
    expect(await body({ judge: 'qa2', task: { ...task, title: 'Third' } })).toEqual({
      kind: 'unavailable',
      detail: 'brain.yaml says nothing for the judge qa2 on the task "Third"',
    })
  })

  it('gives replies that nobody can read, and right ones by hand', async () => {
    const read = async (words: string) => {
      const ending = await judge(`judges: { qa: [{ ${words} }] }`, { form: 'text' })
      return ending.kind === 'reply' ? readReply(ending.reply, question({ form: 'text' })).kind : ending.kind
    }
    expect(await read('raw: garbage')).toBe('unreadable')
    expect(await read('accept: true, nonce: forged')).toBe('unreadable')
    expect(await read('text: "Fine.\\n\\nSCORE: 72"')).toBe('text')
    expect(await read('raw: "SCORE: 72", finish: length')).toBe('unreadable')
    const whole = JSON.stringify({ ...(await verdict('accept: true')), nonce: '{{nonce}}' })
    expect(await read(`raw: ${JSON.stringify(whole)}, channel: tool, finish: tool-calls`)).toBe('verdict')
  })

  it('is unavailable, slow or silent', async () => {
    expect(await judge('judges: { qa: [{ unavailable: 503, delay: 1ms }] }'.replace('503', '"503"'))).toEqual({
      kind: 'unavailable',
      detail: '503',
    })
    expect(await judge('judges: { qa: [{ accept: true, usage: { costUsd: 0.5 } }] }')).toMatchObject({
      kind: 'reply',
      usage: { costUsd: 0.5 },
    })
    await expect(judge('judges: { qa: [{ throw: boom }] }')).rejects.toThrow('boom')
    for (const words of ['hang: true', 'accept: true, delay: 10m']) {
      const stop = new AbortController()
      const ending = judge(`judges: { qa: [{ ${words} }] }`, {}, stop.signal)
      expect(await Promise.race([ending, sleep(100, 'silent')])).toBe('silent')
      stop.abort()
      expect(await ending).toEqual({ kind: 'stopped' })
    }
  })

  it.each([
    ['scores: { speed: 3 }', 'dimension "speed" is not part of this review (correctness, completeness, code_quality, edge_cases)'],
    ['criteria: { AC9: yes }', 'criterion "AC9" is not part of this review (AC1, AC2)'],
    ['prior: { P9: yes }', 'point "P9" is not part of this review (P1, P2)'],
  ])('is unavailable with names that the review does not have: %s', async (words, detail) => {
    expect(await judge(`judges:\n  qa:\n    - { accept: true, ${words} }`)).toEqual({
      kind: 'unavailable',
      detail: `brain.yaml:3:7: ${detail}`,
    })
  })

  it('gives the same answer to the same question', async () => {
    const text = 'judges: { "*": [{ accept: false, scores: 2, criteria: { AC1: no } }] }'
    expect(await judge(text)).toEqual(await judge(text))
  })
})

describe('a script with mistakes', () => {
  const problems = (text: string): string[] => {
    const brain = openScriptedBrain({ file: 'brain.yaml', text })
    return brain.ok ? [] : brain.error.map(formatProblem)
  }

  it.each([
    ['workers:\n  "*":\n    - wriet: { a: b }', 'brain.yaml:3:7: unknown key `wriet`; did you mean `write`?'],
    [
      'workers:\n  "*":\n    - write: { ../a: b }',
      'brain.yaml:3:22: `write["../a"]`: expected a path inside the workspace: relative, without `..`',
    ],
    ['workers:\n  "*":\n    - delete: [/etc/passwd]', 'brain.yaml:3:16: '],
    ['workers:\n  "*":\n    - fault: explode', 'brain.yaml:3:14: '],
    ['workers:\n  "*":\n    - { exit: 1, fault: hang }', 'not by both'],
    ['workers:\n  "*":\n    - { exit: 0 }', 'brain.yaml:3:15: '],
    ['workers:\n  "*":\n    - { delay: soon }', 'a duration is'],
    ['workers:\n  "*": []', 'brain.yaml:2:8: '],
    ['worker: {}', 'did you mean `workers`?'],
    [
      'judges:\n  qa:\n    - { acept: true }',
      'brain.yaml:3:7: `judges.qa[0]`: expected an answer with one of accept, text, raw, unavailable, hang, throw, rounds',
    ],
    ['judges:\n  qa:\n    - { accept: true, text: x }', 'accept and text are two answers'],
    ['judges:\n  qa:\n    - { accept: true, scores: 6 }', 'brain.yaml:3:31: '],
    ['judges:\n  qa:\n    - { accept: true, criteria: { AC1: maybe } }', 'brain.yaml:3:40: '],
    ['judges:\n  qa:\n    - rounds: [{ accept: yes }]', 'brain.yaml:3:26: `accept`: expected true or false; got "yes" (write true)'],
    ['judges: { qa: [{ accept: true }', 'brain.yaml:1'],
    ['', 'the file is empty'],
  ])('is refused with the place: %j', (text, words) => {
    const found = problems(text)
    expect(found.join('\n')).toContain(words)
    for (const line of found) expect(line).toMatch(/^brain\.yaml:\d+:\d+: /)
  })
})
