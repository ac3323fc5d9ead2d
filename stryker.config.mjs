/** A folder of `src/core`, tested by its own tests; the whole core, tested by all of them, where none is named. */
const part = process.env.MUTATION_PART

export default {
  mutate: [`src/core/${part ? `${part}/` : ''}**/*.ts`, '!src/core/**/*.test.ts'],
  /** `--testRunner vitest` asks vitest itself instead, which loads everything anew for every mutant: the same answers, many times slower. */
  testRunner: 'core',
  vitest: { configFile: 'vitest.core.config.ts' },
  plugins: ['./scripts/mutation/runner.ts', '@stryker-mutator/vitest-runner'],
  tsconfigFile: 'none.json',
  ignorePatterns: ['bench', 'dist', 'reports', 'test', 'web'],
  coverageAnalysis: 'perTest',
  concurrency: 1,
  /** Long, so that a busy machine is not taken for a mutant that never ends. */
  timeoutMS: 8000,
  timeoutFactor: 3,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { logTests: false, reportTests: false },
  jsonReporter: { fileName: `reports/mutation/${part ?? 'core'}.json` },
  tempDirName: '.stryker-tmp',
}
