import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Benchmarks in the order in which they run. Each is a script of its own; flags are passed on to all of them. */
const benches = ['journal', 'audit', 'snapshots', 'gate', 'missions', 'hands', 'models', 'workers', 'http', 'startup']

const names = process.argv.slice(2).filter((argument) => benches.includes(argument))
const flags = process.argv.slice(2).filter((argument) => !benches.includes(argument))
const failed: string[] = []
for (const name of names.length > 0 ? names : benches) {
  const script = join(import.meta.dirname, `${name}.ts`)
  if (!existsSync(script)) throw new Error(`bench: ${script} does not exist`)
  console.log(`\n== ${name}`)
  const { status, signal } = spawnSync(process.execPath, [script, ...flags], { stdio: 'inherit' })
  if (status !== 0) failed.push(`${name} (${signal ?? status})`)
}
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`)
  process.exitCode = 1
}
