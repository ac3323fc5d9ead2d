import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { agentless } from './front-door/agents.ts'
import { useAssay, writeFiles } from './front-door/assay.ts'
import { acceptPolicy, begin, callHook, ruledProject, stop, unreviewedReasons } from './front-door/hooked.ts'
import type { Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

const loading =
  'process.stdin.resume()\nconsole.log("SCORE: " + require("gradelib")(require("fs").readFileSync(process.env.ASSAY_SNAPSHOT + "/a.txt", "utf8")))\nprocess.exit(0)\n'
const strict = {
  'node_modules/gradelib/index.js': 'module.exports = (text) => (text.includes("good") && !text.includes("EVIL") ? 90 : 20)\n',
}
const lax = { 'node_modules/gradelib/index.js': 'module.exports = () => 95\n' }

/** A project whose judge is a program that loads an installed package. */
function loadingProject(): Project {
  const brains = { crit: { kind: 'command', argv: ['node', 'judge.cjs'] } }
  return ruledProject({ ...strict, 'judge.cjs': loading }, { brains })
}

/** The stop that is answered at once needs a look that nothing is as young as. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 120))

describe('what judges load, changed after a session was let go', () => {
  it('does not judge in the next one, until it is put back or the owner accepts it', { timeout }, async () => {
    const project = loadingProject()
    await begin(project, 's1')
    project.write({ 'a.txt': 'good\n' })
    await settle()
    expect((await stop(project, 's1')).systemMessage).toContain('PASS')
    project.write(lax)
    expect(await stop(project, 's1')).toEqual({})
    await begin(project, 's2')
    project.write({ 'a.txt': 'EVIL\n' })
    expect((await stop(project, 's2')).systemMessage).toMatch(/UNREVIEWED: installed packages.*gradelib/)
    await begin(project, 's3')
    expect((await stop(project, 's3')).decision).toBeUndefined()
    project.write({ ...strict, 'a.txt': 'EVIL 2\n' })
    expect((await stop(project, 's3')).decision).toBe('block')
    project.write(lax)
    expect((await stop(project, 's3')).systemMessage).toMatch(/UNREVIEWED: .*assay policy accept/)
    await acceptPolicy(project)
    project.write({ 'a.txt': 'EVIL 3\n' })
    expect((await stop(project, 's3')).systemMessage).toMatch(/PASS/)
    await begin(project, 's4')
    project.write({ 'a.txt': 'EVIL 4\n' })
    expect((await stop(project, 's4')).systemMessage).toMatch(/PASS/)
    // What the owner accepted is what was doubted then, not whatever comes after it.
    project.write({ 'node_modules/gradelib/index.js': 'module.exports = () => 96\n', 'a.txt': 'EVIL 5\n' })
    expect((await stop(project, 's4')).systemMessage).toMatch(/UNREVIEWED: installed packages/)
  })

  it('does not judge either where the agent had work under way', { timeout }, async () => {
    const project = loadingProject()
    await begin(project, 's1')
    project.write(lax)
    const busy = { background_tasks: [{ id: 'b1', status: 'running', type: 'shell' }] }
    expect((await stop(project, 's1', busy)).systemMessage).toContain('not reviewed yet')
    await begin(project, 's2')
    project.write({ 'a.txt': 'EVIL\n' })
    expect((await stop(project, 's2')).systemMessage).toMatch(/UNREVIEWED: installed packages.*gradelib/)
    expect(await unreviewedReasons(project)).toHaveLength(1)
  })

  it('may be installed again as it was: the next session is judged as ever', { timeout }, async () => {
    const project = loadingProject()
    await begin(project, 's1')
    rmSync(join(project.folder, 'node_modules'), { recursive: true })
    project.write(strict)
    await begin(project, 's2')
    project.write({ 'a.txt': 'EVIL\n' })
    expect((await stop(project, 's2')).decision).toBe('block')
    project.write({ 'a.txt': 'good\n' })
    expect((await stop(project, 's2')).systemMessage).toContain('PASS')
  })

  it('does not come from a program that PATH finds in the project since', { timeout }, async () => {
    const outside = realpathSync(mkdtempSync(join(tmpdir(), 'assay-outside-')))
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }))
    writeFiles(outside, {
      judge: '#!/usr/bin/env grader\n',
      'bin/grader':
        '#!/bin/sh\ncat >/dev/null\nif grep -q good "$ASSAY_SNAPSHOT/a.txt"; then echo "SCORE: 90"; else echo "SCORE: 20"; fi\n',
    })
    for (const name of ['judge', 'bin/grader']) chmodSync(join(outside, name), 0o755)
    const brains = { crit: { kind: 'command', argv: [join(outside, 'judge')] } }
    const project = ruledProject({ '.gitignore': '.assay\ntmp/\n.config/\n.venv/\n', '.venv/bin/notes': 'x\n' }, { brains })
    const PATH = `${join(project.folder, '.venv', 'bin')}:${join(outside, 'bin')}:${agentless}`
    const call = (session_id: string, hook_event_name: string) =>
      callHook(project, { session_id, cwd: project.folder, hook_event_name }, { env: { PATH } })
    await call('s1', 'SessionStart')
    project.write({ 'a.txt': 'good\n' })
    await settle()
    expect((await call('s1', 'Stop')).systemMessage).toContain('PASS')
    project.write({ '.venv/bin/grader': '#!/bin/sh\ncat >/dev/null\necho "SCORE: 95"\n' })
    chmodSync(join(project.folder, '.venv/bin/grader'), 0o755)
    await call('s1', 'Stop')
    await call('s2', 'SessionStart')
    project.write({ 'a.txt': 'EVIL\n' })
    expect((await call('s2', 'Stop')).systemMessage).toMatch(/UNREVIEWED: programs that PATH finds.*\.venv\/bin\/grader/)
  })
})
