import { describe, expect, it } from 'vitest'
import { acceptingVerdict, rejectingVerdict, sampleExpectations, textReply, toolReply } from '../../testing/sample-verdict.ts'
import { type Expectations, type ReadReply, readReply } from './read.ts'
import { maxDocumentLength } from './strict-json.ts'

const expected = sampleExpectations()
const accept = acceptingVerdict(expected)
const reject = rejectingVerdict(expected)

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function read(value: unknown, asked: Expectations = expected): ReadReply {
  return readReply(textReply(asText(value)), asked)
}

function reasonOf(reply: ReadReply): string {
  return reply.kind === 'unreadable' ? reply.reason : `read as ${reply.kind}`
}

/** The accepting verdict with one place changed. */
function changed(path: string, value: unknown, from: unknown = accept): unknown {
  const copy = structuredClone(from) as Record<string, unknown>
  const steps = path.split('.')
  const last = steps.pop() as string
  let at = copy
  for (const step of steps) at = at[step] as Record<string, unknown>
  if (value === undefined) delete at[last]
  else at[last] = value
  return copy
}

describe('a well-formed verdict', () => {
  it.each([
    ['bare', asText(accept)],
    ['indented', JSON.stringify(accept, null, 2)],
    ['with white space around', `\r\n\t ${asText(accept)} \n`],
    ['in a json fence', `\`\`\`json\n${JSON.stringify(accept, null, 2)}\n\`\`\`\n`],
    ['in a plain fence', `\`\`\`\n${asText(accept)}\n\`\`\``],
    ['in a fence with tabs around', `\t\`\`\`json\t\n\t${asText(accept)}\n\`\`\`\t`],
    ['in an upper-case fence with Windows line ends', `\r\n\`\`\`JSON \r\n${asText(accept)}\r\n\`\`\`\r\n`],
  ])('is read from text: %s', (_, body) => {
    expect(readReply(textReply(body), expected)).toEqual({ kind: 'verdict', verdict: accept })
  })

  it.each([undefined, 'tool-calls', 'tool_calls', 'tool_use', 'stop', 'end_turn', 'STOP'])(
    'is read from a tool call that finished with %s',
    (finish) => {
      expect(readReply(toolReply(` ${asText(reject)}\n`, finish), expected)).toEqual({ kind: 'verdict', verdict: reject })
    },
  )

  it.each([undefined, 'stop', 'end_turn', 'STOP'])('is read from text that finished with %s', (finish) => {
    expect(readReply(textReply(asText(reject), finish), expected)).toEqual({ kind: 'verdict', verdict: reject })
  })

  it.each([
    'length',
    'max_tokens',
    'content-filter',
    'content_filter',
    'refusal',
    'error',
    'other',
    'unknown',
    'Stop',
    'TOOL_USE',
    '',
    'MAX_TOKENS',
    'pause_turn',
  ])('is not believed when it finished with "%s"', (finish) => {
    for (const reply of [toolReply(asText(accept), finish), textReply(asText(accept), finish)]) {
      expect(reasonOf(readReply(reply, expected))).toBe(`the reply did not end normally (finish reason "${finish}")`)
      expect(readReply(textReply('SCORE: 90', finish), sampleExpectations({ form: 'text' })).kind).toBe('unreadable')
    }
  })

  it.each(['tool-calls', 'tool_calls', 'tool_use'])('is not believed as text when it finished with %s', (finish) => {
    expect(readReply(textReply(asText(accept), finish), expected).kind).toBe('unreadable')
  })

  it('may answer in another order and keep its own words', () => {
    const other = { ...reject, criteria: reject.criteria.toReversed(), dimensions: reject.dimensions.toReversed() }
    expect(read(other)).toEqual({ kind: 'verdict', verdict: other })
  })

  it('may be empty-handed where nothing was asked', () => {
    const bare = sampleExpectations({ criteria: [], points: [] })
    const verdict = acceptingVerdict(bare, { evidence: [] })
    expect(read(verdict, bare)).toEqual({ kind: 'verdict', verdict })
  })

  it('may leave soft criteria unmet and hard ones untold', () => {
    for (const verdict of [changed('criteria.2.met', 'no'), changed('criteria.0.met', 'cannot_tell'), changed('dimensions.0.score', 1)]) {
      expect(read(verdict)).toEqual({ kind: 'verdict', verdict })
    }
  })

  it('may speak of fences inside a fence', () => {
    const verdict = { ...reject, concern: 'It lacks ```json fences.' }
    expect(read(`\`\`\`json\n${JSON.stringify(verdict, null, 2)}\n\`\`\``)).toEqual({ kind: 'verdict', verdict })
  })

  it('may write an integer with a zero fraction', () => {
    expect(read(asText(accept).replace('"score":4', '"score":4.0'))).toEqual({ kind: 'verdict', verdict: accept })
  })
})

