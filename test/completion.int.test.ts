import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { assayCommand, plainEnv, useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

const quoted = (word: string) => `'${word}'`

/** How each shell is made to complete a line without anybody at a keyboard; what it finds is printed a line each. */
const shells: Record<string, (words: string[]) => string> = {
  bash: (words) =>
    `. ./script; COMP_WORDS=(assay ${words.map(quoted).join(' ')}); COMP_CWORD=${words.length}; _assay; printf '%s\\n' "\${COMPREPLY[@]}"`,
  fish: (words) => `source ./script; complete -C "assay ${words.join(' ')}" | string split -f1 \\t`,
}

async function completing(shell: string): Promise<(...words: string[]) => string[]> {
  const project: Project = makeProject({
    'assay.yaml': { brains: { b: { kind: 'scripted', file: 'b.yaml' } }, agents: { dev: { role: 'engineer', brain: 'b' } } },
    'b.yaml': { workers: { '*': [{ write: { 'a.txt': 'x' } }] } },
    'm.yaml': { name: 'M', tasks: [{ title: 'first thing', assignTo: 'dev' }] },
  })
  await project.run(['run', 'm.yaml'])
  const { stdout: script, code } = await project.run(['completion', shell])
  expect(code).toBe(0)
  project.write({ 'tmp/bin/assay': `#!/bin/sh\nexec ${assayCommand([]).map(quoted).join(' ')} "$@"\n`, script })
  return (...words) => {
    const env = { ...plainEnv(project.folder), PATH: `${join(project.folder, 'tmp', 'bin')}:${process.env.PATH}` }
    const { stdout, stderr } = spawnSync(shell, ['-c', shells[shell]?.(words) ?? ''], { cwd: project.folder, env, encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout.split('\n').filter(Boolean)
  }
}

describe('completion', () => {
  for (const shell of Object.keys(shells)) {
    const missing = spawnSync(shell, ['-c', 'true'], { stdio: 'ignore' }).status !== 0
    if (missing) console.warn(`skipped: completion in ${shell} needs \`${shell}\` (package ${shell})`)

    it.skipIf(missing)(`works in ${shell}: commands, values and ids`, { timeout }, async () => {
      const completed = await completing(shell)
      expect(completed('doc')).toEqual(['doctor'])
      expect(completed('init', '--template', 'l')).toEqual(['landing-page'])
      expect(completed('task', 'show', '')).toEqual(['m-1/first-thing'])
      expect(completed('mission', 'show', 'm')).toEqual(['m-1'])
      // Files are the shell's own business: bash looks for them when it is told nothing, fish is asked to.
      expect(completed('run', 'm.y')).toEqual(shell === 'bash' ? [] : ['m.yaml'])
    })
  }

  it('has a script for each shell, and says which there are', { timeout }, async () => {
    const project = makeProject()
    for (const [shell, part] of [
      ['bash', 'complete -o default'],
      ['zsh', '#compdef assay'],
      ['fish', 'complete -c assay'],
    ] as const)
      expect((await project.run(['completion', shell])).stdout).toContain(part)
    expect(await project.run(['completion', 'cmd'])).toMatchObject({ code: 2, stderr: expect.stringContaining('bash, zsh, fish') })
  })

  it('says nothing where there is nothing to complete, however broken the project is', { timeout }, async () => {
    const project = makeProject({ 'assay.yaml': 'reviews: {', '.assay/assay.db': 'no journal at all' })
    for (const words of [
      ['task', 'show', ''],
      ['run', ''],
      ['no', 'such', 'command', ''],
    ])
      expect(await project.run(['__complete', '--', ...words])).toMatchObject({ code: 0, stdout: '', stderr: '' })
    project.write({ 'assay.yaml': '' })
    expect(await project.run(['__complete', '--', 'task', 'show', ''])).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })
})
