import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { uiFile } from './ui.ts'

function pages(): string {
  const root = mkdtempSync(join(tmpdir(), 'assay-ui-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const folder = join(root, 'ui')
  mkdirSync(join(folder, 'assets'), { recursive: true })
  writeFileSync(join(root, 'secret.txt'), 'secret')
  writeFileSync(join(folder, 'index.html'), '<p>app</p>')
  writeFileSync(join(folder, 'assets', 'a.js'), 'let a')
  symlinkSync(join(root, 'secret.txt'), join(folder, 'link.txt'))
  return folder
}

const text = ({ body }: { body: string | Uint8Array }) => Buffer.from(body as string).toString()

describe('uiFile', () => {
  it('serves files, and the application for its own paths', async () => {
    const folder = pages()
    const script = await uiFile(folder, '/assets/a.js')
    expect([script.status, text(script), script.headers['content-type']]).toEqual([200, 'let a', 'text/javascript; charset=utf-8'])
    for (const path of ['/', '/index.html', '/inbox/card-1']) expect(text(await uiFile(folder, path)), path).toBe('<p>app</p>')
    expect(script.headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect((await uiFile(folder, '/assets/none.js')).status).toBe(404)
  })

  it('gives nothing that lies elsewhere', async () => {
    const folder = pages()
    for (const path of [
      '/../secret.txt',
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '/link.txt',
      '/assets/../../secret.txt',
      '/%00.js',
      '/%zz.js',
    ])
      expect(text(await uiFile(folder, path)), path).not.toContain('secret')
  })

  it('says so where the pages were not built', async () => {
    const [front, other] = [await uiFile(undefined, '/'), await uiFile(undefined, '/x')]
    expect([front.status, other.status]).toEqual([200, 404])
    expect(text(front)).toContain('/v1/openapi.json')
  })
})
