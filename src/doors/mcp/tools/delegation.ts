import { z } from 'zod'
import { beginDelegation, DelegateCall, DelegateResult, Delegation, delegationStanding } from '../../../engine/delegation/delegate.ts'
import { answer, type Answer, type Call, reads, refuse, refusedBy, tool, WaitSeconds, writes } from '../tool.ts'
import { untilOver } from '../waiting.ts'
import { noTask, ownTask } from './own.ts'

const Standing = z.strictObject({
  delegation: z.string().describe('Handle for get_delegation.'),
  status: z.enum(['running', 'ended']),
  results: z.array(DelegateResult).describe('Whatever has ended, in the order given; all of it once the status is `ended`.'),
})

async function standing(call: Call<unknown>, delegation: string, seconds: number): Promise<Answer<z.infer<typeof Standing>>> {
  const { engine, session, stop } = call
  const found = await untilOver(
    { engine, world: session.world, stop },
    seconds,
    () => delegationStanding(engine, delegation),
    (now) => now === undefined || now.open === 0,
  )
  if (found?.by !== session.agent) return refuse('not_found', `you handed down nothing called ${delegation}`)
  const { open, results } = found
  const ended = results.filter(({ status }) => open === 0 || status !== 'held')
  return answer({ delegation, status: open === 0 ? 'ended' : 'running', results: ended })
}

export const delegationTools = [
  tool({
    name: 'delegate_task',
    role: 'worker',
    title: 'Hand tasks down',
    description:
      'Hands one task (`goal`) or several (`tasks`) to other agents. Each goes through the whole rework loop; where acceptance criteria were given the result has a `judge` field, PASS only for work accepted clean. Answers with the results, or after a while with `running`: then ask get_delegation.',
    input: z.strictObject({
      ...Delegation.partial().shape,
      tasks: z.array(Delegation).min(1).max(100).optional().describe('Several tasks, each with its own criteria, instead of `goal`.'),
      parent: z.string().min(1).max(200).optional().describe('The task of yours that this is for.'),
      waitSeconds: WaitSeconds,
    }),
    output: Standing,
    hints: writes,
    handle: async (call) => {
      const { session, engine, input } = call
      const { parent, waitSeconds, ...asked } = input
      const parsed = DelegateCall.safeParse(asked)
      if (!parsed.success)
        return refuse('bad_command', 'give either `goal` (with context, acceptance_criteria, to) or `tasks` (with context)')
      if (parent !== undefined && !(await ownTask(engine, session, parent))) return noTask(parent)
      const begun = await beginDelegation(engine, parsed.data, { by: session.agent, ...(parent !== undefined && { parent }) })
      if (!begun.ok) return refusedBy(begun.error)
      session.world.workOn(begun.value.mission)
      return standing(call, begun.value.mission, waitSeconds)
    },
  }),
  tool({
    name: 'get_delegation',
    role: 'worker',
    title: 'Hear of what you handed down',
    description: 'What came of tasks that you handed down. Waits for all of them as long as you say.',
    input: z.strictObject({ delegation: z.string().min(1).max(200), waitSeconds: WaitSeconds }),
    output: Standing,
    hints: reads,
    handle: async (call) => {
      const { delegation, waitSeconds } = call.input
      const found = await delegationStanding(call.engine, delegation)
      if (found?.by !== call.session.agent) return refuse('not_found', `you handed down nothing called ${delegation}`)
      if (found.open > 0) call.session.world.workOn(delegation)
      return standing(call, delegation, waitSeconds)
    },
  }),
]
