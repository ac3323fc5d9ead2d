import { describe, expect, it } from 'vitest'
import { PlainMessages } from './doubled.ts'

async function sent(text: string): Promise<{ passed: string; answers: unknown[] }> {
  const answers: unknown[] = []
  const messages = new PlainMessages(1_000, (answer) => answers.push(answer))
  messages.end(text)
  let passed = ''
  for await (const chunk of messages) passed += String(chunk)
  return { passed, answers }
}

describe('messages on standard input', () => {
  it('that are no JSON are answered as such, and the next ones are heard', async () => {
    const { passed, answers } = await sent('this is no JSON\n\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"id":\n')
    expect(passed).toBe('\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    const parseError = { jsonrpc: '2.0', id: null, error: { code: -32700 } }
    expect(answers).toMatchObject([parseError, parseError])
  })

  it('in which a key appears twice are answered under their id', async () => {
    const { passed, answers } = await sent('{"id":1,"id":1,"method":"a","method":"b"}\n')
    expect(passed).toBe('')
    expect(answers).toMatchObject([{ id: 1, error: { code: -32600 } }])
  })
})
