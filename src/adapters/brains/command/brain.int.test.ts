import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultDimensions } from '../../../contract/config/review.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import { readReply } from '../../../core/verdict/read.ts'
import type { JudgeQuestion, WorkEnding } from '../../../ports/brain.ts'
import { sandboxState } from '../../process/sandbox.ts'
import { type CommandBrainOptions, openCommandBrain } from './brain.ts'

const sandbox = await sandboxState()
if (!sandbox.usable) console.warn(`sandboxed brains are not tested: ${sandbox.reason}; install bubblewrap`)

const task: TaskSpec = {
  id: 't1',
  title: 'Write core',
  description: '',
  assignee: 'dev',
  criteria: [{ id: 'AC1', text: 'core.txt exists', hard: true }],
  checks: [],
  dimensions: defaultDimensions,
  bar: 60,
  dependsOn: [],
  priority: 1,
  workspace: { kind: 'scratch' },
  expectsDiff: true,
  depth: 0,
}

let project: string
let workspace: string
let runs: string
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'assay-brain-'))
  workspace = join(project, '.assay', 'work', 't1')
  runs = join(project, '.assay', 'run')
  mkdirSync(workspace, { recursive: true })
  mkdirSync(runs)
})
afterEach(() => rmSync(project, { recursive: true, force: true }))

/** A brain whose command is this shell script, beside the configuration. */
function brain(script: string, more: Partial<CommandBrainOptions['brain']> = {}, options: Partial<CommandBrainOptions> = {}) {
  writeFileSync(join(project, 'worker.sh'), `#!/bin/sh\n${script}\n`)
  chmodSync(join(project, 'worker.sh'), 0o755)
  return openCommandBrain({
    brain: { kind: 'command', argv: ['./worker.sh'], ...more },
    configDir: project,
    attemptTimeoutMs: 30_000,
    judgeTimeoutMs: 30_000,
    maxOutputBytes: 100_000,
    maxReplyBytes: 20_000,
    maxCaseBytes: 10_000,
    killGraceMs: 200,
    privateRoot: runs,
    ...options,
  })
}
const live = new AbortController().signal
function work(
  script: string,
  more: Partial<CommandBrainOptions['brain']> = {},
  options: Partial<CommandBrainOptions> = {},
): Promise<WorkEnding> {
  return brain(script, more, options).work({ task, agent: 'dev', instructions: undefined, attempt: 2, prompt: 'Do it.\n', workspace }, live)
}

