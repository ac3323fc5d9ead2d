import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../../engine/engine.ts'
import type { Project } from '../../../engine/project.ts'
import type { App } from '../app.ts'

/** A copy of the journal in which somebody has hidden that a review was waived, and what verification says to it. */
export async function tamperedCopy(app: App, folder: string, project: Project): Promise<Awaited<ReturnType<Engine['verify']>>> {
  const copy = join(folder, 'tampered')
  mkdirSync(join(copy, '.assay'), { recursive: true })
  writeFileSync(join(copy, 'assay.yaml'), readFileSync(join(folder, 'assay.yaml')))
  const journal = readFileSync(join(folder, '.assay', 'assay.db'))
  const words = Buffer.from('the menu goes to print today')
  for (let at = journal.indexOf(words); at >= 0; at = journal.indexOf(words, at + 1)) journal.write('it passed two reviews today!', at)
  writeFileSync(join(copy, '.assay', 'assay.db'), journal)
  const engine = await app.open({ folder: copy, project, create: false })
  if (!engine) throw new Error('the copy has no journal')
  try {
    return await engine.verify()
  } finally {
    await engine.close()
  }
}
