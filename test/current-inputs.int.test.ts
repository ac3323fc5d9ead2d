import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 180_000
useAssay()

const worker = `cat > /dev/null
if [ -d inputs ]; then cat $(find inputs -name out.txt) > out.txt; else echo "A attempt $ASSAY_ATTEMPT" > out.txt; fi
echo '{"summary":"done","ac_coverage":[]}'
`

const accept = [{ accept: true, scores: 4 }]
const reject = [{ accept: false, scores: 2 }, ...accept]

interface Extras {
  script?: string
  mission?: object
  last?: object
}

/** A, then B, then C; each hands on what A wrote. */
function chained(judged: Record<string, object[]>, review: object, { script = worker, mission = {}, last = {} }: Extras = {}): Project {
  return makeProject({
    'assay.yaml': {
      brains: { hands: { kind: 'command', argv: ['sh', '-c', script] }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
      agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
      review: { panel: { size: 1, quorum: 1 }, maxAttempts: 1, ...review },
    },
    'eyes.yaml': { judges: { '*': { a: accept, b: accept, c: accept, ...judged } } },
    'm.yaml': {
      name: 'M',
      tasks: [
        { title: 'a', assignTo: 'dev', description: 'a' },
        { title: 'b', assignTo: 'dev', description: 'b', dependsOn: ['a'] },
        { title: 'c', assignTo: 'dev', description: 'c', dependsOn: ['b'], ...last },
      ],
      ...mission,
    },
  })
}

const owner = async (project: Project, ...args: string[]) => {
  const said = await project.asOwner(args)
  expect(said.code, said.stdout + said.stderr).toBe(0)
}

describe('a failed task that is tried again after what it depends on was overruled', () => {
  it('works on what that is then, and so does what comes after it', { timeout }, async () => {
    const project = chained({ b: reject }, { onExhausted: 'fail' }, { last: { deliverable: { kind: 'file', path: 'out.txt', id: 'rep' } } })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    await owner(project, 'overrule', 'a', 'fail', '--reason', 'x')
    await owner(project, 'mission', 'retry', 'm-1', '--reason', 'again')
    const resumed = await project.run(['resume'])
    expect(resumed.stdout).toContain('RESULT: PASS  (3 clean)')
    expect(resumed.code).toBe(0)
    const cards = (await project.json<{ type: string; card: string }>(['inbox'])).lines.filter(({ type }) => type === 'report_ready')
    expect(cards).toHaveLength(1)
    await owner(project, 'inbox', 'export', cards[0]?.card ?? '', '--out', 'got')
    expect(project.read('got/out.txt')).toBe('A attempt 2\n')
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
  })

  it('by its gate, has the gate look at what was made of that', { timeout }, async () => {
    const qualityGates = [{ name: 'g', afterTasks: ['b'], blocksTasks: ['c'], minScore: 4, requireAllPassed: true }]
    const project = chained({ b: reject }, { onExhausted: 'fail' }, { mission: { qualityGates } })
    await project.run(['run', 'm.yaml'])
    await owner(project, 'overrule', 'a', 'fail', '--reason', 'x')
    await owner(project, 'requests', 'answer', 'm-1/gate:g#1', 'retry')
    const resumed = await project.run(['resume'])
    expect(resumed.code, resumed.stdout).toBe(0)
    const events = await project.events()
    const at = (stream: string, type: string) => events.findLastIndex((event) => event.stream === stream && event.type === type)
    expect(at('task/m-1/b', 'attempt.started')).toBeGreaterThan(at('task/m-1/a', 'task.accepted'))
    expect(at('gate/m-1/g', 'quality.gate.passed')).toBeGreaterThan(at('task/m-1/b', 'task.accepted'))
  })

  it('reads that it builds on work below the bar', { timeout }, async () => {
    const script = worker.replace('cat > /dev/null', 'cat > /dev/null; [ -d inputs ] && [ "$ASSAY_ATTEMPT" = 1 ] && exit 1')
    const project = chained({ a: [...accept, { accept: false, scores: 2 }] }, {}, { script })
    await project.run(['run', 'm.yaml'])
    await owner(project, 'requests', 'answer', 'm-1/b#1', 'fail', '--reason', 'no')
    await owner(project, 'overrule', 'a', 'fail', '--reason', 'x')
    await project.run(['resume'])
    await owner(project, 'mission', 'retry', 'm-1', '--reason', 'again')
    const resumed = await project.run(['resume'])
    expect(resumed.code, resumed.stdout).toBe(1)
    const given = (await project.events()).filter(({ stream, type }) => stream === 'task/m-1/b' && type === 'task.readied').at(-1)
    expect(given?.data).toMatchObject({ inputs: [{ flag: 'below-threshold', prefix: expect.stringContaining('BELOW QUALITY BAR') }] })
  })
})
