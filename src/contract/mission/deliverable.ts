import { z } from 'zod'

const id = z.string().min(1).max(200).optional().describe("Its name; without one, the task's.")

/** What a finished task hands to a person: a text, file, folder, diff or URL. */
export const DeliverableSpec = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), id }),
  z.strictObject({ kind: z.literal('file'), id, path: z.string().min(1).describe('Path inside the workspace.') }),
  z.strictObject({ kind: z.literal('folder'), id, path: z.string().min(1).describe('Path inside the workspace.') }),
  z.strictObject({ kind: z.literal('diff'), id }),
  z.strictObject({
    kind: z.literal('url'),
    id,
    url: z.url({ protocol: /^https?$/, error: 'expected an http or https address' }).describe('Address.'),
    allowPrivate: z.boolean().optional().describe('Whether the address may be a private one.'),
  }),
])
export type DeliverableSpec = z.infer<typeof DeliverableSpec>
