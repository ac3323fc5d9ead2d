import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..')

/** Dependencies that most commands need, or that are small: they go inside. All others are loaded from `node_modules` by what needs them. */
const inside = ['commander', 'picomatch', 're2js', 'yaml', 'zod']

/** What a bundle leaves outside, for everything that is bundled as the command line is. */
export function outside(): RegExp[] {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
  return Object.keys(dependencies)
    .filter((name) => !inside.includes(name))
    .map((name) => new RegExp(`^${name.replaceAll(/[.\\/]/g, '\\$&')}(/|$)`))
}

/** The command line as it is published: its usual dependencies inside for a quick start, every dynamic import a chunk that is loaded when needed. */
export async function bundleCommandLine(dir: string, plugins: Plugin[] = []): Promise<void> {
  const bundle = await rolldown({ input: join(root, 'src', 'main.ts'), cwd: root, platform: 'node', external: outside(), plugins })
  await bundle.write({ dir, format: 'esm', entryFileNames: 'main.js', chunkFileNames: '[name]-[hash].js' })
  await bundle.close()
}
