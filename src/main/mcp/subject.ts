import { realpath } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import type { Result } from '../../contract/errors.ts'
import type { BroughtSubject, NamedSubject } from '../../doors/mcp/world.ts'
import type { Engine } from '../../engine/engine.ts'
import { readSubject } from '../subjects/subjects.ts'

/** Takes what an agent names into the store: text, a page, or something below the project's folder and nothing else on the machine. */
export async function namedSubject(
  { text, path, url }: NamedSubject,
  folder: string,
  engine: Engine,
): Promise<Result<BroughtSubject, string>> {
  const found = path === undefined ? { ok: true as const, value: url ?? '-' } : await below(folder, path)
  if (!found.ok) return found
  const home = join(folder, '.assay')
  const stdin = text === undefined ? undefined : Buffer.from(text)
  const taken = await readSubject({ cwd: folder, home, what: found.value, diff: undefined, stdin, allowPrivate: false }, engine)
  if (!taken.ok) return { ok: false, error: taken.error.map(({ file, message }) => `${file}: ${message}`).join('; ') }
  const { name: _name, ...subject } = taken.value
  return { ok: true, value: subject }
}

/** The real place of a path, which must lie below the folder; what Assay keeps there is not to be handed out. */
async function below(folder: string, path: string): Promise<Result<string, string>> {
  const [root, real] = await Promise.all([realpath(folder), realpath(resolve(folder, path)).catch(() => undefined)])
  if (real === undefined) return { ok: false, error: `${path}: there is no such file or folder` }
  const [first] = relative(root, real).split(sep)
  if (first === '..' || first === '.assay' || resolve(root, relative(root, real)) !== real)
    return { ok: false, error: `${path} is not below the project’s folder` }
  return { ok: true, value: real }
}
