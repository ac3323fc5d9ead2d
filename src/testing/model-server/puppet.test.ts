import { describe, expect, it } from 'vitest'
import { say } from './answers.ts'
import { type Cue, handIn, look, puppet, rule, shell } from './puppet.ts'
import { renderMessage } from './render/whole.ts'
import { type Dialect, type ModelRequest, offeredTools } from './request.ts'

function request(dialect: Dialect, json: Record<string, unknown>): ModelRequest {
  const tools = offeredTools(dialect, json).map(({ name }) => name)
  const rest = {
    number: 1,
    path: '',
    headers: {},
    text: '',
    forced: undefined,
    streamed: true,
    sent: 0,
    ended: Promise.resolve('answered' as const),
  }
  return { ...rest, dialect, json, tools }
}

const schema = (...names: string[]) => ({ properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) })
const work = 'Do it.\n# Your case\nWhen you are done'
const question = `# Your answer
nonce: "n-12345678"
prior: one entry for each of []: ref
criteria: one entry for each of [AC1, AC2]: id
dimensions: one entry for each of [correctness]: name
# How to answer
The files of the work are in /copies/7, for reading only; give pointers.`

/** The same step, as each agent's request shows it: before and after the tool was used. */
const hands: [name: string, dialect: Dialect, before: Record<string, unknown>, after: unknown[], call: object][] = [
  [
    'Claude Code',
    'messages',
    { tools: [{ name: 'Bash', input_schema: schema('command', 'description') }], messages: [{ role: 'user', content: work }] },
    [
      { role: 'assistant', content: [{ type: 'tool_use', name: 'Bash', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', content: 'it is done' }] },
    ],
    { name: 'Bash', args: '{"command":"echo x","description":"Does the work."}' },
  ],
  [
    'Codex',
    'responses',
    {
      tools: [{ type: 'function', name: 'exec_command', parameters: schema('cmd') }, { type: 'web_search' }],
      input: [{ type: 'message', content: work }],
    },
    [
      { type: 'function_call', name: 'exec_command', arguments: '{}' },
      { type: 'function_call_output', output: 'it is done' },
    ],
    { name: 'exec_command', args: '{"cmd":"echo x"}' },
  ],
  [
    'Gemini CLI',
    'generate',
    {
      tools: [{ functionDeclarations: [{ name: 'run_shell_command', parametersJsonSchema: schema('command') }] }],
      contents: [{ parts: [{ text: work }] }],
    },
    [
      { parts: [{ functionCall: { name: 'run_shell_command' } }] },
      { parts: [{ functionResponse: { response: { output: 'it is done' } } }] },
    ],
    { name: 'run_shell_command', args: '{"command":"echo x"}' },
  ],
  [
    'opencode',
    'chat',
    { tools: [{ function: { name: 'bash', parameters: schema('command') } }], messages: [{ role: 'user', content: work }] },
    [
      { role: 'assistant', tool_calls: [{ function: { name: 'bash' } }] },
      { role: 'tool', content: 'it is done' },
    ],
    { name: 'bash', args: '{"command":"echo x"}' },
  ],
  [
    'a model worker',
    'chat',
    { tools: [{ function: { name: 'run', parameters: schema('argv') } }], messages: [{ role: 'user', content: work }] },
    [
      { role: 'assistant', tool_calls: [{ function: { name: 'run' } }] },
      { role: 'tool', content: 'it is done' },
    ],
    { name: 'run', args: '{"argv":["sh","-c","echo x"]}' },
  ],
]

describe.each(hands)('behind %s', (_name, dialect, before, after, call) => {
  const turns = { chat: 'messages', messages: 'messages', generate: 'contents', responses: 'input' }[dialect]
  const play = puppet({ worker: (cue) => (cue.seen === undefined ? shell(cue, 'echo x') : handIn(cue, { summary: cue.seen })) })

  it('uses the shell that there is, sees what it says, and hands in', () => {
    expect(play(request(dialect, before))).toMatchObject({ calls: [call] })
    const said = play(request(dialect, { ...before, [turns]: [...(before[turns] as unknown[]), ...after] }))
    expect(JSON.stringify(said)).toContain('it is done')
  })

  it('knows which round it is', () => {
    const rounds = puppet({ worker: ({ round }: Cue) => say(String(round)) })
    const again = JSON.parse(
      JSON.stringify(before).replace('Do it.', 'Do it.\\n# Feedback on attempt 1: address every point'),
    ) as typeof before
    expect([rounds(request(dialect, before)), rounds(request(dialect, again))]).toMatchObject([{ text: '1' }, { text: '2' }])
  })
})

it('a judge looks where the work lies, and answers what it is asked', () => {
  const tools = [{ name: 'Read', input_schema: schema('file_path') }]
  const play = puppet({
    judge: (cue) => (cue.seen === undefined ? look(cue, 'a.txt') : rule(cue, { verdict: 'reject', evidence: ['a.txt:1'], unmet: ['AC2'] })),
  })
  const first = { tools, messages: [{ role: 'user', content: question }] }
  expect(play(request('messages', first))).toMatchObject({ calls: [{ name: 'Read', args: '{"file_path":"/copies/7/a.txt"}' }] })
  const seen = [
    { role: 'assistant', content: [{ type: 'tool_use', name: 'Read' }] },
    { role: 'user', content: 'x' },
  ]
  const said = play(request('messages', { ...first, messages: [...first.messages, ...seen] }))
  expect(JSON.parse((said as { text: string }).text)).toMatchObject({
    nonce: 'n-12345678',
    prior: [],
    criteria: [
      { id: 'AC1', met: 'yes' },
      { id: 'AC2', met: 'no' },
    ],
    dimensions: [{ name: 'correctness', score: 2 }],
    verdict: 'reject',
  })
})

it('knows the tools of a namespace by both names, and calls them so', () => {
  const tools = [
    { type: 'namespace', name: 'mcp__assay', tools: [{ type: 'function', name: 'list_tasks', parameters: schema('limit') }] },
    { type: 'function', name: 'exec_command', parameters: schema('cmd') },
  ]
  expect(offeredTools('responses', { tools })).toEqual([
    { name: 'mcp__assay.list_tasks', schema: schema('limit') },
    { name: 'exec_command', schema: schema('cmd') },
  ])
  const body = JSON.parse(renderMessage('responses', { kind: 'message', calls: [{ name: 'mcp__assay.list_tasks', args: '{}' }] })) as {
    output: unknown[]
  }
  expect(body.output).toMatchObject([{ type: 'function_call', name: 'list_tasks', namespace: 'mcp__assay', arguments: '{}' }])
})

it('a side question gets what its schema asks for; a part that nobody plays is an error', () => {
  const wanted = { responseJsonSchema: { properties: { reason: { type: 'STRING' }, score: { type: 'INTEGER' } } } }
  expect(puppet({})(request('generate', { generationConfig: wanted, contents: [] }))).toMatchObject({
    text: '{"reason":"small","score":1}',
  })
  const [, dialect, before] = hands[0] as (typeof hands)[number]
  expect(() => puppet({})(request(dialect, before))).toThrow('nobody plays this part')
})
