import { describe, expect, it } from 'vitest'
import { callsIn, heardFrom, inputOf, promptOf, textIn, toolSays, userSays } from './speech.ts'

const call = (id: string, input: string) => ({ type: 'tool-call' as const, toolCallId: id, toolName: 'list', input })

describe('what a model is told', () => {
  it('begins with the instructions; answers to the calls of one message stand in one message', () => {
    const asked = heardFrom([call('a', '{}'), call('b', '{}')])
    const prompt = promptOf('Judge.', [
      userSays('This.'),
      asked,
      toolSays('a', 'list', 'one'),
      toolSays('b', 'list', 'two'),
      userSays('Go on.'),
    ])
    expect(prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user'])
    expect(prompt[3]?.content).toMatchObject([{ toolCallId: 'a' }, { toolCallId: 'b', output: { type: 'text', value: 'two' } }])
  })

  it('leaves the messages as they are: the same ones are told again in the next turn', () => {
    const messages = [toolSays('a', 'list', 'one'), toolSays('b', 'list', 'two')]
    const before = structuredClone(messages)
    promptOf('', messages)
    expect(messages).toEqual(before)
  })
})

describe('what a model said', () => {
  it('is repeated with what the provider wants to see again, without what says nothing', () => {
    const metadata = { google: { thoughtSignature: 'xyz' } }
    const message = heardFrom([
      { type: 'reasoning', text: 'hm', providerMetadata: metadata },
      { type: 'text', text: '' },
      { type: 'text', text: 'so' },
      { ...call('a', '{"path":"x"}'), providerMetadata: metadata },
    ])
    expect(message.content).toEqual([
      { type: 'reasoning', text: 'hm', providerOptions: metadata },
      { type: 'text', text: 'so' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'list', input: { path: 'x' }, providerOptions: metadata },
    ])
    expect(heardFrom([{ type: 'text', text: '' }]).content).toEqual([{ type: 'text', text: '(nothing)' }])
  })

  it('has every call with an object as its arguments, whatever was sent', () => {
    const inputs = ['', '{"a":1}', '[1]', 'null', 'not json'].map((input) => heardFrom([call('a', input)]).content[0])
    expect(inputs.map((part) => (part as { input: unknown }).input)).toEqual([
      {},
      { a: 1 },
      { arguments: [1] },
      { arguments: null },
      { arguments: 'not json' },
    ])
  })

  it('is its words in order, and its calls with arguments as values or, where they are none, as text', () => {
    const content = [{ type: 'text' as const, text: 'a' }, call('1', '{'), { type: 'text' as const, text: 'b' }]
    expect(textIn(content)).toBe('ab')
    expect(callsIn(content).map(inputOf)).toEqual(['{'])
  })
})