describe('a malformed verdict names its flaw', () => {
  it.each([
    ['nonce', 'other', "nonce must equal the review's nonce"],
    ['nonce', '', "nonce must equal the review's nonce"],
    ['nonce', ` ${expected.nonce}`, "nonce must equal the review's nonce"],
    ['nonce', expected.nonce.toUpperCase(), "nonce must equal the review's nonce"],
    ['nonce', undefined, 'nonce is missing'],
    ['nonce', 7, 'nonce must be of type string; it is 7'],
    ['prior', undefined, 'prior is missing'],
    ['prior', [], 'prior does not answer "P1"'],
    ['prior', [accept.prior[0], accept.prior[0]], 'prior has the ref "P1" twice'],
    ['prior.0.ref', 'P2', 'prior has the unknown ref "P2"; prior does not answer "P1"'],
    ['prior.0.addressed', 'maybe', 'prior[0].addressed must be one of yes, no, partly; it is "maybe"'],
    ['prior.0.evidence', [' '], 'prior[0].evidence has a blank entry'],
    ['prior.0.note', 'x', 'prior[0] has the unknown field "note"'],
    ['criteria', {}, 'criteria must be of type array; it is an object'],
    ['criteria', [], 'criteria does not answer "AC1", "AC2", "AC3"'],
    ['criteria', accept.criteria.slice(0, 2), 'criteria does not answer "AC3"'],
    ['criteria', [...accept.criteria, accept.criteria[0]], 'criteria has the id "AC1" twice'],
    ['criteria.0.id', 'ac1', 'criteria has the unknown id "ac1"; criteria does not answer "AC1"'],
    ['criteria.0.id', 'AC2', 'criteria has the id "AC2" twice; criteria does not answer "AC1"'],
    ['criteria.0.id', undefined, 'criteria[0].id is missing'],
    ['criteria.0.met', 'no', 'verdict accept contradicts criterion "AC1", which is hard and answered no'],
    ['criteria.1.met', 'no', 'verdict accept contradicts criterion "AC2", which is hard and answered no'],
    ['criteria.1.met', true, 'criteria[1].met must be one of yes, no, cannot_tell; it is true'],
    ['criteria.1.met', null, 'criteria[1].met must be one of yes, no, cannot_tell; it is null'],
    ['criteria.1.reasoning', undefined, 'criteria[1].reasoning is missing'],
    ['criteria.1.evidence', undefined, 'criteria[1].evidence is missing'],
    ['criteria.1.evidence', 'a:1', 'criteria[1].evidence must be of type array; it is "a:1"'],
    ['criteria.1.evidence', ['a:1', ''], 'criteria[1].evidence has a blank entry'],
    ['criteria.1.evidence', ['\u200B\u2060 '], 'criteria[1].evidence has a blank entry'],
    ['criteria.1.evidence', Array(101).fill('a:1'), 'criteria[1].evidence has more than 100 entries'],
    ['criteria.1.evidence.0', 5, 'criteria[1].evidence[0] must be of type string; it is 5'],
    ['dimensions', accept.dimensions.slice(1), 'dimensions does not answer "correctness"'],
    ['dimensions', [...accept.dimensions, accept.dimensions[1]], 'dimensions has the name "completeness" twice'],
    ['dimensions.0.name', 'Correctness', 'dimensions has the unknown name "Correctness"; dimensions does not answer "correctness"'],
    ['dimensions.0.score', 0, 'dimensions[0].score must be an integer from 1 to 5; it is 0'],
    ['dimensions.0.score', 6, 'dimensions[0].score must be an integer from 1 to 5; it is 6'],
    ['dimensions.0.score', -4, 'dimensions[0].score must be an integer from 1 to 5; it is -4'],
    ['dimensions.0.score', 4.5, 'dimensions[0].score must be an integer from 1 to 5; it is 4.5'],
    ['dimensions.0.score', '4', 'dimensions[0].score must be an integer from 1 to 5; it is "4"'],
    ['dimensions.0.score', null, 'dimensions[0].score must be an integer from 1 to 5; it is null'],
    ['dimensions.0.score', [4], 'dimensions[0].score must be an integer from 1 to 5; it is a list'],
    ['dimensions.0.score', undefined, 'dimensions[0].score is missing'],
    ['dimensions.0.weight', 1, 'dimensions[0] has the unknown field "weight"'],
    ['verdict', 'ACCEPT', 'verdict must be one of accept, reject; it is "ACCEPT"'],
    ['verdict', 'pass', 'verdict must be one of accept, reject; it is "pass"'],
    ['verdict', undefined, 'verdict is missing'],
    ['verdict', 'reject', 'rejection_category must name a category on reject; next_step must say on reject what to do'],
    ['rejection_category', 'weak_test', 'rejection_category must be null on accept'],
    ['rejection_category', undefined, 'rejection_category is missing'],
    ['next_step', 'Go on.', 'next_step must be null on accept'],
    ['next_step', '', 'next_step must be null on accept'],
    ['next_step', undefined, 'next_step is missing'],
    ['concern', '', 'concern must not be blank'],
    ['concern', ' \n\u200B', 'concern must not be blank'],
    ['concern', null, 'concern must be of type string; it is null'],
    ['evidence', [''], 'evidence has a blank entry'],
    ['evidence', undefined, 'evidence is missing'],
    ['pass', true, 'the reply has the unknown field "pass"'],
    ['hasOwnProperty', true, 'the reply has the unknown field "hasOwnProperty"'],
  ])('accept with %s = %j', (path, value, reason) => {
    expect(reasonOf(read(changed(path, value)))).toBe(reason)
    expect(reasonOf(readReply(toolReply(asText(changed(path, value))), expected))).toBe(reason)
  })

  it.each([
    ['rejection_category', null, 'rejection_category must name a category on reject'],
    [
      'rejection_category',
      'bad_code',
      'rejection_category must be one of scope_creep, acceptance_gap, weak_test, tests_pass_but_wrong, half_finished, spec_violation; it is "bad_code"',
    ],
    ['next_step', null, 'next_step must say on reject what to do'],
    ['next_step', ' \t', 'next_step must say on reject what to do'],
    ['next_step', '\u2060', 'next_step must say on reject what to do'],
    [
      'verdict',
      'accept',
      'verdict accept contradicts criterion "AC1", which is hard and answered no; rejection_category must be null on accept; next_step must be null on accept',
    ],
  ])('reject with %s = %j', (path, value, reason) => {
    expect(reasonOf(read(changed(path, value, reject)))).toBe(reason)
  })

  it('takes exactly 100 pieces of evidence', () => {
    expect(read(changed('evidence', Array(100).fill('a:1'))).kind).toBe('verdict')
    expect(reasonOf(read(changed('evidence', Array(101).fill('a:1'))))).toBe('evidence has more than 100 entries')
  })

  it.each([
    ['an empty reply', '', 'it is empty'],
    ['an array', `[${asText(accept)}]`, 'the reply must be of type object; it is a list'],
    ['a text', '"accept"', 'the reply must be of type object; it is "accept"'],
    ['null', 'null', 'the reply must be of type object; it is null'],
    ['a number', '100', 'the reply must be of type object; it is 100'],
    ['prose before', `Here it is: ${asText(accept)}`, 'it begins with "Here it is'],
    ['prose after', `${asText(accept)} Thanks!`, 'the whole reply must be one JSON object'],
    ['the same object twice', `${asText(accept)}\n${asText(accept)}`, 'the whole reply must be one JSON object'],
    ['two different objects', `${asText(reject)}\n${asText(accept)}`, 'the whole reply must be one JSON object'],
    ['prose before a fence', `Verdict:\n\`\`\`json\n${asText(accept)}\n\`\`\``, 'the whole reply must be one JSON object'],
    ['prose after a fence', `\`\`\`json\n${asText(accept)}\n\`\`\`\nDone.`, 'the whole reply must be one JSON object'],
    [
      'two fences',
      `\`\`\`json\n${asText(accept)}\n\`\`\`\n\`\`\`json\n${asText(accept)}\n\`\`\``,
      'the whole reply must be one JSON object',
    ],
    ['a fence in a fence', `\`\`\`\n\`\`\`json\n${asText(accept)}\n\`\`\`\n\`\`\``, 'the whole reply must be one JSON object'],
    ['an unclosed fence', `\`\`\`json\n${asText(accept)}`, 'the whole reply must be one JSON object'],
    ['a fence closed by something else', `\`\`\`json\n${asText(accept)}\nDone.`, 'the whole reply must be one JSON object'],
    ['a fence behind a word', `x\`\`\`json\n${asText(accept)}\n\`\`\``, 'the whole reply must be one JSON object'],
    [
      'a text broken over two lines in a fence',
      `\`\`\`json\n${asText(accept).replace('It is', 'It\nis')}\n\`\`\``,
      'the whole reply must be one JSON object',
    ],
    ['an unopened fence', `${asText(accept)}\n\`\`\``, 'the whole reply must be one JSON object'],
    ['a fence of another language', `\`\`\`yaml\n${asText(accept)}\n\`\`\``, 'the whole reply must be one JSON object'],
    ['a fence on one line', `\`\`\`json ${asText(accept)} \`\`\``, 'the whole reply must be one JSON object'],
    ['a longer fence', `\`\`\`\`json\n${asText(accept)}\n\`\`\`\``, 'the whole reply must be one JSON object'],
    ['a tilde fence', `~~~json\n${asText(accept)}\n~~~`, 'the whole reply must be one JSON object'],
    ['an empty fence', '```json\n```', 'the whole reply must be one JSON object'],
    ['a byte order mark', `\uFEFF${asText(accept)}`, 'the reply begins with a byte order mark'],
    ['a no-break space', `\u00A0${asText(accept)}`, 'the whole reply must be one JSON object'],
    ['a trailing zero-width space', `${asText(accept)}\u200B`, 'the whole reply must be one JSON object'],
    ['single quotes', asText(accept).replaceAll('"', "'"), 'the whole reply must be one JSON object'],
    ['a verdict inside', asText({ verdict: accept }), 'verdict must be one of accept, reject; it is an object'],
    ['a score line', 'SCORE: 100', 'the whole reply must be one JSON object'],
  ])('%s', (_, body, reason) => {
    const reply = read(body)
    expect(reply.kind).toBe('unreadable')
    expect(reasonOf(reply)).toContain(reason)
  })

  it.each([
    ['verdict', asText(reject).replace('"verdict":"reject"', '"verdict":"reject","verdict":"accept"')],
    ['verdict', asText(reject).replace('"verdict":"reject"', '"verdict":"reject","\\u0076erdict":"accept"')],
    ['score', asText(accept).replace('"score":4', '"score":1,"score":4')],
    ['nonce', asText(accept).replace('{"nonce"', '{"nonce":"x","nonce"')],
  ])('a repeated key: %s', (key, body) => {
    expect(reasonOf(read(body))).toContain(`the key "${key}" appears twice in one object`)
  })

  it.each(['__proto__', 'constructor', 'prototype'])('the key %s', (key) => {
    expect(reasonOf(read(asText(reject).replace('{"nonce"', `{"${key}":{"verdict":"accept"},"nonce"`)))).toContain(
      `the key "${key}" is not allowed`,
    )
  })

  it('numbers that would only read as an integer', () => {
    expect(reasonOf(read(asText(accept).replace('"score":4', '"score":4.99999999999999999')))).toContain('is not written plainly')
    expect(reasonOf(read(asText(accept).replace('"score":4', '"score":5e0')))).toContain('is not written plainly')
  })

  it('tool arguments in a fence or with anything around them', () => {
    for (const body of [
      `\`\`\`json\n${asText(accept)}\n\`\`\``,
      `x${asText(accept)}`,
      `${asText(accept)}${asText(accept)}`,
      '',
      '\uFEFF{}',
      'SCORE: 90',
    ]) {
      const reply = readReply(toolReply(body), sampleExpectations({ form: 'text' }))
      expect(reply.kind).toBe('unreadable')
    }
    expect(reasonOf(readReply(toolReply('no'), expected))).toBe(
      'the arguments of submit_verdict must be one JSON object; not one valid JSON document: it begins with "no"',
    )
  })

  it('a reply past the length limit, whatever is in it', () => {
    const pad = (length: number) => asText(accept).padEnd(length, ' ')
    expect(read(pad(maxDocumentLength)).kind).toBe('verdict')
    expect(reasonOf(read(pad(maxDocumentLength + 1)))).toBe('the reply is longer than 1048576 characters')
    const text = readReply(textReply('SCORE: 90'.padEnd(maxDocumentLength + 1, '\n')), sampleExpectations({ form: 'text' }))
    expect(reasonOf(text)).toBe('the reply is longer than 1048576 characters')
  })

  it('quotes little of the reply, with nothing raw in it', () => {
    const hostile = `\u001b[31m\u202E\n"accept"${'x'.repeat(300)}`
    const flawed = changed('verdict', hostile) as Record<string, unknown>
    for (let index = 0; index < 20; index += 1) flawed[`${index}${hostile}`] = hostile
    flawed.criteria = Array.from({ length: 30 }, () => ({ id: hostile, evidence: [hostile], reasoning: hostile, met: hostile }))
    for (const reply of [read(flawed), read(changed('criteria.0.id', hostile)), readReply(textReply('{}', hostile), expected)]) {
      const reason = reasonOf(reply)
      expect(reason).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expect(reason.split('x').length - 1).toBeLessThanOrEqual(200)
      expect(reason.length).toBeLessThan(1200)
    }
    expect(reasonOf(read(flawed))).toMatch(/; 27 more problems$/)
  })

  it('names at most five of many missing answers', () => {
    const many = sampleExpectations({ criteria: Array.from({ length: 8 }, (_, index) => ({ id: `AC${index}`, text: 't', hard: true })) })
    expect(reasonOf(read(acceptingVerdict(many, { criteria: [] }), many))).toBe(
      'criteria does not answer "AC0", "AC1", "AC2", "AC3", "AC4" and 3 more',
    )
    const five = { ...many, criteria: many.criteria.slice(0, 5) }
    expect(reasonOf(read(acceptingVerdict(five, { criteria: [] }), five))).toBe(
      'criteria does not answer "AC0", "AC1", "AC2", "AC3", "AC4"',
    )
  })

  it('counts what it does not name', () => {
    const fields = (count: number) => ({ ...accept, ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}`, 1])) })
    expect(reasonOf(read(fields(1)))).toBe('the reply has the unknown field "x0"')
    expect(reasonOf(read(fields(3)))).toBe('the reply has the unknown field "x0" and 2 more')
    const scores = (count: number) => ({
      ...accept,
      dimensions: Array.from({ length: count }, () => ({ name: 'correctness', reasoning: '', score: 9 })),
    })
    expect(reasonOf(read(scores(5)))).not.toContain('more')
    expect(reasonOf(read(scores(6)))).toMatch(/; 1 more problems$/)
  })
})

describe('a text judge', () => {
  const asked = sampleExpectations({ form: 'text' })

  it('may answer in structure, bare or fenced, and is then held to it', () => {
    expect(read(accept, asked)).toEqual({ kind: 'verdict', verdict: accept })
    expect(read(`\`\`\`json\n${asText(reject)}\n\`\`\``, asked)).toEqual({ kind: 'verdict', verdict: reject })
    for (const body of [
      asText(changed('nonce', 'other')),
      `{not json}\nSCORE: 90`,
      `${asText(reject)}\nSCORE: 90`,
      '```\nSCORE: 90\n```',
      '```json\n{}\n```',
    ]) {
      expect(read(body, asked).kind).toBe('unreadable')
    }
  })

  it('answers with a score line otherwise', () => {
    expect(read('Solid work.\nSCORE: **72**\n', asked)).toEqual({ kind: 'text', text: { score100: '72', feedback: 'Solid work.' } })
    expect(read('```\nsome output\n```\nSCORE: 64.5\n```\nmore\n```', asked)).toEqual({
      kind: 'text',
      text: { score100: '64.5', feedback: '```\nsome output\n```\n```\nmore\n```' },
    })
    expect(read('```\nquoted\n  ```\nSCORE: 72\n```\nmore\n```', asked).kind).toBe('text')
    for (const blank of [' ', '\t', '\n', '\r']) {
      expect(read(`${blank}${asText(accept)}${blank}`, asked).kind).toBe('verdict')
      expect(read(`${blank}\`\`\`json\n${asText(accept)}\n\`\`\`${blank}`, asked).kind).toBe('verdict')
    }
    expect(reasonOf(read('Fine.', asked))).toContain('exactly one line `SCORE: n`')
  })

  it.each([
    ['a structured verdict after it', `SCORE: 95\n${asText(reject)}`],
    ['a fenced verdict after it', `SCORE: 95\n\`\`\`json\n${asText(reject)}\n\`\`\``],
    ['a fenced verdict before it', `\`\`\`json\n${asText(reject)}\n\`\`\`\nSCORE: 95`],
    ['a field of a verdict', 'SCORE: 95\nI mean "verdict" : "reject"'],
    ['a category', 'SCORE: 95\n"rejection_category": null'],
    ['a field of a verdict on two lines', 'SCORE: 95\n"next_step"\n:'],
    ['the nonce', `SCORE: 95\nnonce ${expected.nonce}`],
  ])('is not read where its score line has beside it %s', (_, body) => {
    expect(reasonOf(read(body, asked))).toBe(
      'a text reply is either one JSON object or a score line with feedback; this one has parts of both',
    )
  })

  it('may speak of verdicts in its feedback', () => {
    expect(read('My verdict: it lacks "criteria": none, and dimensions.\nSCORE: 40', asked).kind).toBe('text')
  })

  it('is refused a byte order mark', () => {
    expect(reasonOf(read('\uFEFFSCORE: 72', asked))).toBe('the reply begins with a byte order mark')
  })
})
