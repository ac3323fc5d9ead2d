import { z } from 'zod'

const Base64 = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, 'this is not base64')

/** A signed payload as DSSE has it. Others write envelopes too: fields that we do not know are left alone. */
export const Envelope = z.looseObject({
  payloadType: z.string().min(1),
  payload: Base64,
  signatures: z
    .array(z.looseObject({ keyid: z.string().optional(), sig: Base64 }))
    .min(1)
    .max(100),
})
export type Envelope = z.infer<typeof Envelope>

/** What a DSSE payload is that holds an in-toto statement. */
export const inTotoPayload = 'application/vnd.in-toto+json'
/** What is signed of a checkpoint, so that no other signed text can be taken for one. */
export const checkpointPayload = 'text/vnd.assay.checkpoint.v1'
