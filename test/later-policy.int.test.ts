import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { cardsOf } from './front-door/deliverables.ts'
import { until } from './front-door/processes.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 600_000
const killAt = fileURLToPath(new URL('./front-door/kill-at.ts', import.meta.url))
useAssay()

const config = (threshold: number, more: object = {}) => ({
  brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'canned' }, ada: { role: 'reviewer', brain: 'canned' } },
  review: { panel: { size: 1, quorum: 1 }, threshold, maxAttempts: 2 },
  limits: { judgeRetries: 0 },
  ...more,
})
const task = (title: string, more: object = {}) => ({ title, assignTo: 'dev', description: title, ...more })
const file = (path: string, id: string) => ({ deliverable: { kind: 'file', path, id } })

/** A → B, which hands over `b.txt`; and C, which hands over `c.txt`, where its judge says something. */
function project(judgesOfC?: object[], more: object = {}): Project {
  const c = judgesOfC ? [task('C', { dependsOn: ['B'], ...file('c.txt', 'cee') })] : []
  const one = (path: string) => [1, 2, 3].map(() => ({ write: { [path]: `the bytes of ${path}` } }))
  return makeProject({
    'assay.yaml': config(60, more),
    'm.yaml': { name: 'M', tasks: [task('A'), task('B', { dependsOn: ['A'], ...file('b.txt', 'bee') }), ...c] },
    'brain.yaml': {
      workers: { A: one('a.txt'), B: one('b.txt'), C: one('c.txt') },
      judges: { '*': { '*': [{ accept: true, scores: 4 }], ...(judgesOfC && { C: judgesOfC }) } },
    },
  })
}

const reports = async (made: Project) => (await cardsOf(made)).filter(({ type, state }) => type === 'report_ready' && state === 'pending')
const textOf = async (made: Project, ...args: string[]) => {
  const { stdout, stderr } = await made.run(args)
  return `${stdout}${stderr}`
}

/** Number of events when the task of this id was accepted. */
async function acceptedAt(make: () => Project, id: string): Promise<number> {
  const calm = make()
  await calm.run(['run', 'm.yaml'])
  return (await calm.events()).find(({ type, stream }) => type === 'task.accepted' && stream === `task/${id}`)?.position ?? 0
}

describe('work that was decided before another policy took over', () => {
  it('is shown, told and signed with the bar that it met, not with one that came later', { timeout }, async () => {
    const made = project([{ unavailable: 'down' }])
    const run = made.start(['run', 'm.yaml'])
    await until('C is held', async () => made.has('.assay/assay.db') && (await made.events()).some(({ type }) => type === 'task.held'))
    run.child.kill('SIGINT')
    await run.ended
    made.write({ 'assay.yaml': config(90) })
    const resumed = made.start(['resume', 'm-1', '--accept-policy'], { env: { ASSAY_OWNER_TOKEN: 'the owner of the test' } })
    await until('all is adopted', async () => (await made.events()).filter(({ type }) => type === 'policy.adopted').length === 3)
    resumed.child.kill('SIGINT')
    await resumed.ended
    expect(await textOf(made, 'task', 'list')).toMatch(/PASS\s+80\/60.*m-1\/b/)
    expect(await textOf(made, 'task', 'show', 'B')).toContain('against a bar of 3.0 (60/100)')
    expect(await textOf(made, 'why', 'B')).toContain('80/100 against a bar of 3.0 (60/100)')
    expect(await textOf(made, 'why', 'bee')).toContain('80/60')
    for (const what of ['B', 'bee']) {
      expect((await made.run(['attest', what, '--out', `${what}.json`])).code).toBe(0)
      const { lines } = await made.json<{ statement: { predicate: { assay: object } } }>(['verify', `${what}.json`])
      expect(lines[0]?.statement.predicate.assay).toMatchObject({ bar: 60, flag: 'clean', policyAccepted: true })
    }
    expect((await made.run(['audit', 'verify'])).code).toBe(0)
  })

  it('is judged again, uncharged, where it is to be handed over anew', { timeout }, async () => {
    const made = project()
    expect((await made.run(['run', 'm.yaml'])).code).toBe(0)
    expect((await made.asOwner(['overrule', 'A', 'fail', '--reason', 'x'])).code).toBe(0)
    made.write({ 'assay.yaml': config(70) })
    await made.asOwner(['resume', 'm-1', '--accept-policy'])
    const events = await made.events()
    const ofB = events.filter(({ stream }) => stream === 'task/m-1/b')
    expect(ofB.filter(({ type }) => type === 'review.opened')).toHaveLength(2)
    expect(ofB.filter(({ type }) => type === 'attempt.started' || type === 'attempts.granted')).toHaveLength(1)
    expect(await reports(made)).toMatchObject([{ deliverable: 'bee', flag: 'pass' }])
    expect(await textOf(made, 'task', 'list')).toMatch(/PASS\s+80\/70.*m-1\/b/)
    expect((await made.run(['resume'])).code).toBe(0)
  })

  it('is judged again after a crash before its card', { timeout }, async () => {
    const at = await acceptedAt(() => project(), 'm-1/b')
    const made = project()
    const died = await made.run(['run', 'm.yaml'], { nodeFlags: ['--import', killAt], env: { KILL_AT: `after:${at}` } })
    expect(died.signal).toBe('SIGKILL')
    expect(await reports(made)).toEqual([])
    made.write({ 'assay.yaml': config(70) })
    const resumed = await made.asOwner(['resume', 'm-1', '--accept-policy'])
    expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0)
    const ofB = (await made.events()).filter(({ stream }) => stream === 'task/m-1/b').map(({ type }) => type)
    expect(ofB.filter((type) => type === 'review.opened')).toHaveLength(2)
    expect(ofB.filter((type) => type === 'attempt.started' || type === 'attempts.granted')).toHaveLength(1)
    expect(await reports(made)).toMatchObject([{ deliverable: 'bee', flag: 'pass' }])
  })

  it('is judged again by a resume of its finished run, where it never reached the owner', { timeout }, async () => {
    const made = project()
    made.write({ 'x.md': 'x' })
    expect((await made.run(['review', 'x.md', '--deliverable', 'bee', '--producer', 'eve'])).code).toBe(0)
    expect((await made.run(['run', 'm.yaml'])).code).toBe(3)
    made.write({ 'assay.yaml': config(70) })
    expect(await textOf(made, 'deliverable', 'free', 'bee', '--reason', 'x')).toContain('owner')
    const freed = await made.asOwner(['deliverable', 'free', 'bee', '--reason', 'x'])
    expect(freed.code, freed.stderr).toBe(0)
    const why = await textOf(made, 'why', 'bee')
    expect(why).toContain('Next: assay resume m-1 --accept-policy')
    const resumed = await made.asOwner(['resume', 'm-1', '--accept-policy'])
    expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0)
    expect(await reports(made)).toMatchObject([{ deliverable: 'bee', flag: 'pass', task: 'm-1/b' }])
    const stand = (await cardsOf(made)).filter(({ type, state }) => type === 'error_alert' && state === 'pending')
    expect(stand, 'what was said before is settled').toEqual([])
  })
})

