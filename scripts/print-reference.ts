import { mkdirSync, writeFileSync } from 'node:fs'
import { referencePages } from './reference/pages.ts'

/** Writes docs/reference/ from the schemas. */
const folder = new URL('../docs/reference/', import.meta.url)
mkdirSync(folder, { recursive: true })
for (const [name, text] of Object.entries(referencePages())) writeFileSync(new URL(name, folder), text)
