import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { eventTable, type FrozenEvent } from '../src/contract/events/frozen.ts'

/**
 * Writes the table of events that a test holds the manifest to. An event that was there keeps its shape under its version:
 * a changed shape needs a higher version and an upgrade on read. `--unreleased` allows it for shapes that no release has stored yet.
 */
const file = new URL('../src/contract/events/frozen.json', import.meta.url)
const before: Record<string, FrozenEvent> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
const now = eventTable()
const broken = Object.keys(before).filter(
  (type) => !now[type] || (now[type].shape !== before[type]?.shape && now[type].v <= (before[type]?.v ?? 0)),
)
if (broken.length > 0 && !process.argv.includes('--unreleased')) {
  console.error(`Not written. Changed without a new version, or gone: ${broken.join(', ')}`)
  process.exitCode = 1
} else {
  writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`)
  console.error(`${Object.keys(now).length} events frozen`)
}