describe('a command as a worker', () => {
  afterEach(() => expect(readdirSync(runs)).toEqual([]))

  it('gets its prompt, its folder and its variables', async () => {
    const ending = await work('cat; pwd; echo "$ASSAY_TASK $ASSAY_AGENT $ASSAY_ATTEMPT"; echo "$ASSAY_WORKSPACE"; echo hello > core.txt')
    expect(ending).toMatchObject({
      kind: 'finished',
      raw: null,
      output: `Do it.\n${workspace}\nt1 dev 2\n${workspace}\n`,
      sandboxed: sandbox.usable,
    })
    expect(readFileSync(join(workspace, 'core.txt'), 'utf8')).toBe('hello\n')
  })

  it('submits its case in a file, which comes before what it prints', async () => {
    const ending = await work(`echo '{"summary":"printed"}'; echo '{"summary":"filed"}' > "$ASSAY_CASE_FILE"`)
    expect(ending).toMatchObject({ kind: 'finished', raw: '{"summary":"filed"}\n', output: '{"summary":"printed"}\n' })
  })

  it('submits the last JSON block that it prints', async () => {
    expect(await work(`echo log; echo '{"summary":"printed"}'`)).toMatchObject({
      kind: 'finished',
      raw: '{"summary":"printed"}',
      output: 'log\n',
    })
    expect(await work('exit 0')).toMatchObject({ kind: 'finished', raw: null, output: '' })
  })

  it.each<[string, string]>([
    ['too long', 'head -c 20000 /dev/zero > "$ASSAY_CASE_FILE"'],
    ['a link', 'ln -s /etc/passwd "$ASSAY_CASE_FILE"'],
    ['a pipe', 'mkfifo "$ASSAY_CASE_FILE"'],
    ['a folder', 'mkdir "$ASSAY_CASE_FILE"'],
  ])('hands in a case that cannot be read where its case file is %s', async (_name, script) => {
    expect(await work(`echo '{"summary":"printed"}'; ${script}`)).toMatchObject({
      kind: 'finished',
      raw: '',
      unreadable: expect.stringContaining('case file'),
      output: '{"summary":"printed"}\n',
    })
  })

  it.each<[string, string, object, object]>([
    [
      'exits with a code',
      'echo out; echo why >&2; exit 3',
      {},
      { failure: 'exit', detail: 'exit code 3: why', output: 'out\n\n--- standard error ---\nwhy\n' },
    ],
    ['submits a case and fails', `echo '{"summary":"x"}'; exit 1`, {}, { failure: 'exit', detail: 'exit code 1' }],
    ['is killed', 'kill -9 $$', {}, { failure: 'signal', detail: 'ended by SIGKILL' }],
    [
      'hangs',
      'trap "" TERM; echo begun; sleep 600',
      { timeout: '1s' },
      { failure: 'timeout', detail: 'ended after its time limit of 1000 ms', output: 'begun\n' },
    ],
  ])('fails fast when it %s', async (_name, script, more, expected) => {
    expect(await work(script, more)).toMatchObject({ kind: 'failed', beforeEffect: false, ...expected })
  })

  it.each<[string, Partial<CommandBrainOptions['brain']>, object]>([
    ['is missing', { argv: ['./absent.sh'] }, { failure: 'not_found' }],
    ['is not in PATH', { argv: ['assay-no-such-command'] }, { failure: 'not_found' }],
    ['is not executable', { argv: ['./plain.txt'] }, { failure: 'spawn_error' }],
    [
      'asks for a variable that is never passed',
      { env: ['NODE_OPTIONS'] },
      { failure: 'spawn_error', detail: expect.stringContaining('NODE_OPTIONS') },
    ],
  ])('is known not to have begun when it %s', async (_name, more, expected) => {
    writeFileSync(join(project, 'plain.txt'), 'text')
    expect(await work('touch began', more)).toMatchObject({ kind: 'failed', beforeEffect: true, output: '', ...expected })
    expect(existsSync(join(workspace, 'began'))).toBe(false)
  })

  it('is stopped with everything that it started', async () => {
    const stop = new AbortController()
    const script = `setsid sh -c 'while :; do echo x >> beat; sleep 0.05; done' & echo begun; sleep 600`
    const ending = brain(script).work({ task, agent: 'dev', instructions: undefined, attempt: 1, prompt: '', workspace }, stop.signal)
    while (!existsSync(join(workspace, 'beat'))) await sleep(10)
    stop.abort()
    expect(await ending).toMatchObject({ kind: 'stopped', output: expect.stringMatching(/^begun\n/) })
    const beats = readFileSync(join(workspace, 'beat')).length
    await sleep(300)
    expect(readFileSync(join(workspace, 'beat')).length).toBe(beats)
  })

  it('sees named variables and no secrets', async () => {
    Object.assign(process.env, { BRAIN_NAMED: 'named-2', BRAIN_SHARED: 'shared-2', BRAIN_CANARY: 'canary-2' })
    try {
      const { output } = (await work('env', { env: ['BRAIN_NAMED'] }, { passEnv: ['BRAIN_SHARED'] })) as { output: string }
      expect(output).toContain('BRAIN_NAMED=named-2')
      expect(output).toContain('BRAIN_SHARED=shared-2')
      expect(output).not.toContain('canary-2')
    } finally {
      for (const name of ['BRAIN_NAMED', 'BRAIN_SHARED', 'BRAIN_CANARY']) delete process.env[name]
    }
  })

  it('runs in a folder of the configuration where that is asked for', async () => {
    mkdirSync(join(project, 'tools'))
    expect(await work('pwd; echo x > "$ASSAY_WORKSPACE/made"', { cwd: 'tools' })).toMatchObject({ output: `${join(project, 'tools')}\n` })
    expect(existsSync(join(workspace, 'made'))).toBe(true)
  })

  it('prints more than is kept without harm, and its case is still found', async () => {
    const ending = await work(`head -c 5000000 /dev/zero | tr '\\0' x; echo; echo '{"summary":"done"}'`)
    expect(ending).toMatchObject({ kind: 'finished', raw: '{"summary":"done"}', output: expect.stringContaining('bytes left out') })
  })

  it.skipIf(!sandbox.usable)('reaches its workspace and nothing else of Assay', async () => {
    writeFileSync(join(project, '.assay', 'assay.db'), 'journal')
    mkdirSync(join(project, '.assay', 'work', 't2'))
    const script = 'ls ../..; cat ../../assay.db; echo x > ../../assay.db; ls ..; echo y > ../../../outside; echo z > inside; true'
    const ending = await work(script)
    expect(ending).toMatchObject({ kind: 'finished', sandboxed: true, output: 'run\nwork\nt1\n' })
    expect(readFileSync(join(project, '.assay', 'assay.db'), 'utf8')).toBe('journal')
    expect(existsSync(join(workspace, 'inside'))).toBe(true)
  })

  it.skipIf(!sandbox.usable)('writes elsewhere only where that is allowed', async () => {
    const outside = '/var/tmp/assay-brain-test-outside'
    const script = `touch ${outside} && rm ${outside}`
    expect(await work(script)).toMatchObject({ kind: 'failed', failure: 'exit' })
    expect(await work(script, {}, { workersWrite: 'everywhere' })).toMatchObject({ kind: 'finished' })
  })
})

