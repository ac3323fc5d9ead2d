import { z } from 'zod'
import { Severity } from '../notify/message.ts'
import { DurationOrZero } from './duration.ts'
import { EnvName } from './env-name.ts'

/** Where a notification goes. Addresses that are secrets are named by their environment variable. */
export const Channel = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('slack'),
    urlEnv: EnvName.describe('Environment variable that holds the incoming-webhook address.'),
  }),
  z.strictObject({
    kind: z.literal('pagerduty'),
    routingKeyEnv: EnvName.describe('Environment variable that holds the routing key.'),
  }),
  z.strictObject({
    kind: z.literal('webhook'),
    url: z
      .url({ protocol: /^https?$/, error: 'expected an http or https address' })
      .optional()
      .describe('Address that receives CloudEvents; or `urlEnv`.'),
    urlEnv: EnvName.optional().describe('Environment variable that holds the address; or `url`.'),
    secretEnv: EnvName.optional().describe('Environment variable that holds the signing secret (Standard Webhooks).'),
  }),
  z.strictObject({
    kind: z.literal('email'),
    host: z.string().min(1).describe('SMTP server.'),
    port: z.int().min(1).max(65535).default(587).describe('SMTP port.'),
    secure: z.boolean().default(false).describe('TLS from the first byte (port 465); otherwise STARTTLS where offered.'),
    from: z.string().min(1).describe('Sender.'),
    to: z.array(z.string().min(1)).min(1).max(50).describe('Recipients.'),
    userEnv: EnvName.optional().describe('Environment variable that holds the user name.'),
    passwordEnv: EnvName.optional().describe('Environment variable that holds the password.'),
  }),
  z.strictObject({ kind: z.literal('desktop') }),
  z.strictObject({ kind: z.literal('stderr') }),
])
export type Channel = z.infer<typeof Channel>

export const NotifyRule = z.strictObject({
  events: z
    .array(z.string().regex(/^([a-z_]+(\.[a-z_]+)*(\.\*)?|\*)$/, 'an event is named like `task.force_accepted`, `quality.gate.*` or `*`'))
    .min(1)
    .max(100)
    .describe('Events that are told: names, `noun.*`, or `*`.'),
  channels: z.array(z.string().min(1)).min(1).max(50).describe('Names of channels.'),
  severity: Severity.optional().describe('Least severity that is told; without it, every one.'),
  missions: z
    .array(z.string().min(1))
    .min(1)
    .max(100)
    .optional()
    .describe('Names of missions, or ids of single runs (`ship-it-2`), that the rule is for; without it, all of them.'),
  cooldown: DurationOrZero.default('0s').describe('Least time between two tellings of the same event about the same thing.'),
})
export type NotifyRule = z.infer<typeof NotifyRule>

/** Everything under `notify:` (SPEC §16). */
export const NotifySettings = z
  .strictObject({
    channels: z.record(z.string(), Channel).default({}).describe('Channels by name; using an undeclared name is an error.'),
    rules: z.array(NotifyRule).max(200).default([]).describe('Which events go to which channels.'),
    maxRetries: z
      .int()
      .min(0)
      .max(100)
      .default(10)
      .describe('Deliveries tried again, with growing pauses, before a notification is given up.'),
  })
  .prefault({})
