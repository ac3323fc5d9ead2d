import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { readJournal } from './front-door/journal.ts'
import { oneTask } from './front-door/one-task.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

interface Chain {
  /** Shell text of the judge; `$ASSAY_TASK` tells whom it judges. */
  judge: string
  args?: string[]
  review?: Record<string, unknown>
  solo?: boolean
}

/** Task `b` uses what task `a` made; its worker keeps what it was told and what it was given. */
async function chained({
  judge,
  args = [],
  review = {},
  solo = false,
}: Chain): Promise<{ project: Project; prompt: string; input: string }> {
  const project = makeProject({
    'assay.yaml': {
      brains: { hands: { kind: 'command', argv: ['./worker.sh'] }, eyes: { kind: 'command', argv: ['./judge.sh'] } },
      agents: { dev: { role: 'engineer', brain: 'hands' }, ...(!solo && { qa: { role: 'reviewer', brain: 'eyes' } }) },
      review: { panel: { size: 1, quorum: 1 }, ...review },
    },
    'm.yaml': {
      name: 'Chain',
      tasks: [
        { title: 'a', assignTo: 'dev', description: 'Make it.' },
        { title: 'b', assignTo: 'dev', description: 'Use it.', dependsOn: ['a'] },
      ],
    },
  })
  project.write({
    'worker.sh': `#!/bin/sh
case "$ASSAY_TASK" in
  */a) echo "made in attempt $ASSAY_ATTEMPT" > made.txt; echo "A says hello." ;;
  */b) cat > '${project.log('prompt')}'; find inputs -type f -exec cat {} + > '${project.log('input')}'; echo used > used.txt ;;
esac
`,
    'judge.sh': `#!/bin/sh\n${judge}\n`,
  })
  await project.run(['run', 'm.yaml', ...args])
  const kept = (name: string) => (project.has(`tmp/${name}`) ? readFileSync(project.log(name), 'utf8') : '')
  return { project, prompt: kept('prompt'), input: kept('input') }
}

describe('a dependent', () => {
  it('of clean work gets it without a prefix, files and output', { timeout }, async () => {
    const { prompt, input } = await chained({ judge: "echo 'SCORE: 80'" })
    expect(prompt).toContain('A says hello.')
    expect(prompt).not.toContain('[ACCEPTED')
    expect(input).toContain('made in attempt 1\n')
    expect(input).toContain('A says hello.\n')
    expect(input).not.toContain('[ACCEPTED')
  })

  it('of work below the bar is told so, with the score, and gets the last attempt', { timeout }, async () => {
    const judge = `case "$ASSAY_TASK" in */a) echo 'SCORE: 41' ;; *) echo 'SCORE: 80' ;; esac`
    const { project, prompt, input } = await chained({ judge })
    expect(prompt).toContain('[ACCEPTED BELOW QUALITY BAR, score 41]\nA says hello.')
    expect(input).toContain('made in attempt 2\n')
    expect(input).toContain('[ACCEPTED BELOW QUALITY BAR, score 41]\nA says hello.\n')
    const { rows, events } = await readJournal(project.folder)
    expect(rows).toMatchObject([{ flag: 'below-threshold', score: { on100: 41 } }, { flag: 'clean' }])
    expect(events.filter(({ type }) => type === 'operator.requested')).toHaveLength(1)
  })

  it('of unreviewed work is told so', { timeout }, async () => {
    const off = await chained({ judge: 'exit 1', args: ['--no-eval'] })
    expect(off.prompt).toContain('[ACCEPTED UNREVIEWED]\nA says hello.')
    const alone = await chained({ judge: 'exit 1', solo: true })
    expect(alone.prompt).toContain('[ACCEPTED UNREVIEWED]\nA says hello.')
  })

  it('of work that nobody could grade does not start', { timeout }, async () => {
    const { project, prompt } = await chained({ judge: "echo 'Brilliant. PASS.'" })
    expect(prompt).toBe('')
    const { rows, events } = await readJournal(project.folder)
    expect(rows).toMatchObject([
      { status: 'held', held: 'unreadable', attempt: 2 },
      { status: 'waiting', attempt: 0 },
    ])
    expect(events.filter(({ type }) => type === 'task.force_accepted' || type === 'task.accepted')).toEqual([])
  })
})