describe('a command as a judge', () => {
  let snapshot: string
  beforeEach(() => {
    snapshot = join(project, '.assay', 'copy')
    mkdirSync(snapshot)
    writeFileSync(join(snapshot, 'core.txt'), 'hello')
  })
  const question = (): JudgeQuestion => ({
    task,
    judge: 'qa',
    instructions: undefined,
    review: 3,
    attempt: 2,
    seat: 1,
    round: 1,
    nonce: 'nonce-1234',
    form: 'text',
    criteria: task.criteria,
    dimensions: task.dimensions,
    points: [],
    prompt: 'Judge it.\n',
    reader: { files: async () => [], read: async () => undefined },
    snapshot: () => Promise.resolve(snapshot),
  })
  const judge = (
    script: string,
    more: Partial<CommandBrainOptions['brain']> = {},
    options: Partial<CommandBrainOptions> = {},
    signal = live,
  ) => brain(script, more, options).judge(question(), signal)

  it('answers with everything that it prints', async () => {
    expect(
      await judge(
        'cat; cat "$ASSAY_SNAPSHOT/core.txt"; echo; echo "$ASSAY_REVIEW $ASSAY_SEAT $ASSAY_SNAPSHOT"; echo SCORE: 72; echo noise >&2',
      ),
    ).toMatchObject({
      kind: 'reply',
      reply: { channel: 'text', body: `Judge it.\nhello\n3 1 ${snapshot}\nSCORE: 72\n` },
    })
  })

  it('has no finish reason unless its reply was cut, and a cut one cannot be read', async () => {
    const whole = await judge('echo SCORE: 90')
    expect(whole).toMatchObject({ kind: 'reply', reply: { body: 'SCORE: 90\n' } })
    expect(whole.kind === 'reply' && 'finish' in whole.reply).toBe(false)
    const cut = await judge(
      `echo SCORE: 90; head -c 100000 /dev/zero | tr '\\0' x; echo; echo SCORE: 10; head -c 100000 /dev/zero | tr '\\0' x`,
    )
    if (cut.kind !== 'reply') throw new Error(cut.kind)
    expect(cut.reply.finish).toBe('length')
    expect(cut.reply.body.match(/SCORE/g)).toHaveLength(1)
    expect(readReply(cut.reply, question()).kind).toBe('unreadable')
  })

  it.each<[string, string, Partial<CommandBrainOptions['brain']>, RegExp]>([
    ['fails', 'echo SCORE: 90; exit 1', {}, /exit code 1/],
    ['crashes', 'echo SCORE: 90; kill -SEGV $$', {}, /SIGSEGV/],
    ['takes too long', 'echo SCORE: 90; sleep 600', { timeout: '1s' }, /time limit/],
    ['is missing', '', { argv: ['./absent'] }, /does not exist/],
  ])('is unavailable when it %s', async (_name, script, more, words) => {
    expect(await judge(script, more)).toMatchObject({ kind: 'unavailable', detail: expect.stringMatching(words) })
  })

  it('can be stopped', async () => {
    expect(await judge('echo SCORE: 90', {}, {}, AbortSignal.abort())).toEqual({ kind: 'stopped' })
  })

  it.skipIf(!sandbox.usable)('reads the work and cannot change it', async () => {
    writeFileSync(join(project, '.assay', 'assay.db'), 'journal')
    expect(await judge('cd "$ASSAY_SNAPSHOT"; cat core.txt; echo changed > core.txt; rm core.txt; cat ../assay.db; true')).toMatchObject({
      kind: 'reply',
      reply: { body: 'hello' },
    })
    expect(readFileSync(join(snapshot, 'core.txt'), 'utf8')).toBe('hello')
  })
})
