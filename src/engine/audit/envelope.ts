import { Envelope, inTotoPayload } from '../../contract/attest/envelope.ts'
import { Statement } from '../../contract/attest/statement.ts'
import { canonicalJson } from '../../contract/canonical.ts'
import type { Result } from '../../contract/errors.ts'
import { preAuthEncoding } from '../../core/attest/pae.ts'
import { repeatedKey } from '../../core/attest/repeated-key.ts'
import type { CheckSignature, Signer } from '../../ports/signer.ts'

/** A statement, signed. */
export function sealStatement(statement: Statement, signer: Signer): Envelope {
  const payload = Buffer.from(canonicalJson(statement))
  const signature = Buffer.from(signer.sign(preAuthEncoding(inTotoPayload, payload)))
  return {
    payloadType: inTotoPayload,
    payload: payload.toString('base64'),
    signatures: [{ keyid: signer.keyid, sig: signature.toString('base64') }],
  }
}

/** Reads an attestation with the public key alone. The signature is looked at before anything that it says. */
export function openStatement(text: string, publicKey: string, check: CheckSignature): Result<Statement, string> {
  const envelope = parsed(text)
  if (!envelope.ok) return envelope
  const { payloadType, payload, signatures } = envelope.value
  const bytes = Buffer.from(payload, 'base64')
  const signed = preAuthEncoding(payloadType, bytes)
  if (!signatures.some(({ sig }) => check(publicKey, signed, Buffer.from(sig, 'base64'))))
    return {
      ok: false,
      error:
        'the signature is not good: the file was changed after it was signed, or it was signed with another key (--key names the one to check with)',
    }
  if (payloadType !== inTotoPayload) return { ok: false, error: `this is signed, but it is no attestation: its type is ${payloadType}` }
  const read = json(bytes.toString())
  const statement = read.ok ? Statement.safeParse(read.value) : undefined
  if (statement?.success) return { ok: true, value: statement.data }
  const issue = statement?.error.issues[0]
  const why = issue ? `${issue.path.join('.')}: ${issue.message}` : read.ok ? '' : read.error
  return { ok: false, error: `this is signed, but it is no test result in an in-toto statement${why === '' ? '' : ` (${why})`}` }
}

function parsed(text: string): Result<Envelope, string> {
  const read = json(text)
  const envelope = read.ok ? Envelope.safeParse(read.value) : undefined
  if (envelope?.success) return { ok: true, value: envelope.data }
  const why = read.ok ? '' : ` (${read.error})`
  return { ok: false, error: `this is no attestation: a DSSE envelope with payloadType, payload and signatures is expected${why}` }
}

function json(text: string): Result<unknown, string> {
  try {
    const value = JSON.parse(text) as unknown
    const twice = repeatedKey(text)
    return twice === undefined ? { ok: true, value } : { ok: false, error: `the key ${JSON.stringify(twice)} stands in it twice` }
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, error: error.message }
    throw error
  }
}
