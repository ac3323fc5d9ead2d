import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type OutputAsset, type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { configKnobs } from '../src/contract/config/knobs/known.ts'

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

const nothing = '\0nothing'

/**
 * Keeps short commands short. Node's own modules are asked for, not imported: an import reads every getter of a module, which takes
 * longer than printing help. The parser of command lines holds `node:child_process` for subcommands that are programs; ours are not.
 */
const quickStart: Plugin = {
  name: 'quick-start',
  resolveId: (id, importer) => (id === 'node:child_process' && importer?.includes('/node_modules/commander/') ? nothing : null),
  load: (id) => (id === nothing ? 'export default {}' : null),
  renderChunk: (code) =>
    code.replace(
      /^import (?:([\w$]+)|\* as ([\w$]+))?,? ?(\{.*\})? ?from "(node:[\w/]+)";$/gm,
      (_line, name, namespace, members, module) => {
        const whole = `globalThis.process.getBuiltinModule("${module}")`
        const targets = [name, namespace, members?.replaceAll(' as ', ': ')].filter(Boolean)
        return targets.map((target) => `const ${target} = ${whole};`).join(' ')
      },
    ),
}

/** What the schemas say of the configuration, worked out now and not at every start. */
const knownKnobs: Plugin = {
  name: 'known-knobs',
  load: (id) => {
    if (id !== join(root, 'src', 'contract', 'config', 'knobs', 'known.ts')) return null
    const text = JSON.stringify(JSON.stringify(configKnobs()))
    return { code: `const known = JSON.parse(${text})\nexport const configKnobs = () => known`, moduleType: 'js' }
  },
}

/** What answers without opening a project: help, and a stop of an agent whose verdict is known. */
const quickWays = ['src/doors/cli/program.ts', 'src/main/hook/input.ts', 'src/main/hook/known.ts']

/**
 * The command line as it is published: its usual dependencies inside for a quick start, every dynamic import a chunk that is loaded when needed.
 * What opening a project takes is one chunk: as the fifty that its users share it is loaded a little slower.
 */
export async function bundleCommandLine(dir: string): Promise<void> {
  const plugins = [quickStart, knownKnobs]
  const bundle = await rolldown({
    input: join(root, 'src', 'main.ts'),
    cwd: root,
    platform: 'node',
    external: outside(),
    plugins,
    preserveEntrySignatures: 'allow-extension',
  })
  const names = { format: 'esm', entryFileNames: 'main.js', chunkFileNames: '[name]-[hash].js' } as const
  const { output } = await bundle.generate(names)
  const quick = new Set(quickWays.flatMap((path) => loadedWith(path, output)))
  const engine = new Set(loadedWith('src/main/open-engine.ts', output).filter((id) => !quick.has(id)))
  const codeSplitting = { includeDependenciesRecursively: false, groups: [{ name: 'engine', test: (id: string) => engine.has(id) }] }
  await bundle.write({ dir, ...names, codeSplitting })
  await bundle.close()
}

/** The modules that are loaded together with one, itself among them. */
function loadedWith(path: string, output: readonly (OutputChunk | OutputAsset)[]): string[] {
  const chunks = new Map(output.flatMap((part) => (part.type === 'chunk' ? [[part.fileName, part]] : [])))
  const first = [...chunks.values()].find(({ moduleIds }) => moduleIds.includes(join(root, path)))
  if (first === undefined) throw new Error(`no chunk has ${path}`)
  const found = new Set([first])
  for (const chunk of found) for (const name of chunk.imports) if (chunks.has(name)) found.add(chunks.get(name) as OutputChunk)
  return [...found].flatMap(({ moduleIds }) => moduleIds)
}
