import { z } from 'zod'
import { Policy } from '../policy.ts'

export const missionEvents = {
  'mission.started': z.strictObject({
    mission: z.string(),
    name: z.string(),
    tasks: z.array(z.strictObject({ id: z.string(), title: z.string() })),
    policy: z.string(),
    qualityThreshold: z.number().optional(),
  }),
  'mission.finished': z.strictObject({ mission: z.string(), outcome: z.enum(['clean', 'failed', 'inconclusive']), detail: z.string() }),
  'policy.recorded': z.strictObject({ digest: z.string(), policy: Policy }),
}
