import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'],
    setupFiles: ['./scripts/fixed-seed.ts'],
    globalSetup: ['./scripts/bundle-once.ts'],
    // Most of the time tests wait for processes that they started.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default', './scripts/closing-line-reporter.ts'],
  },
})
