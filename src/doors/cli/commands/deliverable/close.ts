import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { handCard } from '../../../../engine/deliverables/export.ts'
import type { App, ExitCode } from '../../app.ts'
import { oneLine, type Output } from '../../output.ts'
import type { ConfigFlags } from '../../project.ts'
import { findCard, withCard } from './inbox.ts'
import { say, withOwner } from './owner.ts'
import { cardWords, headWords } from './words.ts'

/** `assay inbox handle|dismiss <card>`: the owner has dealt with it, or does not want to. */
export async function closeCommand(
  app: App,
  output: Output,
  wanted: string,
  state: 'handled' | 'dismissed',
  flags: ConfigFlags & { reason?: string },
): Promise<ExitCode> {
  return withOwner(app, output, flags, async (engine, by) => {
    const card = findCard(await engine.inbox(), wanted)
    if (typeof card === 'string') return say(output, card)
    const closed = await engine.closeCard(card.card, { state, by, reason: flags.reason ?? '' })
    if (!closed.ok) return say(output, closed.error.message)
    if (output.json) output.jsonLine({ kind: 'card', card: card.card, state, by })
    else output.data(`${card.card}: ${state} by ${by}`)
    return 0
  })
}

/** `assay inbox export <card> --out <folder>`: the bytes that were reviewed, held against their digests. */
export async function exportCommand(app: App, output: Output, wanted: string, flags: ConfigFlags & { out: string }): Promise<ExitCode> {
  const folder = resolve(output.terminal.cwd, flags.out)
  if (!isFree(folder)) return say(output, `${flags.out} is there and is not an empty folder; name another one`)
  return withCard(app, output, wanted, flags, async (engine, card) => {
    const exported = await handCard(engine, card, folder)
    if (!exported.ok) return say(output, exported.error.message)
    if (output.json)
      output.jsonLine({
        ...{ kind: 'exported', card: card.card, folder, digest: card.digest, flag: card.flag },
        ...(card.note && { note: card.note }),
        files: exported.value,
      })
    else {
      for (const { path } of exported.value) output.data(join(flags.out, path))
      output.note(`${exported.value.length} of the card ${card.card}: ${cardWords(card)}  ${headWords(card)}, content ${card.digest}`)
      if (card.note) output.note(`What ${oneLine(card.note.by, 60)} says of it on the card was not reviewed and is not among them.`)
    }
    return 0
  })
}

/** A restore makes a folder hold the snapshot and nothing else: what is there already would be gone. */
function isFree(folder: string): boolean {
  return !existsSync(folder) || (lstatSync(folder).isDirectory() && readdirSync(folder).length === 0)
}
