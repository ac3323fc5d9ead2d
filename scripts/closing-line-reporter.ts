import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** The run in one line. A file that did not load and an error outside every test count as failures: neither may look like a pass. */
export function closingLine(modules: readonly TestModule[], unhandled: readonly SerializedError[]): string {
  const count = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
  for (const module of modules) {
    const tests = [...module.children.allTests()]
    for (const test of tests) count[test.result().state] += 1
    if (module.state() === 'failed' && !tests.some((test) => test.result().state === 'failed')) count.failed += 1
  }
  return `Tests: ${count.passed} passed, ${count.failed + count.pending} failed, ${count.skipped} skipped`
}

/** Tests that passed at a second try only: a defect of the test or of what it tests, so they are never shown as the others are. */
export function secondTries(modules: readonly TestModule[]): string[] {
  const flaky = modules.flatMap((module) => [...module.children.allTests()].filter((test) => test.diagnostic()?.flaky))
  return flaky.map((test) => `Passed at the second try only: ${test.module.relativeModuleId} > ${test.fullName}`)
}

/** Prints the closing line after every other output of the run. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const lines = [...secondTries(modules), closingLine(modules, unhandled)]
    process.once('exit', () => process.stdout.write(`${lines.join('\n')}\n`))
  }
}
