import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { begin, ruledProject, stop } from './front-door/hooked.ts'
import { connect } from './front-door/mcp.ts'

const timeout = 240_000
useAssay()

/** A project whose judge rejects what does not say good, with a worker outside. */
const project = () =>
  ruledProject(
    { 'judge.sh': 'cat >/dev/null\nif cat "$ASSAY_SNAPSHOT"/*.txt | grep -q good; then echo "SCORE: 90"; else echo "SCORE: 20"; fi\n' },
    {
      brains: { crit: { kind: 'command', argv: ['sh', 'judge.sh'] }, away: { kind: 'outside' } },
      agents: { dev: { role: 'engineer', brain: 'away' }, qa: { role: 'reviewer', brain: 'crit' } },
    },
  )

describe('work that is brought to be reviewed, seen by a worker over MCP', () => {
  it('is no task that other bytes are accepted for: a deliverable fails after its tries', { timeout }, async () => {
    const here = project()
    const worker = await connect(here, ['--role', 'worker', '--agent', 'dev'])
    const bring = (text: string) => worker.say('review_deliverable_with_evaluator', { deliverable: 'd3', title: 'd3', text })
    expect((await bring('EVIL 1')).value).toMatchObject({ verdict: 'NEEDS_REVISION', attempt: 1 })
    expect((await bring('EVIL 2')).value).toMatchObject({ verdict: 'NEEDS_REVISION', attempt: 2 })
    expect((await worker.say('list_tasks')).value.tasks).toEqual([])
    const task = 'deliverable-d3-1/subject'
    for (const tool of ['take_task', 'heartbeat'])
      expect(await worker.say(tool, { task })).toMatchObject({ refused: true, value: { code: 'not_assignee' } })
    const submitted = { task, attempt: 3, summary: 'x', ac_coverage: [] }
    expect(await worker.say('submit_case', submitted)).toMatchObject({ refused: true, value: { code: 'not_assignee' } })
    expect((await bring('EVIL 3')).value).toMatchObject({ verdict: 'FAIL', attempt: 3 })
    await worker.close()
  })

  it('is no task that a session passes by without its folder', { timeout }, async () => {
    const here = project()
    await begin(here, 's1')
    here.write({ 'a.txt': 'EVIL\n' })
    expect((await stop(here, 's1')).decision).toBe('block')
    const worker = await connect(here, ['--role', 'worker', '--agent', 'claude'])
    expect((await worker.say('list_tasks')).value.tasks).toEqual([])
    const task = 'claude-session-s1-1/work'
    expect(await worker.say('take_task', { task })).toMatchObject({ refused: true, value: { code: 'not_assignee' } })
    await worker.close()
    expect((await stop(here, 's1')).reason).toContain('2 of 3')
  })
})
