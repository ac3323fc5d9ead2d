import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { displayWidth } from '../src/doors/cli/render/table.ts'
import { assayCommand, plainEnv, useAssay } from './front-door/assay.ts'
import { obeyed } from './front-door/characters.ts'
import { oneTask } from './front-door/one-task.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status === 0
if (!hasScript) console.warn('skipped: a real terminal needs `script` (package util-linux or bsdutils)')

/** Everything that a terminal of this width is sent. */
async function onTerminal(project: Project, args: string[], columns: number, env: Record<string, string> = {}): Promise<string> {
  const command = assayCommand(args)
    .map((word) => `'${word}'`)
    .join(' ')
  const child = spawn('script', ['-qec', `stty cols ${columns} rows 20; exec ${command}`, '/dev/null'], {
    cwd: project.folder,
    env: { ...plainEnv(project.folder), TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let sent = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    sent += text
  })
  await once(child, 'close')
  return sent.replaceAll('\r\n', '\n')
}

const esc = String.fromCharCode(27)
const colours = new RegExp(`${esc}\\[\\d+(;\\d+)*m`, 'g')
/** What Assay itself uses besides colours: up some lines, clear below. Nothing else may begin with an escape. */
const movements = new RegExp(`${esc}\\[(\\d+A|0J)`, 'g')

function expectHarmless(sent: string, columns: number): void {
  const text = sent.replaceAll(colours, '').replaceAll(movements, '')
  expect(obeyed(text)).toEqual([])
  // The next command stands on one line whatever its length: one that is broken in two cannot be copied.
  for (const line of text.split('\n').filter((one) => !one.startsWith('Next: ')))
    expect(displayWidth(line), line).toBeLessThanOrEqual(columns)
}

/** ANSI, window title, C1, bidirectional and tag characters, as printf writes them. */
const tricks = '\\033[2J \\033]0;own ed\\007 \\302\\2332J \\342\\200\\256evil \\330\\234 \\342\\201\\246 \\015over \\010\\010'

const longTitle = 'Eine sehr lange Aufgabe mit 日本語の題名 und mehr'

function hostileProject(): Project {
  return oneTask({
    worker: `printf '{"summary": "done %b", "ac_coverage": []}' '${tricks}' | tr -d '\\033\\007\\015\\010' > "$ASSAY_CASE_FILE"
printf '${tricks}\\n'; printf '${tricks}' > 'work.txt'; [ "$ASSAY_ATTEMPT" = 1 ] && { printf '${tricks} broken\\n' >&2; exit 3; }; exit 0`,
    judge: `printf 'I see ${tricks} here\\nSCORE: 40\\n'`,
    task: { title: longTitle },
  })
}

describe('a terminal', () => {
  it.skipIf(!hasScript).each([20, 80])(
    'of %i columns is sent no wider line, and nothing that agents wrote is obeyed',
    { timeout },
    async (columns) => {
      const project = hostileProject()
      const live = await onTerminal(project, ['run', 'm.yaml'], columns)
      expect(live).toContain('RESULT: FAIL')
      expect(live, 'the panel is drawn anew').toMatch(movements)
      expect(live.replaceAll('\n', '')).toContain('⟦U+')
      expectHarmless(live, columns)
      expectHarmless(await onTerminal(project, ['task', 'list'], columns), columns)
      expectHarmless(await onTerminal(project, ['audit'], columns), columns)
    },
  )

  it.skipIf(!hasScript)('shows all tasks of the mission from the start', { timeout }, async () => {
    const project = makeProject({
      'assay.yaml': {
        brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
        agents: { dev: { role: 'engineer', brain: 'canned' } },
      },
      'brain.yaml': 'workers: { "*": [{ delay: 300ms, print: done }] }\n',
      'm.yaml': {
        name: 'M',
        tasks: ['a', 'b', 'c'].map((title, index) => ({
          title,
          assignTo: 'dev',
          description: 'd',
          ...(index > 0 && { dependsOn: ['a'] }),
        })),
      },
    })
    const live = await onTerminal(project, ['run', 'm.yaml'], 80)
    expect(live).toContain('0/3 ended, 1 under way')
    expect(live).toContain('3/3 ended, 0 under way')
  })

  it.skipIf(!hasScript)('under NO_COLOR has no colour; a dumb one has no panel either', { timeout }, async () => {
    const project = hostileProject()
    const plain = await onTerminal(project, ['run', 'm.yaml'], 80, { NO_COLOR: '1' })
    expect(plain).toContain('RESULT: FAIL')
    expect(plain).not.toMatch(colours)
    const dumb = await onTerminal(hostileProject(), ['run', 'm.yaml'], 80, { TERM: 'dumb' })
    expect(dumb).toContain('RESULT: FAIL')
    expect(dumb).not.toContain(esc)
  })
})

describe('without a terminal', () => {
  it('nothing that agents wrote is obeyed by whoever reads it later', { timeout }, async () => {
    const project = hostileProject()
    const run = await project.run(['run', 'm.yaml'])
    expect(run.code, run.stderr).toBe(1)
    const outputs = [run, await project.run(['task', 'show', longTitle]), await project.run(['audit', '--all'])]
    for (const { stdout, stderr, code } of outputs) {
      expect(code, stderr).not.toBe(2)
      expect(obeyed(stdout + stderr)).toEqual([])
    }
    expect(outputs.map(({ stdout, stderr }) => stdout + stderr).join('')).toContain('⟦U+202E⟧')
  })
})
