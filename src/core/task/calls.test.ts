import { describe, expect, it } from 'vitest'
import type { TaskCommand } from '../../contract/commands/task.ts'
import { checks, created, openSeats, opine, start, submit } from '../../testing/task/steps.ts'
import { rulesWith } from '../../testing/task/world.ts'

const said = (...pieces: string[]) => ({ stored: null, said: pieces })
const begin = { type: 'begin_call', attempt: 1, tool: 'run', conversation: said('s1') } as const
const end = { type: 'end_call', attempt: 1, conversation: said('s1', 's2') } as const

describe('the tool calls of a conversational worker', () => {
  it('are open from before until after, one at a time, and carry what was said', () => {
    const task = created(rulesWith()).when(start(true)).when(begin)
    expect(task.state.current).toMatchObject({ callOpen: true, calls: 1, conversation: said('s1') })
    expect(task.refusal(begin)).toBe('wrong_status')
    task.when(end)
    expect(task.state.current).toMatchObject({ callOpen: false, calls: 1, conversation: said('s1', 's2') })
    expect(task.refusal(end)).toBe('wrong_status')
    expect(task.when(begin).last('call.begun').call).toBe(2)
  })

  it('are for conversational workers, in an open attempt', () => {
    const task = created(rulesWith())
    expect(task.refusal(begin)).toBe('stale_attempt')
    expect(task.when(start()).refusal(begin)).toBe('bad_command')
    expect(task.refusal({ ...begin, attempt: 2 })).toBe('stale_attempt')
  })

  it('are not the only ones to keep what was said: so do looking, a case that cannot be read, and silence', () => {
    const task = created(rulesWith())
      .when(start(true))
      .when({ type: 'keep_conversation', attempt: 1, conversation: said('looked') })
    expect(task.state.current).toMatchObject({ conversation: said('looked'), calls: 0, callOpen: false })
    task.when({ ...submit(task.state, 'work'), raw: '{', conversation: said('bad case') } as TaskCommand)
    expect(task.state.current).toMatchObject({ conversation: said('bad case'), caseErrors: 1 })
    task.when({ type: 'report_quiet', attempt: 1, conversation: said('silent') })
    expect(task.state.current).toMatchObject({ conversation: said('silent'), reminded: true })
    task.when(begin)
    expect(task.refusal({ type: 'keep_conversation', attempt: 1, conversation: said('late') })).toBe('wrong_status')
    expect(
      created(rulesWith())
        .when(start())
        .refusal({ type: 'keep_conversation', attempt: 1, conversation: said('none') }),
    ).toBe('bad_command')
  })

  it('say what was used before them: cut off in the middle of one, an attempt has used that at least', () => {
    const usage = { inputTokens: 7, costUsd: 2 }
    const interrupt = { type: 'interrupt_attempt', attempt: 1, detail: 'crash' } as const
    const cut = created(rulesWith())
      .when(start(true))
      .when({ ...begin, usage })
    expect(cut.last('call.begun')).toMatchObject({ usage })
    expect(cut.when(interrupt).last('attempt.interrupted')).toEqual({ attempt: 1, detail: 'crash', worker: 'dev', usage })
    const between = created(rulesWith())
      .when(start(true))
      .when({ ...begin, usage })
      .when(end)
    expect(between.when(interrupt).last('attempt.interrupted')).toEqual({ attempt: 1, detail: 'crash' })
    const later = created(rulesWith())
      .when(start(true))
      .when({ ...begin, usage })
      .when(end)
      .when(begin)
    expect(later.when(interrupt).last('attempt.interrupted'), 'as of the latest').toEqual({ attempt: 1, detail: 'crash' })
  })

  it('and all that was said are forgotten with a reset', () => {
    const task = created(rulesWith({ panel: { mode: 'full', size: 1 } })).when(start(true))
    task.when({ ...submit(task.state, 'work'), conversation: said('s3') } as TaskCommand).when(checks(task.state))
    for (const seat of openSeats(task.state)) task.when(opine(task.state, seat, { accept: false }))
    task.when({ type: 'reset_task', by: 'ann', reason: 'fresh start' }).when(start(true))
    expect(task.state.current?.attempt).toBe(2)
    expect(task.state.current).not.toHaveProperty('conversation')
  })

  it('leave a conversation that goes on in the next attempt', () => {
    const task = created(rulesWith({ panel: { mode: 'full', size: 1 } })).when(start(true))
    task.when({ ...submit(task.state, 'work'), conversation: said('s3') } as TaskCommand)
    task.when(checks(task.state))
    for (const seat of openSeats(task.state)) task.when(opine(task.state, seat, { accept: false }))
    expect(task.state.status).toBe('todo')
    task.when(start(true))
    expect(task.state.current).toMatchObject({ attempt: 2, conversation: said('s3'), calls: 0, callOpen: false })
  })
})
