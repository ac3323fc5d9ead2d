import { mkdirSync, writeFileSync } from 'node:fs'
import { referenceMarkdown } from '../src/contract/config/knobs/reference.ts'

/** Writes docs/reference/configuration.md from the schemas. */
const folder = new URL('../docs/reference/', import.meta.url)
mkdirSync(folder, { recursive: true })
writeFileSync(new URL('configuration.md', folder), referenceMarkdown())
