import { z } from 'zod'

const Hash = z.string().regex(/^[0-9a-f]{64}$/, 'a hash is 64 hex digits')

/** Where one stream stood: its version and the hash of its event at that version. */
export const StreamMark = z.strictObject({ stream: z.string().min(1), version: z.int().positive(), hash: Hash })
export type StreamMark = z.infer<typeof StreamMark>

/**
 * Where a whole journal stood at one moment. Kept somewhere else and signed, it shows later whether the journal was cut, rewritten or
 * put back to an older copy.
 */
export const Checkpoint = z.strictObject({
  at: z.string().describe('When it was made, ISO 8601 UTC.'),
  position: z.int().nonnegative().describe('Position of the latest event.'),
  events: z.int().nonnegative().describe('How many events there were.'),
  place: Hash.describe('End of the chain over all events in the order of their positions.'),
  root: Hash.describe('Hash over the sorted heads of all streams.'),
  streams: z.array(StreamMark).describe('The head of every stream, sorted by name.'),
  key: z.string().describe('Public key of whoever signed it: DER (SPKI), base64.'),
})
export type Checkpoint = z.infer<typeof Checkpoint>