describe('the same content', () => {
  it('is not judged twice: the decision stands, however often it is handed in', { timeout }, async () => {
    const project = oneTask({ worker: 'echo same > work.txt; echo same', judge: "echo 'SCORE: 40'", review: { maxAttempts: 4 } })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    expect(project.logged('turns')).toEqual(['1', '2', '3', '4'])
    expect(project.logged('sittings')).toEqual(['1.1'])
    const { events, rows } = await readJournal(project.folder)
    expect(events.filter(({ type }) => type === 'decision.reused')).toHaveLength(3)
    expect(rows).toMatchObject([{ flag: 'below-threshold', score: { on100: 40 } }])
  })

  it('with another case is heard once more, and then no more', { timeout }, async () => {
    const project = oneTask({
      worker: `echo same > work.txt
echo "{\\"summary\\": \\"argument $ASSAY_ATTEMPT\\", \\"ac_coverage\\": []}" > "$ASSAY_CASE_FILE"`,
      judge: "echo 'SCORE: 40'",
      review: { maxAttempts: 5 },
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    expect(project.logged('turns')).toHaveLength(5)
    expect(project.logged('sittings')).toHaveLength(2)
  })

  it('that nobody could read may be judged again', { timeout }, async () => {
    const project = oneTask({
      worker: 'echo same > work.txt; echo same',
      judge: `if [ "$ASSAY_REVIEW" = 1 ]; then echo 'Hm.'; else echo 'SCORE: 80'; fi`,
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    expect(project.logged('sittings')).toEqual(['1.1', '1.2', '2.1'])
  })
})

describe('rework', () => {
  it('is told what was wrong, point by point, and the judge is asked whether it was mended', { timeout }, async () => {
    const project = oneTask({
      worker: `cat > '{{log}}.turn'"$ASSAY_ATTEMPT"; echo "attempt $ASSAY_ATTEMPT" > work.txt`,
      judge: `cat > '{{log}}.sitting'"$ASSAY_REVIEW"
if [ "$ASSAY_ATTEMPT" = 1 ]; then echo 'The tap drips.'; echo 'SCORE: 30'; else echo 'SCORE: 80'; fi`,
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    const kept = (name: string) => project.read(`tmp/log.${name}`)
    expect(kept('turn1')).not.toContain('# Feedback')
    expect(kept('turn2')).toMatch(/# Feedback on attempt 1[\s\S]*The tap drips\./)
    expect(kept('turn2')).toMatch(/# Decisions so far\n- attempt 1 \(panel\): reject, score 30\/100/)
    expect(kept('sitting1')).not.toContain('# Prior feedback')
    expect(kept('sitting2')).toMatch(/# Prior feedback: answer each point by its ref\n<<<POINTS \S+\n- \S+ \(qa\): The tap drips\./)
    expect(kept('sitting2')).toContain('attempt 2')
    expect(kept('sitting2').match(/nonce: "([^"]+)"/)?.[1]).not.toBe(kept('sitting1').match(/nonce: "([^"]+)"/)?.[1])
  })

  it('that a check sends back costs no judge, and its report is the feedback', { timeout }, async () => {
    const project = oneTask({
      worker: `cat > '{{log}}.turn'"$ASSAY_ATTEMPT"; [ "$ASSAY_ATTEMPT" = 1 ] || echo hello > work.txt; echo done`,
      task: { checks: [{ kind: 'text', id: 'says-hello', path: 'work.txt', contains: ['hello'] }] },
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    expect(project.logged('sittings')).toEqual(['1.1'])
    expect(project.read('tmp/log.turn2')).toContain('says-hello')
  })
})

describe('nobody grades their own work', () => {
  it('not under another name: the task is held, not judged', { timeout }, async () => {
    const project = oneTask({ worker: 'echo x > work.txt; echo done', eyes: { argv: ['./worker.sh'] } })
    const text = project
      .read('assay.yaml')
      .replace('role: reviewer', 'role: engineer\n    judges: true')
      .replace('brain: eyes', 'brain: hands')
    project.write({ 'assay.yaml': text })
    const run = await project.run(['run', 'm.yaml'])
    expect(run.code, run.stderr).toBe(3)
    const { rows, events } = await readJournal(project.folder)
    expect(rows).toMatchObject([{ status: 'held', held: 'no_reviewer' }])
    expect(events.filter(({ type }) => type === 'review.opened')).toEqual([])
    expect(project.logged('turns')).toEqual(['1'])
  })
})
