import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const everywhere = { setupFiles: ['./scripts/fixed-seed.ts'], testTimeout: 120_000, hookTimeout: 120_000 }

export default defineConfig({
  test: {
    // Most of the time tests wait for processes that they started.
    maxWorkers: availableParallelism() + 2,
    reporters: ['default', './scripts/closing-line-reporter.ts'],
    projects: [
      {
        // Nothing that they do outlasts them: files share a worker, and each module is loaded once.
        test: {
          ...everywhere,
          name: 'pure',
          include: ['{src,test,scripts,bench}/**/*.test.ts'],
          exclude: ['**/*.int.test.ts'],
          isolate: false,
        },
      },
      {
        test: {
          ...everywhere,
          name: 'parts',
          include: ['{src,test,scripts,bench}/**/*.int.test.ts'],
          globalSetup: ['./scripts/bundle-once.ts'],
          // Real processes race with whatever else a machine of CI does. What passed at the second try only is named at the end of the run.
          retry: process.env.CI === undefined ? 0 : 1,
        },
      },
    ],
  },
})
