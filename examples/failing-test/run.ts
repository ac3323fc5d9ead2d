/**
 * Runs the example with a model on loopback, in a temporary folder: `npx node examples/failing-test/run.ts [--keep]`.
 * No key and no network are needed; git, the tests, the worktree and the merge are real.
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { puppet } from '../../src/testing/model-server/puppet.ts'
import { startModelServer } from '../../src/testing/model-server/server.ts'
import { play } from './play.ts'
import { assayIn, git, stageRepository } from './rehearse.ts'

const { values: flags } = parseArgs({ options: { keep: { type: 'boolean', default: false } } })
const folder = await realpath(await mkdtemp(join(tmpdir(), 'assay-failing-test-')))
const rehearsal = { folder, env: { ...process.env, HOME: folder } as Record<string, string> }
const server = await startModelServer(puppet(play))
const model = { kind: 'model', provider: 'openai-compatible', baseURL: server.baseURL('openai-compatible') }
try {
  await stageRepository(rehearsal, { brains: { hands: { ...model, model: 'worker' }, eyes: { ...model, model: 'judge' } } })
  const { code, stdout, stderr } = await assayIn(rehearsal, ['run', 'mission.yaml'])
  console.log(stderr + stdout)
  console.log((await assayIn(rehearsal, ['ledger', 'mend-the-failing-test'])).stdout)
  console.log(await git(rehearsal, 'log', '--format=%h %s%n%n%b', '--stat', 'main..assay/mend-durations-1/result'))
  process.exitCode = code ?? 1
} finally {
  await server.close()
  if (flags.keep) console.log(`The repository is in ${folder}.`)
  else await rm(folder, { recursive: true, force: true })
}
