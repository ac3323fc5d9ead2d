/** How long a short command takes, next to the bare Node that runs it. Run: `npx node bench/startup.ts [--size small|full]`. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { median, printTable, ratio } from './measure.ts'

const { values: flags } = parseArgs({ options: { size: { type: 'string', default: 'full' }, dir: { type: 'string' } } })
const rounds = flags.size === 'small' ? 9 : 41
const repository = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(flags.dir ?? tmpdir(), 'assay-bench-'))

function node(...args: string[]): void {
  const { status, stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`)
}

try {
  const packed = join(folder, 'package')
  node(join(repository, 'scripts', 'build.ts'), '--out', packed)
  writeFileSync(join(folder, 'nothing.mjs'), '')
  writeFileSync(join(folder, 'print.mjs'), "console.log('help')\n")
  const contenders: [string, string[]][] = [
    ['floor: Node with an empty module', [join(folder, 'nothing.mjs')]],
    ['Node that prints a line', [join(folder, 'print.mjs')]],
    ['packed: assay --help (goal: ≤ 1.5 ×)', [join(packed, 'bin', 'assay.mjs'), '--help']],
    ['packed: assay config --explain', [join(packed, 'bin', 'assay.mjs'), 'config', '--explain']],
    ['repository: assay --help', [join(repository, 'bin', 'assay.mjs'), '--help']],
  ]
  const times = contenders.map((): number[] => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, [, args]] of contenders.entries()) {
      const start = performance.now()
      node(...args)
      times[index]?.push(performance.now() - start)
    }
  }
  const [base = []] = times
  const fastest = (all: number[]) => Math.min(...all)
  printTable(
    `Start-up, ${rounds} rounds in turns`,
    ['', 'median ms', 'against floor', 'fastest ms', 'against floor'],
    contenders.map(([name], index) => {
      const own = times[index] ?? []
      return [name, median(own), ratio(median(own), median(base)), fastest(own), ratio(fastest(own), fastest(base))]
    }),
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
