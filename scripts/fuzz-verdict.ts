import { parseArgs } from 'node:util'
import { readReply } from '../src/core/verdict/read.ts'
import { fuzzReader } from '../src/testing/verdict-fuzz.ts'

/** Fuzzes the reader of judges' replies and says how many forged replies passed. Exit code 1 unless none did. */
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000000' }, seed: { type: 'string', default: String(Date.now() % 2 ** 31) } },
})
const runs = Number(values.runs)
const seed = Number(values.seed)
if (!Number.isSafeInteger(runs) || runs < 1 || !Number.isSafeInteger(seed)) {
  console.error('usage: fuzz-verdict.ts [--runs n] [--seed n]')
  process.exit(2)
}

const outcome = fuzzReader(readReply, runs, seed)
console.log(
  `runs ${outcome.runs}  seed ${seed}  honest accepts ${outcome.accepts - outcome.falsePasses.length}  unreadable ${outcome.unreadable}`,
)
console.log(`false passes ${outcome.falsePasses.length}`)
for (const reply of outcome.falsePasses.slice(0, 5)) console.log(JSON.stringify(reply))
// A run in which no honest reply was accepted never reached the reader.
process.exitCode = outcome.falsePasses.length === 0 && outcome.accepts > 0 ? 0 : 1
