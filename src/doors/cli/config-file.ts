import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** `assay.yaml` here or in the nearest folder above; null where there is none. */
export function configAbove(from: string): string | null {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const file = join(folder, 'assay.yaml')
    if (existsSync(file)) return file
    if (dirname(folder) === folder) return null
  }
}
