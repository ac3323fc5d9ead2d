/** Damages a real journal, its views and its objects in random ways; each must be found, with its place. Run: `npm run tamper [-- --count 1000 --seed 1]`. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkSignature, openSigner } from '../src/adapters/signing/key.ts'
import { openSqliteJournal } from '../src/adapters/sqlite/journal.ts'
import { makeCheckpoint, openCheckpoint } from '../src/engine/audit/checkpoint.ts'
import { engineViews } from '../src/engine/views/tasks.ts'
import { Dice } from '../src/testing/tamper/dice.ts'
import { makeHome } from '../src/testing/tamper/home.ts'
import { auditHome, mutations, type Trial, tryMutation } from '../src/testing/tamper/trial.ts'

const { values: flags } = parseArgs({
  options: { count: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' }, help: { type: 'boolean', short: 'h' } },
})
if (flags.help) {
  console.log(`npm run tamper [-- --count 1000 --seed 1]
Damages copies of a real journal, its views and its objects in random ways; each must be found, with its place.
  --count <n>  how many (default: 1000)
  --seed <n>   another number, other damage (default: 1)`)
  process.exit(0)
}
const count = Number(flags.count)
const folder = mkdtempSync(join(tmpdir(), 'assay-tamper-'))
try {
  const home = join(folder, 'home')
  mkdirSync(home)
  await makeHome(home)
  const journal = await openSqliteJournal({ path: join(home, 'assay.db'), views: engineViews })
  const signer = openSigner(join(folder, 'keys'))
  const made = await makeCheckpoint(journal, signer, Date)
  await journal.close()
  if (!made.ok) throw new Error(made.error)
  const kept = openCheckpoint(made.value.text, signer.publicKey, checkSignature)
  if (!kept.ok) throw new Error(kept.error)
  const untouched = await auditHome(home, kept.value)
  if (untouched.breaks.length > 0) throw new Error(`the untouched journal is said to be broken: ${JSON.stringify(untouched.breaks[0])}`)
  console.log(`a journal of ${untouched.events} events in ${untouched.streams} chains, ${untouched.objects} objects; seed ${flags.seed}`)

  const kinds = Object.keys(mutations)
  const trials: Trial[] = []
  for (let n = 0; n < count; n += 1) {
    const mutation = kinds[n % kinds.length] ?? ''
    trials.push(await tryMutation(home, join(folder, 'copy'), kept.value, mutation, new Dice(Number(flags.seed) * 1_000_003 + n)))
  }
  for (const kind of kinds) {
    const of = trials.filter(({ mutation }) => mutation === kind)
    const tally = (pick: (trial: Trial) => boolean) => `${of.filter(pick).length}/${of.length}`
    console.log(`${kind.padEnd(80)} found ${tally(({ found }) => found).padEnd(8)} named ${tally(({ named }) => named)}`)
  }
  const missed = trials.filter(({ found, named }) => !found || !named)
  for (const { mutation, what, report } of missed.slice(0, 10))
    console.error(`MISSED ${mutation}: ${what}; breaks: ${JSON.stringify(report.breaks.slice(0, 3))}`)
  const found = trials.filter((trial) => trial.found).length
  const named = trials.filter((trial) => trial.named).length
  console.log(`${trials.length} mutations, ${found} found, ${named} with their place named`)
  if (missed.length > 0 || trials.length === 0) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
