import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { begin, callHook, ruledProject, stop } from './front-door/hooked.ts'
import type { Project } from './front-door/project.ts'

const timeout = 240_000
useAssay()

/** A judge whose mood is a file that git ignores, outside of what it judges; it writes down how often it was asked. */
function moodyProject(more: object = {}): { project: Project; mood(score: number): void; asked(): number } {
  const project = ruledProject(
    { 'judge.sh': 'cat >/dev/null\necho asked >>"$HOME/tmp/asked"\ncat "$HOME/tmp/mood"\n', 'tmp/asked': '' },
    more,
  )
  const mood = (score: number) => writeFileSync(join(project.folder, 'tmp', 'mood'), `Hm.\nSCORE: ${score}\n`)
  mood(20)
  return { project, mood, asked: () => project.read('tmp/asked').split('\n').length - 1 }
}

const requests = async (project: Project) => JSON.parse((await project.run(['requests', '--json'])).stdout) as { requests?: unknown[] }

describe('work that was rejected and left as it is', () => {
  it('is not judged again in another session for a better draw, and its tries are counted on', { timeout }, async () => {
    const { project, mood, asked } = moodyProject()
    await begin(project, 's0')
    project.write({ 'a.txt': 'EVIL\n' })
    expect((await stop(project, 's0')).reason).toContain('1 of 3')
    mood(95)
    await begin(project, 's1')
    const second = await stop(project, 's1')
    expect(second.decision).toBe('block')
    expect(second.reason).toContain('2 of 3')
    expect(asked()).toBe(1)
    const codex = (hook_event_name: string) =>
      callHook(
        project,
        { session_id: 'c', cwd: project.folder, hook_event_name, last_assistant_message: 'now it is good' },
        { agent: 'codex' },
      )
    await codex('SessionStart')
    expect((await codex('Stop')).systemMessage).toMatch(/BELOW|below/)
    expect(asked()).toBe(1)
    const events = await project.events()
    expect(events.filter(({ type }) => type === 'review.opened')).toHaveLength(1)
    expect(events.filter(({ type }) => type === 'decision.carried').map(({ data }) => data)).toMatchObject([
      { from: { task: 'claude-session-s0-1/work', review: 1 }, decision: { outcome: 'reject' } },
      { from: { task: 'claude-session-s0-1/work', review: 1 }, decision: { outcome: 'reject' } },
    ])
    expect(JSON.stringify(await requests(project))).toContain('codex-session-c-1/work')
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
    for (const task of ['claude-session-s1-1/work', 'codex-session-c-1/work']) {
      expect((await project.run(['task', 'show', task])).code).toBe(0)
      expect((await project.run(['why', task])).stdout).not.toBe('')
    }
  })

  it('is judged again once it is another', { timeout }, async () => {
    const { project, mood, asked } = moodyProject()
    await begin(project, 's0')
    project.write({ 'a.txt': 'EVIL\n' })
    await stop(project, 's0')
    mood(95)
    await begin(project, 's1')
    project.write({ 'a.txt': 'good\n' })
    expect((await stop(project, 's1')).systemMessage).toContain('PASS')
    expect(asked()).toBe(2)
    // Back to the rejected bytes after a pass of others.
    await begin(project, 's2')
    project.write({ 'a.txt': 'EVIL\n' })
    expect((await stop(project, 's2')).decision).toBe('block')
    expect(asked()).toBe(2)
  })
})

describe('assay review', () => {
  it('answers the same bytes with the decision that rejected them, and looks again where criteria or bytes are others', {
    timeout,
  }, async () => {
    const { project, mood, asked } = moodyProject()
    project.write({ 'f.txt': 'hullo\n' })
    const review = (...more: string[]) => project.run(['review', 'f.txt', '--criteria', 'ok', ...more])
    expect((await review()).code).toBe(1)
    mood(95)
    const again = await review('--json')
    expect(again.code).toBe(1)
    expect(JSON.parse(again.stdout)).toMatchObject({
      result: 'below-threshold',
      score: { on100: 20 },
      judges: [{ judge: 'qa', outcome: 'rejects' }],
      usage: { calls: 0, reused: 1 },
      warnings: [expect.stringContaining('nobody was asked again')],
    })
    expect(asked()).toBe(1)
    expect((await review()).stdout).toMatch(/20/)
    expect((await project.run(['review', 'f.txt', '--criteria', 'it greets'])).code).toBe(0)
    project.write({ 'f.txt': 'hello\n' })
    expect((await review()).code).toBe(0)
    expect(asked()).toBe(3)
    // A pass is nobody's to copy.
    expect((await review()).code).toBe(0)
  })
})

describe('two stops of a session at once', () => {
  it('are one task, judged once, and hear the same', { timeout }, async () => {
    const slow = 'cat >/dev/null\necho asked >>"$HOME/tmp/asked"\nsleep 2\necho "SCORE: 20"\n'
    const project = ruledProject({ 'judge.sh': slow, 'tmp/asked': '' })
    await begin(project, 's1')
    project.write({ 'a.txt': 'EVIL\n' })
    const answers = await Promise.all([stop(project, 's1'), stop(project, 's1')])
    expect(answers.map(({ decision }) => decision)).toEqual(['block', 'block'])
    for (const { reason } of answers) expect(reason).toContain('1 of 3')
    const said = (await project.events()).map(({ type, stream }) => `${type} ${stream}`).join('\n')
    expect(project.read('tmp/asked'), said).toBe('asked\n')
    const started = (await project.events()).filter(({ type }) => type === 'attempt.started')
    expect(started).toHaveLength(1)
  })
})
