import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Collected } from './collected.ts'

/** What Stryker's instrumented sources read and write. */
interface Instrumented {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: { perTest: Record<string, unknown> }
}

interface MutantRun {
  testFilter?: string[]
  hitLimit?: number
  activeMutant: { id: string }
  mutantActivation: 'runtime' | 'static'
  /** The mutant takes effect while modules are loaded, or the one before did. */
  reloadEnvironment: boolean
}

type Outcome =
  | { status: 'killed'; killedBy: string[]; failureMessage: string; nrOfTests: number }
  | { status: 'survived'; nrOfTests: number }

/** Milliseconds of the processor, since the machine may be busy. */
const slowest = 500
const statuses = { success: 0, skipped: 2 }
/** The tests, quickest first, for the processes that follow the first one; in Stryker's copy of the sources. */
const orderFile = 'tests-in-order.json'

const stands = new Map([
  ['vitest', new URL('collected.ts', import.meta.url).href],
  ['fast-check', new URL('few-runs.ts', import.meta.url).href],
])

/** A loading of the tests and of everything that they import but the contract, which no mutant is in. */
let loading = 0

/** A test file gets the collected `vitest` and few runs; the two stand-ins get the real ones. */
function standIn(): void {
  const sources = pathToFileURL(resolve('src')).href
  const contract = pathToFileURL(resolve('src/contract')).href
  registerHooks({
    resolve: (specifier, context, next) => {
      const url = stands.get(specifier)
      const own = context.parentURL !== undefined && [...stands.values()].includes(context.parentURL)
      if (url !== undefined && !own) return { url, shortCircuit: true }
      const found = next(specifier, context)
      if (!found.url.startsWith(sources) || found.url.startsWith(contract)) return found
      return { ...found, url: `${found.url.split('?')[0]}?${loading}` }
    },
  })
}

/** Runs the pure tests of one part of the core in the process that has loaded them, once for every mutant: a mutant costs what its tests cost. */
class CoreRunner {
  private tests: readonly Collected[] | undefined
  private readonly instrumented: Instrumented

  constructor() {
    const everything = globalThis as unknown as { __stryker__?: Instrumented }
    everything.__stryker__ ??= {}
    this.instrumented = everything.__stryker__
  }

  capabilities() {
    return { reloadEnvironment: true }
  }

  /** A test that needs more runs of its property, or more time, than a mutant is worth is left out: the score can only be lower for it. */
  async dryRun() {
    const tests = []
    for (const test of await this.load()) {
      this.instrumented.currentTestId = test.id
      const [begunAt, begun] = [performance.now(), process.cpuUsage()]
      const failure = await failureOf(test)
      const timeSpentMs = performance.now() - begunAt
      const used = process.cpuUsage(begun).user / 1000
      const left = failure !== undefined || used > slowest
      if (left) console.error(`left out: ${test.name}: ${failure ?? `${Math.round(used)} ms`}`)
      if (left) delete this.instrumented.mutantCoverage?.perTest[test.id]
      tests.push({
        id: test.id,
        name: test.name,
        fileName: resolve(test.file),
        timeSpentMs,
        status: left ? statuses.skipped : statuses.success,
      })
    }
    this.instrumented.currentTestId = undefined
    const wanted = tests.filter(({ status }) => status === statuses.success).toSorted((a, b) => a.timeSpentMs - b.timeSpentMs)
    writeFileSync(orderFile, JSON.stringify(wanted.map(({ id }) => id)))
    return { status: 'complete', tests, mutantCoverage: this.instrumented.mutantCoverage }
  }

  async mutantRun({ testFilter, hitLimit, activeMutant, mutantActivation, reloadEnvironment }: MutantRun) {
    if (reloadEnvironment) this.tests = undefined
    this.instrumented.activeMutant = mutantActivation === 'static' ? activeMutant.id : undefined
    this.instrumented.hitCount = 0
    this.instrumented.hitLimit = hitLimit
    const all = await this.load().catch((error: unknown) => String(error))
    if (typeof all === 'string') return { status: 'error', errorMessage: all }
    this.instrumented.activeMutant = activeMutant.id
    const covering = testFilter && new Set(testFilter)
    const inOrder = (JSON.parse(readFileSync(orderFile, 'utf8')) as string[]).filter((id) => covering?.has(id) ?? true)
    const outcome = await firstFailure(inOrder.flatMap((id) => all.find((test) => test.id === id) ?? []))
    const { hitCount = 0 } = this.instrumented
    if (hitLimit !== undefined && hitCount > hitLimit) return { status: 'timeout', reason: `Hit limit reached (${hitCount}/${hitLimit})` }
    return outcome
  }

  private async load(): Promise<readonly Collected[]> {
    if (this.tests) return this.tests
    if (loading === 0) standIn()
    loading += 1
    const { collected, start, startFile } = await import('./collected.ts')
    await import('../fixed-seed.ts')
    start()
    for (const file of globSync(`src/core/${process.env.MUTATION_PART ?? ''}/**/*.test.ts`).sort()) {
      startFile(file)
      await import(pathToFileURL(resolve(file)).href)
    }
    this.tests = [...collected]
    return this.tests
  }
}

async function firstFailure(tests: readonly Collected[]): Promise<Outcome> {
  for (const [index, test] of tests.entries()) {
    const failureMessage = await failureOf(test)
    if (failureMessage !== undefined) return { status: 'killed', killedBy: [test.id], failureMessage, nrOfTests: index + 1 }
  }
  return { status: 'survived', nrOfTests: tests.length }
}

async function failureOf(test: Collected): Promise<string | undefined> {
  try {
    await test.run()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'core', injectableClass: CoreRunner }]
