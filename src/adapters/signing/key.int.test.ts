import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkSignature, keyIdOf, openSigner, ownPublicKey, publicPem, readPublicKey } from './key.ts'

function keys(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-keys-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'assay')
}

const bytes = Buffer.from('what was decided')

describe('the signing key', () => {
  it('is made on first use, for its owner alone, and stays the same', () => {
    const folder = keys()
    expect(ownPublicKey(folder)).toBeUndefined()
    const signer = openSigner(folder)
    expect(statSync(join(folder, 'signing-key.pem')).mode & 0o777).toBe(0o600)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(readdirSync(folder).sort()).toEqual(['signing-key.pem', 'signing-key.pub'])
    expect(readPublicKey(readFileSync(join(folder, 'signing-key.pub'), 'utf8'))).toBe(signer.publicKey)
    expect(openSigner(folder).publicKey).toBe(signer.publicKey)
    expect(ownPublicKey(folder)).toBe(signer.publicKey)
    expect(signer.keyid).toBe(keyIdOf(signer.publicKey))
  })

  it('is one key, however many processes make it at once', async () => {
    const folder = keys()
    const script = `const { openSigner } = await import(${JSON.stringify(join(import.meta.dirname, 'key.ts'))});
      console.log(openSigner(process.argv[1]).publicKey)`
    const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, folder])
    const printed = await Promise.all(Array.from({ length: 4 }, start))
    expect(new Set(printed.map(({ stdout }) => stdout.trim()))).toEqual(new Set([ownPublicKey(folder)]))
    expect(readdirSync(folder).sort()).toEqual(['signing-key.pem', 'signing-key.pub'])
  })

  it.skipIf(process.platform === 'win32')('is not used when others can read it', () => {
    const folder = keys()
    openSigner(folder)
    chmodSync(join(folder, 'signing-key.pem'), 0o644)
    expect(() => openSigner(folder)).toThrow('can be read by others')
  })

  it.each([
    ['garbage', 'no key'],
    [
      'a key of another kind',
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    ],
  ])('is refused, and left alone, where the file holds %s', (_what, text) => {
    const folder = keys()
    openSigner(folder)
    writeFileSync(join(folder, 'signing-key.pem'), text)
    expect(() => openSigner(folder)).toThrow('signing-key.pem')
    expect(readFileSync(join(folder, 'signing-key.pem'), 'utf8')).toBe(text)
  })
})

describe('a signature', () => {
  it('is good for its key and its bytes, and for nothing else', () => {
    const [own, other] = [openSigner(keys()), openSigner(keys())]
    const signature = own.sign(bytes)
    expect(checkSignature(own.publicKey, bytes, signature)).toBe(true)
    expect(checkSignature(publicPem(own.publicKey), bytes, signature)).toBe(true)
    expect(checkSignature(other.publicKey, bytes, signature)).toBe(false)
    expect(checkSignature(own.publicKey, Buffer.from('what was not'), signature)).toBe(false)
    expect(checkSignature(own.publicKey, bytes, signature.slice(1))).toBe(false)
    for (const bad of ['', 'garbage', '-----BEGIN PUBLIC KEY-----\n']) expect(checkSignature(bad, bytes, signature)).toBe(false)
  })
})
