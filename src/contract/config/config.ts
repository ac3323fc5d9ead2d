import { z } from 'zod'
import { Agents, Brains } from '../agent.ts'
import { CheckEntry } from '../check.ts'
import { DurationOrZero } from './duration.ts'
import { DelegateSettings } from './delegate.ts'
import { GateSettings, InboxSettings } from './gate.ts'
import { HookSettings } from './hook.ts'
import { LimitSettings } from './limits.ts'
import { NotifySettings } from './notify.ts'
import { ReviewSettings } from './review.ts'
import { SlaSettings } from './sla.ts'

/** `assay.yaml` (SPEC §18). Every default stands here, next to its description, and nowhere else. */
export const Config = z.strictObject({
  $schema: z.string().optional().describe('Address of the JSON Schema, for editors; not read.'),
  version: z.literal(1).default(1).describe('Version of this format.'),
  brains: Brains.default({}).describe('What does the thinking, by name. Brains that nothing uses are not opened.'),
  agents: Agents.default({}).describe('The organisation, by name.'),
  review: ReviewSettings.describe('Who reviews, how, and what comes of it.'),
  checks: z.array(CheckEntry).max(200).default([]).describe('Checks that run for every task, before its own.'),
  delegate: DelegateSettings.describe('Tasks that agents hand down.'),
  gate: GateSettings.describe('What stands between a deliverable and a person.'),
  inbox: InboxSettings.describe("The owner's inbox."),
  hook: HookSettings.describe('What happens when a coding agent says that it is done.'),
  sla: SlaSettings.describe('Deadlines.').meta({ aliases: ['settings.sla'] }),
  notify: NotifySettings.describe('Notifications.'),
  chrome: z
    .string()
    .min(1)
    .optional()
    .describe('Program of the Chromium that browser checks use; without it, `ASSAY_CHROME` or the usual places.'),
  concurrency: z.int().min(1).max(1024).default(4).describe('Tasks that run at once.'),
  stopGrace: DurationOrZero.default('10s').describe('How long a clean stop lets open attempts finish.'),
  limits: LimitSettings.describe('The most that is taken of anything.'),
})
export type Config = z.infer<typeof Config>
