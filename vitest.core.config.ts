import { defineConfig } from 'vitest/config'

/** The pure tests of the core alone: what mutation testing runs again and again. */
export default defineConfig({
  test: { include: ['src/core/**/*.test.ts'], exclude: ['**/*.int.test.ts'], testTimeout: 60_000 },
})
