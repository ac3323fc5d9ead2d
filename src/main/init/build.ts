import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Build } from '../../doors/cli/init/survey.ts'

/** What of a package's manifest matters here; one that is written otherwise counts as one that says nothing. */
const Manifest = z.object({
  scripts: z.record(z.string(), z.string()).catch({}),
  dependencies: z.record(z.string(), z.unknown()).catch({}),
  devDependencies: z.record(z.string(), z.unknown()).catch({}),
  packageManager: z
    .string()
    .regex(/^(npm|pnpm|yarn|bun)@/)
    .optional()
    .catch(undefined),
})

/** Which package manager wrote a lockfile. */
const lockfiles: Record<string, string> = {
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'package-lock.json': 'npm',
}

/** Libraries that answer HTTP requests. */
const servers = ['express', 'fastify', 'hono', 'koa', '@nestjs/core', '@hapi/hapi', 'elysia']

/** Tools of other languages, by the file that shows them. */
const others: { file: string; tool: string; test?: string[]; only?: RegExp }[] = [
  { file: 'Cargo.toml', tool: 'cargo', test: ['cargo', 'test'] },
  { file: 'go.mod', tool: 'go', test: ['go', 'test', './...'] },
  { file: 'pyproject.toml', tool: 'python', test: ['python3', '-m', 'pytest'], only: /pytest/ },
  { file: 'pyproject.toml', tool: 'python' },
  { file: 'Makefile', tool: 'make', test: ['make', 'test'], only: /^test:/m },
  { file: 'Makefile', tool: 'make' },
]

/** How a project is built and tested, as far as its files say so. */
export function findBuild(folder: string): Build | undefined {
  if (isFile(join(folder, 'package.json'))) return packageBuild(folder)
  for (const { file, tool, test, only } of others) {
    const path = join(folder, file)
    if (!isFile(path) || (only && !only.test(readFileSync(path, 'utf8')))) continue
    return { tool, file, installs: false, ...(test && { test }) }
  }
  return undefined
}

/** Of what is no file nothing is read: it says nothing. */
const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile()

function packageBuild(folder: string): Build {
  const manifest = Manifest.safeParse(parsed(readFileSync(join(folder, 'package.json'), 'utf8')))
  const { scripts = {}, dependencies = {}, devDependencies = {}, packageManager } = manifest.data ?? {}
  const locked = Object.keys(lockfiles).find((name) => existsSync(join(folder, name)))
  const tool = packageManager?.split('@')[0] ?? lockfiles[locked ?? ''] ?? 'npm'
  const hasTests = scripts.test !== undefined && !scripts.test.includes('no test specified')
  const serves = servers.find((name) => name in dependencies)
  return {
    tool,
    file: 'package.json',
    installs: Object.keys(dependencies).length + Object.keys(devDependencies).length > 0,
    ...(hasTests && { test: tool === 'bun' ? ['bun', 'run', 'test'] : [tool, 'test'] }),
    ...(serves !== undefined && { serves }),
  }
}

/** Undefined where it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
