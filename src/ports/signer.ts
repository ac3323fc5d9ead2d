/** Signs with the key of this machine's owner. */
export interface Signer {
  /** DER (SPKI), base64: what others check with. */
  publicKey: string
  /** Short name of the key: the sha256 of the public key, hex. */
  keyid: string
  sign(bytes: Uint8Array): Uint8Array
}

/** Whether a signature over these bytes was made with the private half of this public key. False for anything that cannot be read. */
export type CheckSignature = (publicKey: string, bytes: Uint8Array, signature: Uint8Array) => boolean
