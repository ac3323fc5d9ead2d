import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const more = join(import.meta.dirname, 'scripts', 'fuzz-fast-check.ts')

/** The pure tests with so many times more runs of each property as FUZZ_FACTOR says. */
export default defineConfig({
  plugins: [
    {
      name: 'more-runs',
      enforce: 'pre',
      resolveId: (source, importer) => (source === 'fast-check' && importer !== more ? more : null),
    },
  ],
  test: {
    include: ['src/**/*.test.ts'],
    exclude: ['**/*.int.test.ts'],
    testTimeout: 60 * 60_000,
    reporters: ['default', './scripts/closing-line-reporter.ts'],
  },
})
