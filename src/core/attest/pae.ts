/**
 * The bytes that a DSSE signature covers: type and payload, each with its length, so that no other pair shares them.
 */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Uint8Array {
  const encoder = new TextEncoder()
  const type = encoder.encode(payloadType)
  const head = encoder.encode(`DSSEv1 ${type.length} `)
  const middle = encoder.encode(` ${payload.length} `)
  const bytes = new Uint8Array(head.length + type.length + middle.length + payload.length)
  let at = 0
  for (const part of [head, type, middle, payload]) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
