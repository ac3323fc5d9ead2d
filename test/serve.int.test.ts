import { createServer } from 'node:net'
import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Running, useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import { until, whileRuns } from './front-door/processes.ts'
import { makeProject, parseLines, type Project } from './front-door/project.ts'
import { type Asking, ask, type Heard } from './http/open-door.ts'

useAssay()

const owner = 'the-owner-of-the-test'
const yaml = { 'content-type': 'application/yaml' }

interface Server {
  running: Running
  port: number
  workers: { agent: string; file: string }[]
  ask(path: string, asking?: Asking): Promise<Heard>
}

async function serve(project: Project, ...args: string[]): Promise<Server> {
  project.write({ '.config/assay/owner-token': `${owner}\n` })
  const running = project.start(['serve', '--port', '0', '--json', ...args])
  await whileRuns(running, 'it serves', () => running.stdout().includes('\n'))
  const [said] = parseLines<{ port: number; workers: Server['workers'] }>(running.stdout())
  if (!said) throw new Error('it said nothing')
  return { running, ...said, ask: (path, asking) => ask(said.port, path, { token: owner, ...asking }) }
}

const outside = (): Project =>
  makeProject({
    'assay.yaml': {
      brains: {
        hands: { kind: 'command', argv: ['./worker.sh'] },
        eyes: { kind: 'command', argv: ['./judge.sh'] },
        out: { kind: 'outside' },
      },
      agents: {
        dev: { role: 'engineer', brain: 'hands' },
        ext: { role: 'engineer', brain: 'out' },
        qa: { role: 'reviewer', brain: 'eyes' },
      },
      review: { panel: { size: 1, quorum: 1 } },
    },
    'worker.sh': '#!/bin/sh\necho hello > a.txt\necho done\n',
    'judge.sh': "#!/bin/sh\necho 'SCORE: 80'\n",
  })

const finished = async (server: Server, mission: string): Promise<string | undefined> =>
  (await server.ask(`/v1/missions/${mission}`)).json?.mission?.outcome

describe('assay serve', () => {
  it('works on missions as they come, with its own workers and with those outside', { timeout: 120_000 }, async () => {
    const project = outside()
    const server = await serve(project, '--worker', 'ext')
    const [worker] = server.workers
    expect(worker?.agent).toBe('ext')
    expect(statSync(worker?.file ?? '').mode & 0o777).toBe(0o600)
    const token = project.read(worker?.file.slice(project.folder.length + 1) ?? '').trim()

    const tasks = '[{ title: a, assignTo: dev, description: Do it. }, { title: b, assignTo: ext, description: Do it., dependsOn: [a] }]'
    expect((await server.ask('/v1/missions', { body: `name: M\ntasks: ${tasks}`, headers: yaml })).status).toBe(201)
    await until('a is done and b is ready', async () => (await server.ask('/v1/tasks/m-1%2Fb')).json.task.status === 'todo')
    const taken = await server.ask('/v1/tasks/m-1%2Fb/take', { method: 'POST', token })
    expect(taken.json).toMatchObject({ attempt: 1 })
    const submitted = { attempt: 1, case: { summary: 'done', ac_coverage: [] }, output: 'the work' }
    expect((await server.ask('/v1/tasks/m-1%2Fb/case', { body: submitted, token })).json).toEqual({ problems: [] })
    expect((await server.ask('/v1/tasks/m-1%2Fb/review?wait=45', { token })).json).toMatchObject({ phase: 'accepted', flag: 'clean' })
    await until('the mission is finished', async () => (await finished(server, 'm-1')) === 'clean')

    // Another door starts the next one; the server joins it, and the owner's answers on the command line are heard.
    const stopped = await server.ask('/v1/missions', {
      body: 'name: N\ntasks: [{ title: a, assignTo: dev, description: Do it. }]',
      headers: yaml,
    })
    expect(stopped.json.mission).toBe('n-1')
    await until('the second is finished', async () => (await finished(server, 'n-1')) === 'clean')
    const retried = await project.run(['overrule', 'n-1/a', 'fail', '--reason', 'not that'], { env: { ASSAY_OWNER_TOKEN: owner } })
    expect(retried.code).toBe(0)
    expect((await server.ask('/v1/tasks/n-1%2Fa')).json.task.status).not.toBe('done')
    expect((await server.ask('/v1/audit/verify', { method: 'POST' })).json).toMatchObject({ intact: true, breaks: [] })

    server.running.child.kill('SIGTERM')
    expect((await server.running.ended).code).toBe(0)
    const again = await serve(project, '--worker', 'ext')
    expect((await again.ask('/v1/health', { token })).json).toMatchObject({ scope: 'worker', agent: 'ext', status: 'ok' })
  })

  it('stops with grace and goes on where it was', { timeout: 120_000 }, async () => {
    const project = oneTask({ worker: "echo begun >> '{{log}}'; [ \"$(wc -l < '{{log}}')\" -gt 1 ] || sleep 300; echo done" })
    project.write({ 'assay.yaml': `${project.read('assay.yaml')}stopGrace: 0s\n` })
    const server = await serve(project)
    expect((await server.ask('/v1/missions', { body: project.read('m.yaml'), headers: yaml })).status).toBe(201)
    await until('the worker is at it', () => project.logged('log').length === 1)
    server.running.child.kill('SIGTERM')
    const { code, stderr } = await server.running.ended
    expect(code).toBe(0)
    expect(stderr).toContain('stopping')
    await expect(server.ask('/v1/health')).rejects.toThrow(/ECONNREFUSED/)

    const again = await serve(project)
    await until('the mission is finished', async () => (await finished(again, 'm-1')) === 'clean')
    const attempts = (await again.ask('/v1/audit?stream=task/m-1%2Fa&type=attempt.*')).json.items.map(({ type }: { type: string }) => type)
    expect(attempts).toEqual(['attempt.started', 'attempt.stopped', 'attempt.started'])
  })

  it('says what is wrong with how it was called before it listens', { timeout: 120_000 }, async () => {
    const project = outside()
    const cases: [string[], Record<string, string>, RegExp][] = [
      [['--worker', 'nobody'], {}, /there is no agent nobody; there are: dev, ext, qa/],
      [['--worker-token-env', 'TOKEN'], {}, /takes NAME=agent/],
      [['--worker-token-env', 'TOKEN=ext'], {}, /TOKEN is not set/],
      [['--worker-token-env', 'TOKEN=ext'], { TOKEN: 'short' }, /TOKEN is too short/],
      [['--worker-token-env', 'TOKEN=ext', '--worker-token-env', 'TOKEN=dev'], { TOKEN: 'x'.repeat(30) }, /the same token/],
      [['--port', 'http'], {}, /http is no port/],
    ]
    for (const [args, env, message] of cases) {
      const { code, stderr, stdout } = await project.run(['serve', ...args], { env })
      expect(stderr).toMatch(message)
      expect([code, stdout]).toEqual([2, ''])
    }
    const taken = createServer().listen(0, '127.0.0.1')
    await until('the port is taken', () => taken.address() !== null)
    const { port } = taken.address() as { port: number }
    const { code, stderr } = await project.run(['serve', '--port', String(port)])
    taken.close()
    expect(stderr).toMatch(/cannot be listened on \(EADDRINUSE\) \(--port 0/)
    expect(code).toBe(2)
  })
})
