import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What is read of one of Stryker's reports. */
export interface MutationReport {
  files: Record<string, { mutants: { status: string }[] }>
}

interface Row {
  mutants: number
  killed: number
  timeout: number
  survived: number
  uncovered: number
  /** Mutants that no test could be loaded with; they count neither way. */
  broken: number
}

const counters: Record<string, keyof Row> = {
  Killed: 'killed',
  Timeout: 'timeout',
  Survived: 'survived',
  NoCoverage: 'uncovered',
  RuntimeError: 'broken',
  CompileError: 'broken',
}

/** Mutants by folder of the core, and all of them together. */
export function mutationTable(reports: ReadonlyMap<string, MutationReport>): string {
  const rows = [...reports].map(([part, report]): [string, Row] => [part, rowOf(report)])
  const total = rows.reduce((sum, [, row]) => added(sum, row), nothing())
  const lines = [...rows.toSorted(([one], [other]) => one.localeCompare(other)), ['total', total] as [string, Row]].map(lineOf)
  const head = ['folder', 'mutants', 'killed', 'timeout', 'survived', 'no coverage', 'not loaded', 'score'].map((name, at) =>
    at === 0 ? name.padEnd(12) : name.padStart(11),
  )
  return [head.join(' '), ...lines].join('\n')
}

/** Detected of those that count, in percent, cut and not rounded. */
export function scoreOf({ killed, timeout, survived, uncovered }: Row): string {
  const counted = killed + timeout + survived + uncovered
  return counted === 0 ? '-' : (Math.floor(((killed + timeout) * 10_000) / counted) / 100).toFixed(2)
}

const nothing = (): Row => ({ mutants: 0, killed: 0, timeout: 0, survived: 0, uncovered: 0, broken: 0 })

function rowOf({ files }: MutationReport): Row {
  const row = nothing()
  for (const { status } of Object.values(files).flatMap(({ mutants }) => mutants)) {
    const counter = counters[status]
    if (counter === undefined) continue
    row.mutants += 1
    row[counter] += 1
  }
  return row
}

function added(one: Row, other: Row): Row {
  return Object.fromEntries(Object.entries(one).map(([key, value]) => [key, value + other[key as keyof Row]])) as unknown as Row
}

function lineOf([part, row]: [string, Row]): string {
  const { mutants, killed, timeout, survived, uncovered, broken } = row
  const cells = [mutants, killed, timeout, survived, uncovered, broken, scoreOf(row)]
  return [part.padEnd(12), ...cells.map((cell) => String(cell).padStart(11))].join(' ')
}

const reportsFolder = join('reports', 'mutation')
const core = join('src', 'core')

/** A folder of the core by its name or by its path. */
export function partOf(given: string): string {
  return given.replace(/^(\.\/)?src\/core\//, '').replace(/\/+$/, '')
}

/** Runs these folders of the core one after the other, all where none is named, and prints the table of what is there. */
function main(args: readonly string[]): void {
  const all = readdirSync(core, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  const [run, ...given] = args
  const named = given.map(partOf)
  for (const part of run === '--run' ? (named.length > 0 ? named : all) : []) {
    if (!all.includes(part)) throw new Error(`${part} is no folder of ${core}: ${all.join(', ')}`)
    rmSync(join(reportsFolder, `${part}.json`), { force: true })
    spawnSync('npx', ['stryker', 'run'], { stdio: 'inherit', env: { ...process.env, MUTATION_PART: part } })
  }
  const done = all.filter((part) => existsSync(join(reportsFolder, `${part}.json`)))
  const reports = done.map((part): [string, MutationReport] => [
    part,
    JSON.parse(readFileSync(join(reportsFolder, `${part}.json`), 'utf8')),
  ])
  console.log(mutationTable(new Map(reports)))
  const missing = all.filter((part) => !done.includes(part))
  if (missing.length > 0) {
    console.log(`not run, or ended without a report: ${missing.join(', ')}`)
    process.exitCode = 1
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
