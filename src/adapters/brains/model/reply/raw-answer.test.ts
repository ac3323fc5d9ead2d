import { describe, expect, it } from 'vitest'
import { renderMessage } from '../../../../testing/model-server/render/whole.ts'
import { believableFinish } from './finish.ts'
import { readRawAnswer } from './raw-answer.ts'

const dialects = [
  ['openai', 'chat'],
  ['openai-compatible', 'chat'],
  ['anthropic', 'messages'],
  ['google', 'generate'],
] as const

describe.each(dialects)('the raw answer of %s', (provider, dialect) => {
  it('has the arguments as they were sent', () => {
    const args = '{ "a" : 1, "a": "}]\\"" }'
    const body = renderMessage(dialect, {
      kind: 'message',
      text: 'x',
      calls: [
        { name: 'one', args },
        { name: 'two', args: '{}' },
      ],
    })
    expect(readRawAnswer(provider, body)).toMatchObject({
      calls: [
        { name: 'one', args },
        { name: 'two', args: '{}' },
      ],
      refused: false,
    })
  })

  it('is none where a part of it is there twice or not at all', () => {
    const body = renderMessage(dialect, { kind: 'message', calls: [{ name: 'one', args: '{}' }] })
    expect(readRawAnswer(provider, body)).toBeDefined()
    expect(readRawAnswer(provider, body.replace('"name":"one"', '"name":"one","name":"two"'))).toBeUndefined()
    expect(readRawAnswer(provider, body.slice(0, -1))).toBeUndefined()
    for (const other of ['{}', '[]', '""', 'null', '{"choices":[],"candidates":[]}']) expect(readRawAnswer(provider, other)).toBeUndefined()
  })
})

it('is none where there are two answers to choose from', () => {
  const choice = '{"message":{"content":"x"},"finish_reason":"stop"}'
  expect(readRawAnswer('openai', `{"choices":[${choice}]}`)).toEqual({ calls: [], finish: 'stop', refused: false })
  expect(readRawAnswer('openai', `{"choices":[${choice},${choice}]}`)).toBeUndefined()
})

describe('a finish reason', () => {
  const raw = (finish: string | undefined, refused = false) => ({ calls: [], finish, refused })
  it.each([
    ['stop', raw('stop'), 'stop'],
    ['tool-calls', raw('tool_use'), 'tool_use'],
    ['stop', raw('pause_turn'), 'pause_turn'],
    ['stop', raw('stop', true), 'refusal'],
    ['content-filter', raw('stop'), 'content-filter'],
    ['length', raw('max_tokens'), 'length'],
    ['error', raw('STOP'), 'error'],
    ['other', raw('STOP'), 'unknown: STOP'],
    ['other', raw(undefined), 'unknown: none given'],
    ['stop', undefined, 'unknown'],
  ])('%s of %j is told as the reader may believe it', (unified, answer, told) => {
    expect(believableFinish(unified, answer)).toBe(told)
  })
})

it('is none where the question was blocked, or a choice has an error', () => {
  const generated = renderMessage('generate', { kind: 'message', calls: [{ name: 'one', args: '{}' }] })
  const blocked = (feedback: string) =>
    readRawAnswer(
      'google',
      generated.replace('{', () => `{"promptFeedback":${feedback},`),
    )
  expect(blocked('{"blockReason":"SAFETY"}')).toBeUndefined()
  expect(blocked('{},"promptFeedback":{"blockReason":"OTHER"}')).toBeUndefined()
  expect(blocked('{"safetyRatings":[],"blockReason":null}')).toBeDefined()
  const chat = renderMessage('chat', { kind: 'message', calls: [{ name: 'one', args: '{}' }] })
  expect(readRawAnswer('openai', chat.replace('"choices":[{', '"choices":[{"error":{"code":502},'))).toBeUndefined()
})
