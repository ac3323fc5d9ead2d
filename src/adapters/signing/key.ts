import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID, sign, verify } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { CheckSignature, Signer } from '../../ports/signer.ts'

const privateName = 'signing-key.pem'
const publicName = 'signing-key.pub'

/** A key that cannot be used: never a statement about what it was to sign or check. */
export class KeyFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'KeyFault'
  }
}

/** The owner's Ed25519 key in this folder, made on first use, readable by the owner alone. */
export function openSigner(folder: string): Signer {
  const path = join(folder, privateName)
  const pem = readIfThere(path) ?? makeKey(folder)
  refuseReadableByOthers(path)
  const key = privateKeyOf(pem, path)
  const publicKey = derOf(createPublicKey(key)).toString('base64')
  return { publicKey, keyid: keyIdOf(publicKey), sign: (bytes) => sign(null, bytes, key) }
}

/** The public half of the owner's key in this folder, DER in base64; undefined where none was made yet. */
export function ownPublicKey(folder: string): string | undefined {
  const pem = readIfThere(join(folder, privateName))
  return pem === undefined ? undefined : derOf(createPublicKey(privateKeyOf(pem, join(folder, privateName)))).toString('base64')
}

export function keyIdOf(publicKey: string): string {
  return createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('hex')
}

/** The public key as others exchange it. */
export function publicPem(publicKey: string): string {
  return createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
    .export({ format: 'pem', type: 'spki' })
    .toString()
}

/** A public key as somebody hands it over: PEM, or the base64 of its DER. Undefined where it is no Ed25519 key. */
export function readPublicKey(text: string): string | undefined {
  const given = text.trim()
  try {
    const key = given.startsWith('-----BEGIN')
      ? createPublicKey(given)
      : createPublicKey({ key: Buffer.from(given, 'base64'), format: 'der', type: 'spki' })
    return key.asymmetricKeyType === 'ed25519' ? derOf(key).toString('base64') : undefined
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}

export const checkSignature: CheckSignature = (publicKey, bytes, signature) => {
  const known = readPublicKey(publicKey)
  if (known === undefined) return false
  return verify(null, bytes, createPublicKey({ key: Buffer.from(known, 'base64'), format: 'der', type: 'spki' }), signature)
}

const derOf = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' })

function privateKeyOf(pem: string, path: string): KeyObject {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch (error) {
    throw new KeyFault(`${path} holds no private key that can be read; move it away, and the next signature makes a new one`, {
      cause: error,
    })
  }
  throw new KeyFault(`${path} is no Ed25519 key; move it away, and the next signature makes a new one`)
}

/** A key that others could read signs for others. */
function refuseReadableByOthers(path: string): void {
  if (process.platform === 'win32') return
  if ((statSync(path).mode & 0o077) !== 0)
    throw new KeyFault(`${path} can be read by others, so nothing is signed with it: chmod 600 ${path}`)
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Written whole under another name first: of two processes that make one, the first wins and the other takes it. */
function makeKey(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  if (!place(folder, privateName, pem, 0o600)) return readFileSync(join(folder, privateName), 'utf8')
  const shown = join(folder, publicName)
  rmSync(shown, { force: true })
  place(folder, publicName, publicKey.export({ format: 'pem', type: 'spki' }).toString(), 0o644)
  return pem
}

function place(folder: string, name: string, text: string, mode: number): boolean {
  const draft = join(folder, `.${name}.${randomUUID()}`)
  const file = openSync(draft, 'wx', mode)
  try {
    writeSync(file, text)
    fsyncSync(file)
    chmodSync(draft, mode)
    linkSync(draft, join(folder, name))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    closeSync(file)
    rmSync(draft, { force: true })
  }
}
