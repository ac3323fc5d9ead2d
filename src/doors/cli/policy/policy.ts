import type { App, ExitCode } from '../app.ts'
import { say, withOwner } from '../commands/deliverable/owner.ts'
import { withEngine } from '../commands/task.ts'
import { oneLine, type Output } from '../output.ts'
import type { ConfigFlags } from '../project.ts'
import { policyWords } from './words.ts'

/** `assay policy show`: whether the owner stands behind the policy in force, since when, and what differs from the last that was accepted. */
export async function policyShowCommand(app: App, output: Output, flags: ConfigFlags): Promise<ExitCode> {
  return withEngine(app, output, flags, async (engine) => {
    const standing = await engine.policyStanding()
    if (output.json) output.jsonLine({ kind: 'policy', ...standing })
    else {
      output.data(`policy    ${standing.digest}`)
      output.data(`standing  ${output.paint(standing.accepted ? 'green' : 'yellow', policyWords(standing))}`)
      for (const difference of standing.differences) output.data(`differs   ${oneLine(difference, 400)}`)
    }
    if (!standing.accepted)
      output.note('What is decided under it does not reach the owner. Where it is as it should be, the owner says: assay policy accept')
    return standing.accepted ? 0 : 3
  })
}

/** `assay policy accept`: the owner stands behind the policy in force, flags and variables of this command included. */
export async function policyAcceptCommand(app: App, output: Output, flags: ConfigFlags & { reason?: string }): Promise<ExitCode> {
  return withOwner(app, output, flags, async (engine, by) => {
    const { digest } = engine.parts.rules
    const accepted = await engine.standBehindPolicy({ by, reason: flags.reason ?? '' })
    if (!accepted.ok) return say(output, accepted.error.message)
    const { differences } = accepted.value
    if (output.json) output.jsonLine({ kind: 'policy accepted', digest, by, differences })
    else {
      output.data(`${digest}: accepted by ${by}`)
      for (const difference of differences) output.data(`  ${oneLine(difference, 400)}`)
    }
    output.note('What was decided under it may leave now: assay deliverable send <id>')
    return 0
  })
}
