import { chmodSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { either, type EventRow, type Mutation, names, type Scene } from './mutation.ts'

function overwrite(path: string, bytes: Uint8Array): void {
  chmodSync(path, 0o644)
  writeFileSync(path, bytes)
}

/** A name that no object has. */
function freshName({ dice, objects }: Scene): string {
  const hex = Array.from({ length: 62 }, () => '0123456789abcdef'[dice.below(16)]).join('')
  return `${dice.one(objects).slice(0, 2)}${hex}`
}

/** Damage to stored content. */
export const objectMutations: Readonly<Record<string, Mutation>> = {
  'object: byte flipped': ({ dice, objects, placeOf }) => {
    const hex = dice.one(objects)
    const bytes = readFileSync(placeOf(hex))
    const at = dice.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << dice.below(8))
    overwrite(placeOf(hex), bytes)
    return { what: hex, named: names.object(hex) }
  },
  'object: deleted': ({ dice, objects, placeOf }) => {
    const hex = dice.one(objects)
    rmSync(placeOf(hex))
    return { what: hex, named: names.object(hex) }
  },
  'object: truncated': ({ dice, objects, placeOf }) => {
    const hex = dice.one(objects)
    chmodSync(placeOf(hex), 0o644)
    truncateSync(placeOf(hex), dice.below(statSync(placeOf(hex)).size))
    return { what: hex, named: names.object(hex) }
  },
  'objects: swapped': ({ dice, objects, placeOf }) => {
    const [a, b] = dice.two(objects)
    const [bytesA, bytesB] = [readFileSync(placeOf(a)), readFileSync(placeOf(b))]
    overwrite(placeOf(a), bytesB)
    overwrite(placeOf(b), bytesA)
    return { what: `${a} and ${b}`, named: names.object(a, b) }
  },
  'object: duplicated under another name': (scene) => {
    const name = freshName(scene)
    writeFileSync(scene.placeOf(name), readFileSync(scene.placeOf(scene.dice.one(scene.objects))))
    return { what: name, named: names.object(name) }
  },
  'object: renamed': (scene) => {
    const [hex, name] = [scene.dice.one(scene.objects), freshName(scene)]
    renameSync(scene.placeOf(hex), scene.placeOf(name))
    return { what: hex, named: names.object(hex, name) }
  },
}

const ofPack = (pack: string, packed: readonly string[]) =>
  either(names.object(...packed), (found) => found.stream === `objects/packs/${basename(pack)}`)

/** Damage to files that hold many objects. */
export const packMutations: Readonly<Record<string, Mutation>> = {
  'pack: byte flipped': ({ dice, packs, packed }) => {
    const pack = dice.one(packs)
    const bytes = readFileSync(pack)
    const at = dice.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << dice.below(8))
    overwrite(pack, bytes)
    return { what: `${basename(pack)} at ${at}`, named: ofPack(pack, packed) }
  },
  'pack: truncated': ({ dice, packs, packed }) => {
    const pack = dice.one(packs)
    chmodSync(pack, 0o644)
    truncateSync(pack, dice.below(statSync(pack).size))
    return { what: basename(pack), named: ofPack(pack, packed) }
  },
  'pack: deleted': ({ dice, packs, packed }) => {
    const pack = dice.one(packs)
    rmSync(pack)
    return { what: basename(pack), named: ofPack(pack, packed) }
  },
}

function storesStill(file: string, { position, body }: EventRow): boolean {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return (db.prepare('SELECT body FROM events WHERE position = ?').get(position) as { body: string } | undefined)?.body === body
  } catch (error) {
    if (error instanceof Error) return false
    throw error
  } finally {
    db.close()
  }
}

/** Damage to the journal's file as bytes; the database is closed by then. */
export const fileMutations: Readonly<Record<string, Mutation>> = {
  'file: truncated': ({ home, dice, db }) => {
    db.close()
    const file = join(home, 'assay.db')
    truncateSync(file, dice.below(statSync(file).size))
    return { what: 'assay.db', named: either(names.journal, (found) => found.position !== null || found.stream.startsWith('view ')) }
  },
  'file: deleted': ({ home, db }) => {
    db.close()
    rmSync(join(home, 'assay.db'))
    return { what: 'assay.db', named: names.journal }
  },
  'file: a byte of an event flipped': ({ home, dice, db, events }) => {
    db.close()
    const file = join(home, 'assay.db')
    const event = dice.one(events)
    const bytes = readFileSync(file)
    const prefix = event.body.slice(0, 60)
    // Pages keep remains of rows that moved; flipping a byte there changes nothing that is stored.
    for (let at = bytes.indexOf(prefix); at >= 0; at = bytes.indexOf(prefix, at + 1)) {
      const damaged = Buffer.from(bytes)
      const index = at + dice.below(prefix.length)
      damaged[index] = (damaged[index] ?? 0) ^ (1 << dice.below(7))
      writeFileSync(file, damaged)
      if (!storesStill(file, event)) return { what: `position ${event.position}`, named: either(names.event(event), names.journal) }
    }
    throw new Error('the event is not in the file')
  },
}