describe('what lies at an address', () => {
  async function page(): Promise<string> {
    const server = createServer((_request, response) => response.end('a page'))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/p`
  }
  const paged = (url: string, ttl: string): Project => {
    const made = project(undefined, { gate: { urlVerdictTtl: ttl } })
    const deliverable = { kind: 'url', url, id: 'page', allowPrivate: true }
    made.write({ 'm.yaml': { name: 'M', tasks: [task('B', { deliverable })] } })
    return made
  }
  const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

  it('is not handed over on a verdict that expired before it could be', { timeout }, async () => {
    const url = await page()
    const at = await acceptedAt(() => paged(url, '1h'), 'm-1/b')
    const made = paged(url, '3s')
    const died = await made.run(['run', 'm.yaml'], { nodeFlags: ['--import', killAt], env: { KILL_AT: `after:${at}` } })
    expect(died.signal).toBe('SIGKILL')
    const unsent = await made.run(['attest', 'B', '--out', 'b.json'])
    await passed(3_500)
    expect((await made.run(['attest', 'B'])).stderr).toContain('has expired')
    if (unsent.code === 0) expect((await made.run(['verify', 'b.json'])).code, 'it says until when it counts').toBe(1)
    const resumed = await made.run(['resume'])
    expect(resumed.code, resumed.stdout + resumed.stderr).toBe(3)
    expect(await reports(made)).toEqual([])
    expect((await cardsOf(made)).filter(({ type }) => type === 'error_alert')).toMatchObject([
      { body: expect.stringContaining('assay bypass page') },
    ])
    expect(await textOf(made, 'why', 'page')).toContain('Next: assay bypass page --reason <why>')
    expect((await made.asOwner(['bypass', 'page', '--reason', 'seen'])).code).toBe(0)
    const sent = await made.run(['deliverable', 'send', 'page'])
    expect(sent.code, sent.stderr).toBe(0)
    expect((await made.run(['resume'])).code, 'nothing of the run is withheld any more').toBe(0)
  })

  it('counts on when it is brought again and is the same, without judges', { timeout }, async () => {
    const made = paged(await page(), '1s')
    const url = /http:[^ ]*\/p/.exec(made.read('m.yaml'))?.[0] ?? ''
    const review = ['review', url, '--allow-private', '--deliverable', 'page', '--producer', 'eve']
    expect((await made.run(review)).code).toBe(0)
    const expiryOf = async () =>
      (await made.json<{ state: { latest: { expires: string } } }>(['deliverable', 'show', 'page'])).lines[0]?.state.latest.expires
    const first = await expiryOf()
    await passed(1_100)
    const late = await made.run(['deliverable', 'send', 'page'])
    expect([late.code, late.stderr]).toEqual([3, expect.stringMatching(/verdict_expired.*assay review … --deliverable page/)])
    expect((await made.run(review)).code).toBe(0)
    expect(Date.parse((await expiryOf()) ?? '')).toBeGreaterThan(Date.parse(first ?? ''))
    expect((await made.events()).filter(({ type }) => type === 'review.opened')).toHaveLength(1)
  })

  it('is not handed over after its id was freed too late; in time it is, and what was said before counts no longer', {
    timeout,
  }, async () => {
    const url = await page()
    for (const [ttl, wait, code] of [
      ['1h', 0, 0],
      ['2s', 2_500, 3],
    ] as const) {
      const made = paged(url, ttl)
      made.write({ 'x.md': 'x' })
      expect((await made.run(['review', 'x.md', '--deliverable', 'page', '--producer', 'eve'])).code).toBe(0)
      expect((await made.run(['run', 'm.yaml'])).code).toBe(3)
      await passed(wait)
      expect((await made.asOwner(['deliverable', 'free', 'page', '--reason', 'x'])).code).toBe(0)
      expect(await reports(made)).toHaveLength(code === 0 ? 1 : 0)
      const alerts = (await cardsOf(made)).filter(({ type, state }) => type === 'error_alert' && state === 'pending')
      expect(alerts.filter(({ title }) => title.includes('nothing to hand over'))).toHaveLength(code === 0 ? 0 : 1)
      expect((await made.run(['resume'])).code).toBe(code)
    }
  })
})

describe('the next step that is named', () => {
  const strict = (gate: object = {}): Project =>
    makeProject({
      'assay.yaml': { ...config(60), gate: { maxRetries: 1, ...gate } },
      'brain.yaml': {
        workers: { '*': [{ write: { 'x.txt': '1' } }] },
        judges: {
          '*': {
            '*': [
              { accept: false, scores: 1 },
              { accept: false, scores: 1 },
              { accept: true, scores: 5 },
            ],
          },
        },
      },
      'bad.md': 'one',
    })
  const review = ['review', 'bad.md', '--deliverable', 'bad', '--producer', 'eve']

  it('is one that is taken after the last try, where the file has changed', { timeout }, async () => {
    const made = strict()
    expect((await made.run(review)).code).toBe(1)
    made.write({ 'bad.md': 'two' })
    expect((await made.run(review)).code).toBe(1)
    made.write({ 'bad.md': 'three' })
    const why = await textOf(made, 'why', 'bad')
    expect(why).toContain('Next: assay mission retry deliverable-bad-1 --reason <why>')
    expect(await textOf(made, 'deliverable', 'send', 'bad')).toContain('assay mission retry deliverable-bad-1')
    const retried = await made.asOwner(['mission', 'retry', 'deliverable-bad-1', '--reason', 'mended'])
    expect(retried.code, retried.stderr).toBe(0)
    const again = await made.run(review)
    expect(again.code, again.stdout + again.stderr).toBe(0)
    expect((await made.run(['deliverable', 'send', 'bad'])).code).toBe(0)
  })

  it('is to bring something, where an id was freed, and nothing is signed for meanwhile', { timeout }, async () => {
    const made = strict()
    made.write({ 'brain.yaml': { workers: {}, judges: { '*': { '*': [{ accept: true, scores: 5 }] } } } })
    expect((await made.run(review)).code).toBe(0)
    const freed = await made.asOwner(['deliverable', 'free', 'bad', '--reason', 'x'])
    expect(freed.stderr).toContain('Next: assay review <path> --deliverable bad --producer <who>')
    expect(await made.run(['attest', 'bad'])).toMatchObject({ code: 2, stderr: expect.stringContaining('until it is brought anew') })
  })

  it('a waived review is signed for until it ends, and no longer', { timeout }, async () => {
    const made = strict({ bypassTtl: '4s' })
    expect((await made.run(review)).code).toBe(1)
    made.write({ 'bad.md': 'two' })
    expect((await made.run(review)).code).toBe(1)
    expect((await made.asOwner(['bypass', 'bad', '--reason', 'now'])).code).toBe(0)
    const granted = (await made.events()).find(({ type }) => type === 'bypass.granted')
    const attested = await made.run(['attest', 'bad', '--out', 'bad.json'])
    if (attested.stderr.includes('WARNED')) {
      const { lines } = await made.json<{ statement: { predicate: { assay: object } } }>(['verify', 'bad.json'])
      const { until: expires } = (granted?.data ?? {}) as { until?: string }
      expect(lines[0]?.statement.predicate.assay).toMatchObject({ flag: 'bypassed', decidedAt: granted?.meta.at, expires })
    }
    await new Promise((resolve) => setTimeout(resolve, 4_100))
    expect((await made.run(['attest', 'bad', '--out', 'late.json'])).stderr).toContain('FAILED')
    expect((await made.run(['verify', 'late.json', '--allow-warned'])).code).toBe(1)
    if (attested.stderr.includes('WARNED')) expect((await made.run(['verify', 'bad.json', '--allow-warned'])).code).toBe(1)
  })
})
