import type { Checkpoint } from '../../contract/attest/checkpoint.ts'
import { checkpointPayload } from '../../contract/attest/envelope.ts'
import type { Result } from '../../contract/errors.ts'
import { checkpointText, readCheckpoint, rootOf, signedText, sortedMarks } from '../../core/attest/checkpoint-text.ts'
import { JournalMark } from '../../core/attest/compare.ts'
import { preAuthEncoding } from '../../core/attest/pae.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Journal } from '../../ports/journal.ts'
import type { CheckSignature, Signer } from '../../ports/signer.ts'
import { walkJournal } from './walk.ts'

const signedBytes = (text: string): Uint8Array => preAuthEncoding(checkpointPayload, Buffer.from(text))

/** A signed text that says where every stream stands. A journal that does not hold together is not signed for. */
export async function makeCheckpoint(
  journal: Journal,
  signer: Signer,
  clock: Pick<Clock, 'now'>,
): Promise<Result<{ text: string; checkpoint: Checkpoint }, string>> {
  const { breaks } = await journal.verify()
  const mark = new JournalMark()
  const whole = await walkJournal(journal, (event) => mark.feed(event))
  if (breaks.length > 0 || !whole) {
    const [first] = breaks
    const where = first ? `: ${first.stream} at version ${first.version}, ${first.problem}` : ''
    return { ok: false, error: `the journal does not verify, so nothing is signed${where}. See assay audit verify` }
  }
  const streams = sortedMarks(mark.heads)
  const checkpoint: Checkpoint = {
    at: new Date(clock.now()).toISOString(),
    position: mark.position,
    events: mark.events,
    place: mark.place,
    root: rootOf(streams),
    streams,
    key: signer.publicKey,
  }
  const text = checkpointText(checkpoint)
  return { ok: true, value: { checkpoint, text: signedText(text, Buffer.from(signer.sign(signedBytes(text))).toString('base64')) } }
}

/** Reads a checkpoint that was signed with this key. One that was not is refused, whatever it says. */
export function openCheckpoint(whole: string, publicKey: string, check: CheckSignature): Result<Checkpoint, string> {
  const read = readCheckpoint(whole)
  if (!read.ok) return read
  const { checkpoint, text, signature } = read.value
  if (check(publicKey, signedBytes(text), Buffer.from(signature, 'base64'))) return { ok: true, value: checkpoint }
  const why =
    checkpoint.key === publicKey
      ? 'its text was changed after it was signed'
      : 'it was signed with another key; give the public key that you trust with --key'
  return { ok: false, error: `the signature of this checkpoint is not good: ${why}. It proves nothing and is not used` }
}
