import type { Result } from '../../contract/errors.ts'
import type { Engine } from '../../engine/engine.ts'
import { judgesOutside } from '../../engine/outside/who.ts'
import { ownerAuthority, personIsHere, reviewerAuthority, reviewerToken } from '../authority.ts'
import { speaksForOwner } from '../speaks-for-owner.ts'
import { type Judging, printedBy } from './tokens.ts'

/** That somebody may judge is the owner's to say: at a terminal, by the owner's token, or by a token that only the owner can have printed. */
export function judgingBy(engine: Engine, env: NodeJS.ProcessEnv): Judging {
  const owner = async (): Promise<Result<null, string>> => {
    const shown = ownerAuthority({ env, person: personIsHere() })
    if (!shown.ok) return { ok: false, error: shown.message }
    return (await speaksForOwner(engine, shown.token)) ? { ok: true, value: null } : { ok: false, error: notTheOwner }
  }
  return {
    mayJudge: (agent) => judgesOutside(engine.parts.rules.policy, agent),
    made: async (agent) => {
      const spoken = await owner()
      return spoken.ok ? { ok: true, value: reviewerToken(env, agent) } : spoken
    },
    unproven: async (agent, token) => {
      const spoken = await owner()
      if (spoken.ok) return undefined
      const { ASSAY_OWNER_TOKEN: _owner, ...rest } = env
      const shown = reviewerAuthority({ ...rest, ASSAY_REVIEWER_TOKEN: token }, agent)
      if (shown.ok && (await speaksForOwner(engine, shown.token))) return undefined
      return `${spoken.error}; or the variable holds what the owner prints with ${printedBy(agent)}`
    },
  }
}

const notTheOwner = "the token is not that of this project's owner"
