import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { agentNames } from '../../src/doors/cli/init/survey.ts'
import { writeFiles } from './assay.ts'

/** A program called `claude` that works and judges as the real one does, as far as the formats go, and is content with everything. */
export const contented = `#!${process.execPath}
const [, , ...args] = process.argv
if (args[0] === '--version') {
  console.log('2.1.325 (stand-in)')
} else {
  const prompt = require('node:fs').readFileSync(0, 'utf8')
  const listed = (name) => (new RegExp(name + ': one entry for each of \\\\[(.*?)\\\\]').exec(prompt)?.[1] ?? '').split(', ').filter(Boolean)
  const report = (more) => console.log(JSON.stringify({ type: 'result', subtype: 'success', is_error: false, terminal_reason: 'completed', stop_reason: 'end_turn', total_cost_usd: 0, modelUsage: {}, ...more }))
  if (args.includes('--safe-mode')) {
    const nonce = /nonce: "([0-9a-f]+)"/.exec(prompt)?.[1]
    const structured_output = {
      nonce,
      prior: listed('prior').map((ref) => ({ ref, addressed: 'yes', evidence: [] })),
      criteria: listed('criteria').map((id) => ({ id, evidence: ['done.test.txt:1'], reasoning: 'It is there.', met: 'yes' })),
      dimensions: listed('dimensions').map((name) => ({ name, reasoning: 'Good.', score: 4 })),
      verdict: 'accept', rejection_category: null, concern: 'Good as it is.', evidence: [], next_step: null,
    }
    report({ result: '', structured_output })
  } else {
    require('node:fs').writeFileSync('done.test.txt', 'tested\\n')
    const coverage = ['AC1', 'AC2'].map((criterion) => ({ criterion, pointer: 'done.test.txt:1' }))
    report({ result: '\\\`\\\`\\\`json\\n' + JSON.stringify({ summary: 'Done.', ac_coverage: coverage }) + '\\n\\\`\\\`\\\`' })
  }
}
`

/** The PATH of this process without the folders in which an agent is installed: what the test does not put there is not there. */
export const agentless = (process.env.PATH ?? '')
  .split(':')
  .filter((folder) => !agentNames.some((name) => existsSync(join(folder, name))))
  .join(':')

/** A home outside of every project, with the owner's token and the stand-in, and the PATH under which that is found, with the usual programs and no other agent. */
export function withClaude(): { PATH: string; HOME: string } {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'assay-home-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  writeFiles(home, { 'bin/claude': contented, '.claude/none': '', '.config/assay/owner-token': 'the owner of the test\n' })
  return { PATH: `${join(home, 'bin')}:${agentless}`, HOME: home }
}
