import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { assayCommand, plainEnv, useAssay } from './front-door/assay.ts'
import { readJournal } from './front-door/journal.ts'
import { makeProject, parseLines, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

interface Scene {
  what: string
  code: number
  result: string
  counts: Record<string, number>
  workers?: string
  judges?: string
  review?: Record<string, unknown>
  solo?: boolean
  args?: string[]
}

const good = '[{ accept: true, scores: 4 }]'
const bad = '[{ accept: false, scores: 2 }]'

const scenes: Scene[] = [
  { what: 'accepted clean', code: 0, result: 'PASS', counts: { clean: 2 } },
  {
    what: 'one below the bar',
    code: 1,
    result: 'FAIL',
    counts: { clean: 1, 'below-threshold': 1 },
    judges: `{ "*": { a: ${bad}, b: ${good} } }`,
  },
  {
    what: 'one failed, its dependent skipped',
    code: 1,
    result: 'FAIL',
    counts: { failed: 1, skipped: 1 },
    judges: `{ "*": { a: ${bad} } }`,
    review: { onExhausted: 'fail' },
  },
  {
    what: 'held for the owner',
    code: 3,
    result: 'INCONCLUSIVE',
    counts: { held: 1, waiting: 1 },
    judges: `{ "*": { a: ${bad} } }`,
    review: { onExhausted: 'escalate' },
  },
  {
    what: 'held because nobody could be read',
    code: 3,
    result: 'INCONCLUSIVE',
    counts: { held: 1, waiting: 1 },
    judges: '{ "*": [{ raw: "lovely" }] }',
  },
  { what: 'nobody else to review', code: 3, result: 'UNREVIEWED', counts: { unreviewed: 2 }, solo: true },
  {
    what: 'nobody could be read, and that is allowed',
    code: 3,
    result: 'UNREVIEWED',
    counts: { unreviewed: 2 },
    judges: '{ "*": [{ raw: "lovely" }] }',
    args: ['--fail-open'],
  },
  { what: 'no review wanted', code: 0, result: 'UNREVIEWED', counts: { unreviewed: 2 }, args: ['--no-eval'] },
  {
    what: 'no review wanted, but the check fails',
    code: 3,
    result: 'INCONCLUSIVE',
    counts: { held: 1, waiting: 1 },
    workers: '{ "*": [{ print: nothing }] }',
    args: ['--no-eval'],
  },
  {
    what: 'a failure weighs more than a hold',
    code: 1,
    result: 'FAIL',
    counts: { 'below-threshold': 1, held: 1 },
    workers: '{ a: [{ write: { a.txt: x } }], b: [{ exit: 1 }] }',
    judges: `{ "*": { a: ${bad} } }`,
  },
]

function project({
  workers = '{ "*": [{ write: { a.txt: x } }] }',
  judges = `{ "*": ${good} }`,
  review = {},
  solo = false,
}: Partial<Scene>): Project {
  return makeProject({
    'assay.yaml': {
      brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
      agents: {
        dev: { role: 'engineer', brain: 'canned' },
        ...(!solo && {
          qa: { role: 'reviewer', brain: 'canned', instructions: 'Look.' },
          qe: { role: 'reviewer', brain: 'canned', instructions: 'Look twice.' },
        }),
      },
      review: { maxAttempts: 1, ...review },
    },
    'brain.yaml': `workers: ${workers}\njudges: ${judges}\n`,
    'm.yaml': {
      name: 'M',
      tasks: [
        { title: 'a', assignTo: 'dev', description: 'd', checks: [{ kind: 'file', path: 'a.txt' }] },
        { title: 'b', assignTo: 'dev', description: 'd', dependsOn: ['a'] },
      ],
    },
  })
}

const outcomes: Record<string, string> = { PASS: 'clean', UNREVIEWED: 'unreviewed', FAIL: 'failed', INCONCLUSIVE: 'inconclusive' }

interface Result {
  kind: string
  exitCode: number
  counts: Record<string, number>
  tasks: { id: string }[]
}

describe('the exit code tells what came of a mission', () => {
  it.each(scenes)('$what: $code', { timeout }, async ({ code, result, counts, args = [], ...scene }) => {
    const [plain, json] = await Promise.all([
      project(scene).run(['run', 'm.yaml', ...args]),
      project(scene).run(['run', 'm.yaml', ...args, '--json']),
    ])
    expect(plain.code, plain.stderr).toBe(code)
    expect(plain.stdout).toContain(`RESULT: ${result}  (`)
    for (const [label, count] of Object.entries(counts)) expect(plain.stdout).toContain(`${count} ${label}`)
    expect(plain.stdout + plain.stderr).not.toContain('\u001b')

    expect(json.code).toBe(code)
    const lines = parseLines<Result>(json.stdout)
    expect(lines.at(-1)).toMatchObject({ kind: 'result', exitCode: code, counts, outcome: outcomes[result] })
    expect(
      lines
        .at(-1)
        ?.tasks.map(({ id }) => id)
        .sort(),
    ).toEqual(['m-1/a', 'm-1/b'])
    expect(lines.slice(0, -1).map(({ kind }) => kind)).toEqual(lines.slice(1).map(() => 'event'))
  })

  it('and so does resuming what is held, or what is finished', { timeout }, async () => {
    const held = project({ judges: `{ "*": { a: ${bad} } }`, review: { onExhausted: 'escalate' } })
    expect((await held.run(['run', 'm.yaml'])).code).toBe(3)
    expect((await held.run(['resume'])).code).toBe(3)
    const ended = project({ judges: `{ "*": { a: ${bad}, b: ${good} } }` })
    expect((await ended.run(['run', 'm.yaml'])).code).toBe(1)
    expect(await ended.run(['resume'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/Nothing to resume.*m-1, ended failed/),
    })
    expect((await ended.run(['resume', 'm-1'])).code).toBe(1)
  })

  it('a finished mission is run anew by run', { timeout }, async () => {
    const again = project({})
    expect((await again.run(['run', 'm.yaml'])).code).toBe(0)
    expect((await again.run(['run', 'm.yaml'])).code).toBe(0)
    const rows = (await again.json<{ id: string }>(['task', 'list'])).lines
    expect(rows.map(({ id }) => id)).toEqual(['m-1/a', 'm-1/b', 'm-2/a', 'm-2/b'])
  })
})

describe('a reader that goes away', () => {
  /** `assay … | reader`, in a shell that tells the exit code of the first. */
  async function piped(one: Project, args: string[], reader: string): Promise<{ code: number; stderr: string; read: string }> {
    const script = `{ "$@" 2> err; echo $? > code; } | ${reader} > read`
    const child = spawn('sh', ['-c', script, 'sh', ...assayCommand(args)], { cwd: one.folder, env: plainEnv(one.folder), stdio: 'ignore' })
    await once(child, 'close')
    return { code: Number(one.read('code')), stderr: one.read('err'), read: one.read('read') }
  }

  it('does not disturb the mission, and leaves no stack behind', { timeout }, async () => {
    const one = project({ workers: '{ "*": [{ delay: 100ms, write: { a.txt: x } }] }', judges: `{ "*": { a: ${bad}, b: ${good} } }` })
    const { code, stderr, read } = await piped(one, ['run', 'm.yaml', '--json'], 'head -1')
    expect(parseLines(read)).toHaveLength(1)
    expect(stderr).not.toMatch(/EPIPE|\n\s+at /)
    expect(code).toBe(1)
    const { rows, events, verification } = await readJournal(one.folder)
    expect(rows.map(({ flag }) => flag)).toEqual(['below-threshold', 'clean'])
    expect(events.at(-1)?.type).toBe('mission.finished')
    expect(verification.breaks).toEqual([])
  })

  it('still leaves somebody who reads the other channel', { timeout }, async () => {
    const one = project({ workers: '{ "*": [{ delay: 100ms, write: { a.txt: x } }] }' })
    const { code, stderr } = await piped(one, ['run', 'm.yaml', '--json', '--no-eval'], 'true')
    expect(code).toBe(0)
    expect(stderr).not.toMatch(/EPIPE|\n\s+at /)
    expect((await piped(one, ['audit', '--all'], 'head -1')).code).toBe(0)
    const listed = await piped(one, ['task', 'list'], 'true')
    expect(listed).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('colour', () => {
  it('is not in what is piped, is where it is forced, and is not under NO_COLOR', { timeout }, async () => {
    const one = project({})
    expect((await one.run(['run', 'm.yaml'])).code).toBe(0)
    const shown = async (env: Record<string, string>) => (await one.run(['task', 'show', 'a'], { env })).stdout
    expect(await shown({})).not.toContain('\u001b')
    expect(await shown({ FORCE_COLOR: '1' })).toContain('\u001b[')
    expect(await shown({ FORCE_COLOR: '1', NO_COLOR: '1' })).not.toContain('\u001b')
  })
})
