import { expect, it } from 'vitest'
import type { SnapshotStore } from '../../../ports/snapshots.ts'
import { declaredIn } from './declared.ts'

function storeWith(files: Record<string, string>): SnapshotStore {
  return {
    manifest: async () => ({ files: Object.keys(files).map((path) => ({ path })) }),
    read: async (_digest: string, path: string) => new TextEncoder().encode(files[path]),
  } as unknown as SnapshotStore
}

const declares = async (files: Record<string, string>, path: string) => (await declaredIn(storeWith(files), 'sha256:x' as never))(path)

const lock = JSON.stringify({
  packages: { '': {}, 'node_modules/deep': {}, 'node_modules/tool': { bin: { toolkit: 'cli.js' } } },
})

it.each<[string, Record<string, string>, string, boolean]>([
  ['a name in package.json', { 'package.json': '{"dependencies":{"pad":"1"}}' }, 'node_modules/pad', true],
  ['a scoped name', { 'app/package.json': '{"devDependencies":{"@me/x":"1"}}' }, 'node_modules/@me/x', true],
  ['another name', { 'package.json': '{"dependencies":{"pad":"1"}}' }, 'node_modules/pads', false],
  ['a path in a lock file', { 'app/package-lock.json': lock }, 'app/node_modules/deep', true],
  ['the same path elsewhere', { 'app/package-lock.json': lock }, 'node_modules/deep', false],
  ['a program of a package', { 'package-lock.json': lock }, 'node_modules/.bin/toolkit', true],
  ['a program of nobody', { 'package-lock.json': lock }, 'node_modules/.bin/node', false],
  ['a name in another lock file', { 'pnpm-lock.yaml': "  '@me/x@1.0.0':\n" }, 'node_modules/.pnpm/@me+x@1.0.0', true],
  ['a manifest that is no JSON', { 'package.json': '{' }, 'node_modules/pad', false],
  ['nothing at all', {}, 'node_modules/pad', false],
])('%s', async (_what, files, path, expected) => expect(await declares(files, path)).toBe(expected))
