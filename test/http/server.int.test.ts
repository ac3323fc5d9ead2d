import { Validator } from '@seriousme/openapi-schema-validator'
import type { z } from 'zod'
import { describe, expect, it } from 'vitest'
import { HttpProblem } from '../../src/contract/http/problem.ts'
import { type Asking, type Heard, type OpenDoor, openDoor, otherToken, workerToken } from './open-door.ts'
import type { Route } from '../../src/doors/http/route.ts'
import { keepRunning } from '../../src/main/serve/keep-running.ts'
import { routes } from '../../src/doors/http/routes/table.ts'

const filled = (path: string) => path.replace(/\{\w+\}/g, 'x')
const sendable = (route: Route): Asking => ({
  method: route.method.toUpperCase(),
  ...(route.method === 'post' && { body: route.body === 'text' ? 'name: M' : {} }),
})

function problemOf(heard: Heard): z.infer<typeof HttpProblem> {
  expect(heard.headers['content-type']).toBe('application/problem+json')
  const problem = HttpProblem.parse(heard.json)
  expect(problem.status).toBe(heard.status)
  return problem
}

describe('who may ask', () => {
  it('refuses every route without a token and with a token of somebody’s own making', async () => {
    const { ask } = await openDoor()
    for (const route of routes)
      for (const token of [null, 'a-token-of-my-own-making', '']) {
        const heard = await ask(filled(route.path), { ...sendable(route), token })
        expect(problemOf(heard).code, `${route.method} ${route.path}`).toBe('unauthorized')
        expect(heard.headers['www-authenticate']).toContain('Bearer')
      }
    expect((await ask('/v1/openapi.json', { token: null })).status).toBe(401)
  })

  it("refuses a worker's token on every route of the owner's, whatever is sent", async () => {
    const { ask } = await openDoor()
    const owners = routes.filter(({ scope }) => scope === 'owner')
    expect(owners.length).toBeGreaterThan(15)
    for (const route of owners) {
      const heard = await ask(filled(route.path), { ...sendable(route), token: workerToken })
      expect(problemOf(heard).code, `${route.method} ${route.path}`).toBe('forbidden')
    }
    for (const route of routes.filter(({ scope }) => scope === 'worker')) {
      const heard = await ask(filled(route.path), { ...sendable(route), token: workerToken })
      expect([401, 403], `${route.method} ${route.path}`).not.toContain(heard.status)
    }
  })

  it('answers nobody who calls it by another name, and no page of another origin', async () => {
    const { ask, server } = await openDoor()
    const own = `127.0.0.1:${server.port}`
    const refused: [Record<string, string>, string][] = [
      [{ host: 'evil.example' }, 'host_refused'],
      [{ host: `127.0.0.1.evil.example:${server.port}` }, 'host_refused'],
      [{ host: `127.0.0.1:${server.port}.evil.example` }, 'host_refused'],
      [{ origin: 'https://evil.example' }, 'origin_refused'],
      [{ origin: 'null' }, 'origin_refused'],
      [{ origin: 'http://127.0.0.1:1' }, 'origin_refused'],
      [{ origin: `http://localhost:${server.port}` }, 'origin_refused'],
      [{ 'sec-fetch-site': 'cross-site' }, 'origin_refused'],
      [{ 'sec-fetch-site': 'same-site' }, 'origin_refused'],
    ]
    for (const [headers, code] of refused)
      for (const path of ['/v1/health', '/']) expect(problemOf(await ask(path, { headers })).code, JSON.stringify(headers)).toBe(code)
    for (const headers of [
      { origin: `http://${own}` },
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
      { host: `LOCALHOST:${server.port}` },
    ])
      expect((await ask('/v1/health', { headers })).status).toBe(200)
    expect(problemOf(await ask('/v1/health', { headers: { host: `evil@${own}` } })).code).toBe('host_refused')
    for (const address of ['http://evil.example', `http://localhost:${server.port}`, 'http://127.0.0.1:1', 'https://evil.example'])
      expect(problemOf(await ask(`${address}/v1/health`)).code, address).toBe('host_refused')
    expect((await ask(`http://${own}/v1/health`)).status).toBe(200)
    const allowed = await ask('/v1/health', { headers: { origin: `http://${own}` } })
    expect(Object.keys(allowed.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

describe('what is said', () => {
  it('publishes a valid OpenAPI 3.1 document of every route', async () => {
    const { ask } = await openDoor()
    const { json, headers } = await ask('/v1/openapi.json')
    const validator = new Validator()
    const result = await validator.validate(structuredClone(json))
    expect(result.errors ?? []).toEqual([])
    expect(result.valid).toBe(true)
    expect(validator.version).toBe('3.1')
    for (const route of routes) {
      const operation = json.paths[route.path]?.[route.method]
      expect(operation, route.path).toBeDefined()
      const schemes = operation.security.flatMap((one: object) => Object.keys(one))
      expect(schemes).toEqual(route.scope === 'owner' ? ['owner'] : ['owner', 'worker'])
    }
    const ids = Object.values(json.paths).flatMap((path) => Object.values(path as object).map((one) => one.operationId))
    expect(new Set(ids).size).toBe(routes.length)
    expect((await ask('/v1/openapi.json', { headers: { 'if-none-match': String(headers.etag) } })).status).toBe(304)
  })

  it('says in a problem what is wrong, where, by a closed code', async () => {
    const { ask } = await openDoor({ limits: { requestBytes: 1024 } })
    expect(problemOf(await ask('/v1/nothing')).code).toBe('not_found')
    const wrongMethod = await ask('/v1/health', { method: 'DELETE' })
    expect(problemOf(wrongMethod).code).toBe('method_not_allowed')
    expect(wrongMethod.headers.allow).toBe('GET')
    expect(problemOf(await ask('/v1/tasks/no%2Fsuch')).code).toBe('not_found')
    expect(problemOf(await ask('/v1/tasks?limit=0')).errors?.[0]?.pointer).toBe('query/limit')
    expect(problemOf(await ask('/v1/tasks?unknown=1')).code).toBe('invalid_request')
    expect(problemOf(await ask('/v1/cards', { body: { type: 'milestone' } })).errors?.[0]?.pointer).toBe('/title')
    expect(problemOf(await ask('/v1/cards', { body: '{"type":"milestone","title":"a","title":"b"}' })).code).toBe('invalid_request')
    expect(
      problemOf(await ask('/v1/cards', { body: 'type=milestone', headers: { 'content-type': 'application/x-www-form-urlencoded' } })).code,
    ).toBe('unsupported_media_type')
    expect(problemOf(await ask('/v1/cards', { body: { type: 'milestone', title: 'x', body: 'y'.repeat(2000) } })).code).toBe(
      'body_too_large',
    )
    const mission = problemOf(
      await ask('/v1/missions', {
        body: 'name: M\ntasks: [{ title: a, assignTo: nobody }]',
        headers: { 'content-type': 'application/yaml' },
      }),
    )
    expect(mission.code).toBe('invalid_mission')
    expect(mission.errors?.[0]?.pointer).toMatch(/^mission:2:\d+$/)
  })

  it('says no more than that something went wrong, and writes down what, where there is a bug', async () => {
    const { ask, engine, logged } = await openDoor()
    engine.missions = () => Promise.reject(new TypeError('a secret of the house'))
    const heard = await ask('/v1/missions')
    expect(problemOf(heard).code).toBe('internal')
    expect(heard.text).not.toContain('secret')
    expect(logged.join()).toContain('a secret of the house')
  })

  it('sends what has not changed only once', async () => {
    const { ask, engine } = await openDoor()
    const first = await ask('/v1/tasks')
    const tag = String(first.headers.etag)
    const again = await ask('/v1/tasks', { headers: { 'if-none-match': tag } })
    expect([again.status, again.text]).toEqual([304, ''])
    await startTwo({ engine } as OpenDoor)
    const changed = await ask('/v1/tasks', { headers: { 'if-none-match': tag } })
    expect(changed.status).toBe(200)
    expect(changed.headers.etag).not.toBe(tag)
  })

  it('shows the configuration without what an address can carry', async () => {
    const { ask } = await openDoor({
      notify: { channels: { hook: { kind: 'webhook', url: 'https://hooks.example/services/S3CRET?token=S3CRET' } } },
      brains: {
        eyes: { kind: 'command', argv: ['x'] },
        hands: { kind: 'command', argv: ['x'] },
        out: { kind: 'outside' },
        far: { kind: 'model', provider: 'openai-compatible', model: 'm', baseURL: 'http://far.example/v1?key=S3CRET' },
      },
    })
    const { status, text, json } = await ask('/v1/config')
    expect(status).toBe(200)
    expect(text).not.toContain('S3CRET')
    expect(json.config.brains.far.baseURL).toBe('http://far.example/v1?…')
  })
})

const mission = (name: string, first = 'a') =>
  `name: ${name}\ntasks: [{ title: ${first}, assignTo: ext, description: Do it. }, { title: b, assignTo: other, description: Do it. }]`

async function startTwo({ engine }: Pick<OpenDoor, 'engine'>): Promise<void> {
  const task = (id: string) => ({
    id: `t/${id}`,
    title: id,
    description: 'Do it.',
    assignee: 'ext',
    criteria: [],
    checks: [],
    dimensions: engine.parts.config.review.dimensions,
    bar: 60,
    dependsOn: [],
    priority: 1,
    workspace: { kind: 'scratch' as const },
    expectsDiff: false,
    depth: 0,
  })
  const started = await engine.start({ id: 't', name: 'T', tasks: [task('1'), task('2')] })
  expect(started.ok).toBe(true)
}

describe('what is done', () => {
  it('does once what is asked twice under one key, and refuses the key for anything else', async () => {
    const { ask, engine, another } = await openDoor()
    const yaml = { 'content-type': 'application/yaml', 'idempotency-key': 'one' }
    const [one, two] = await Promise.all([1, 2].map(() => ask('/v1/missions?fresh=true', { body: mission('M'), headers: yaml })))
    expect([one?.status, one?.text]).toEqual([201, two?.text])
    expect(await engine.missions()).toHaveLength(1)
    expect(problemOf(await ask('/v1/missions?fresh=true', { body: mission('N'), headers: yaml })).code).toBe('key_reused')
    expect((await ask('/v1/missions?fresh=true', { body: mission('M'), headers: { ...yaml, 'idempotency-key': 'two' } })).status).toBe(201)
    expect(await engine.missions()).toHaveLength(2)
    const later = await another()
    expect((await later('/v1/missions?fresh=true', { body: mission('M'), headers: yaml })).json).toMatchObject({
      mission: 'm-1',
      joined: true,
    })
    expect(problemOf(await later('/v1/missions?fresh=true', { body: mission('M', 'c'), headers: yaml })).code).toBe('key_reused')
    expect(await engine.missions()).toHaveLength(2)
    const card = { body: { type: 'milestone', title: 'half way' }, headers: { 'idempotency-key': 'card' }, token: workerToken }
    const sent = [await ask('/v1/cards', card), await ask('/v1/cards', card)]
    expect(sent.map(({ status }) => status)).toEqual([201, 201])
    expect(await engine.inbox()).toHaveLength(1)
  })

  it('lets a worker see and do what is its own, and nothing else', async () => {
    const { ask, engine } = await openDoor()
    await ask('/v1/missions', { body: mission('M'), headers: { 'content-type': 'application/yaml' } })
    const mine = await ask('/v1/tasks', { token: workerToken })
    expect(mine.json.items.map(({ id }: { id: string }) => id)).toEqual(['m-1/a'])
    expect((await ask('/v1/tasks?assignee=other', { token: workerToken })).json.items).toHaveLength(1)
    for (const path of ['', '/ledger', '/review'])
      expect(problemOf(await ask(`/v1/tasks/m-1%2Fb${path}`, { token: workerToken })).code).toBe('not_found')
    for (const path of ['take', 'heartbeat'])
      expect(problemOf(await ask(`/v1/tasks/m-1%2Fb/${path}`, { body: { worker: 'other' }, token: workerToken })).code).toBe('not_found')
    // Naming somebody else changes nothing: the token says who it is.
    const taken = await ask('/v1/tasks/m-1%2Fa/take', { body: { worker: 'other' }, token: workerToken })
    expect(taken.json).toMatchObject({ task: 'm-1/a', attempt: 1 })
    expect((await engine.task('m-1/a'))?.current?.worker).toBe('ext')
    const bad = await ask('/v1/tasks/m-1%2Fa/case', { body: { attempt: 1, case: 'no case at all' }, token: workerToken })
    expect(bad.json.problems.length).toBeGreaterThan(0)
    const stale = await ask('/v1/tasks/m-1%2Fa/case', { body: { attempt: 7, case: { summary: 's', ac_coverage: [] } }, token: workerToken })
    expect(problemOf(stale).code).toBe('stale_attempt')
    const good = await ask('/v1/tasks/m-1%2Fa/case', {
      body: { attempt: 1, case: { summary: 's', ac_coverage: [] }, output: 'the work' },
      token: workerToken,
    })
    expect(good.json).toEqual({ problems: [] })
    await engine.run({ missions: ['m-1'], stop: new AbortController().signal })
    const review = await ask('/v1/tasks/m-1%2Fa/review?wait=5', { token: workerToken })
    expect(review.json).toMatchObject({ phase: 'accepted', flag: 'clean' })
    expect((await ask('/v1/tasks/m-1%2Fa/ledger', { token: workerToken })).json.entries).toHaveLength(1)
  })

  it('reviews a deliverable, and lets its card through only once it has passed', async () => {
    let score = 'It is too thin.\nSCORE: 20'
    const { ask } = await openDoor({}, () => score)
    const bring = (text: string, token = workerToken) =>
      ask('/v1/deliverables/report/submissions?wait=30', { body: { title: 'Report', text, worker: 'other' }, token })
    const send = (body: object = {}) =>
      ask('/v1/cards', {
        body: { type: 'report_ready', title: 'Report', metadata: { deliverableId: 'report' }, ...body },
        token: workerToken,
      })
    expect(problemOf(await send()).code).toBe('deliverable_unknown')
    expect((await bring('thin')).json.review).toMatchObject({ verdict: 'NEEDS_REVISION' })
    expect(problemOf(await send())).toMatchObject({ code: 'needs_revision', verdict: 'NEEDS_REVISION' })
    expect(problemOf(await send({ metadata: { deliverableId: 'report', evaluatorBypass: true } })).code).toBe('bypass_refused')
    score = 'SCORE: 90'
    expect((await bring('a whole report')).json).toMatchObject({
      state: 'standing',
      deliverable: { producer: 'ext', submission: 2 },
      review: { verdict: 'PASS' },
    })
    expect((await send({ title: 'Paid in full', body: 'All of it.' })).status).toBe(201)
    const cards = await ask('/v1/inbox?state=pending')
    const { card } = cards.json.items.find(({ type }: { type: string }) => type === 'report_ready')
    const shown = await ask(`/v1/inbox/${encodeURIComponent(card)}`)
    expect(shown.json.files).toMatchObject([{ path: 'text.txt', size: 14 }])
    const note = { by: 'ext', title: 'Paid in full', body: 'All of it.', reviewed: false }
    expect(shown.json.card).toMatchObject({ flag: 'pass', title: 'Report', body: '', note })
    expect(cards.json.items).toContainEqual(shown.json.card)
    const bytes = await ask(`/v1/inbox/${encodeURIComponent(card)}/files/text.txt`)
    expect([bytes.text, bytes.headers['content-type']]).toEqual(['a whole report', 'application/octet-stream'])
    expect((await ask(`/v1/inbox/${encodeURIComponent(card)}/files/..%2Fassay.db`)).status).toBe(404)
    expect((await ask(`/v1/inbox/${encodeURIComponent(card)}/handle`, { body: { reason: 'read' } })).json.state).toBe('handled')
    expect(problemOf(await ask(`/v1/inbox/${encodeURIComponent(card)}/dismiss`, { body: {} })).code).toBe('wrong_status')
    expect(problemOf(await bring('theirs', 'the owner of the test'.replaceAll(' ', '-'))).code).toBe('already_exists')
  })

  it('says nothing of a deliverable to whom it is not, not even that it is there', async () => {
    const { ask } = await openDoor()
    const brought = await ask('/v1/deliverables/report/submissions?wait=30', { body: { title: 'Report', text: 'all' }, token: workerToken })
    expect(brought.json.review).toMatchObject({ verdict: 'PASS' })
    const heard = async (id: string) => {
      const body = { type: 'report_ready', title: 'Mine', metadata: { deliverableId: id } }
      const card = await ask('/v1/cards', { body, token: otherToken })
      const look = await ask(`/v1/deliverables/${id}`, { token: otherToken })
      return [card, look].map(({ status, text }) => [status, text.replaceAll(id, 'it')])
    }
    expect(await heard('report')).toEqual(await heard('nothing'))
    expect((await heard('report')).map(([status]) => status)).toEqual([404, 404])
  })

  it('gives every list piece by piece, without loss or doubles', async () => {
    const { ask, engine } = await openDoor()
    for (let run = 0; run < 7; run += 1)
      await ask('/v1/missions?fresh=true', { body: mission('M'), headers: { 'content-type': 'application/yaml' } })
    for (const [path, key, total] of [
      ['/v1/missions', 'id', 7],
      ['/v1/tasks', 'id', 14],
      ['/v1/audit', 'position', await engine.parts.journal.position()],
    ] as const) {
      const seen: unknown[] = []
      let next: string | null = ''
      while (next !== null) {
        const page: Heard = await ask(`${path}?limit=3${next === '' ? '' : `&cursor=${next}`}`)
        expect(page.json.items.length).toBeLessThanOrEqual(3)
        seen.push(...page.json.items.map((item: Record<string, unknown>) => item[key]))
        next = page.json.next
      }
      expect(seen, path).toHaveLength(total)
      expect(new Set(seen).size, path).toBe(total)
    }
    const started = await ask('/v1/audit?type=mission.started&limit=100')
    expect(started.json.items).toHaveLength(7)
    expect(
      (await ask('/v1/audit?stream=mission/*&limit=500')).json.items.every(({ stream }: { stream: string }) =>
        stream.startsWith('mission/'),
      ),
    ).toBe(true)
  })

  it('takes a cursor only for the list that gave it', async () => {
    const { ask, another } = await openDoor()
    for (let run = 0; run < 2; run += 1)
      await ask('/v1/missions?fresh=true', { body: mission('M'), headers: { 'content-type': 'application/yaml' } })
    const { next } = (await ask('/v1/tasks?limit=1')).json
    expect(next).toEqual(expect.any(String))
    const restarted = await another()
    const second = (await restarted(`/v1/tasks?limit=2&cursor=${next}`)).json
    expect(second.items).toHaveLength(2)
    for (const [path, cursor] of [
      ['/v1/tasks', 'x'],
      ['/v1/tasks', ''],
      ['/v1/tasks', Buffer.from('m-1/a').toString('base64url')],
      ['/v1/tasks', `${next}A`],
      ['/v1/tasks?status=todo', next],
      ['/v1/missions', next],
      ['/v1/audit', next],
      ['/v1/audit', Buffer.from('3').toString('base64url')],
      ['/v1/inbox', next],
      ['/v1/requests', 'zzz'],
      ['/v1/deliverables', next],
      ['/v1/sla', next],
    ]) {
      const problem = problemOf(await ask(`${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`))
      expect(problem, `${path} ${cursor}`).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ pointer: 'query/cursor' }] })
    }
    expect(problemOf(await ask(`/v1/tasks?cursor=${next}`, { token: workerToken })).code).toBe('invalid_request')
  })

  it('takes what the owner decides, under the owner’s name', async () => {
    const { ask, engine } = await openDoor()
    await ask('/v1/missions', { body: mission('M'), headers: { 'content-type': 'application/yaml' } })
    expect(problemOf(await ask('/v1/missions/m-1/stop', { body: {} })).errors?.[0]?.pointer).toBe('/reason')
    expect((await ask('/v1/missions/m-1/stop', { body: { reason: 'enough' } })).json.changed).toHaveLength(2)
    expect((await engine.task('m-1/a'))?.status).toBe('failed')
    expect((await ask('/v1/missions/m-1/retry', { body: {} })).json.changed).toHaveLength(2)
    const events = (await ask('/v1/audit?type=task.reopened&limit=10')).json.items
    expect(events.map(({ meta }: { meta: { actor: string } }) => meta.actor)).toEqual(['olga', 'olga'])
    expect((await ask('/v1/metrics?tasks=1')).json.items.length).toBeGreaterThan(0)
    expect((await ask('/v1/requests')).json.items).toEqual([])
    expect((await ask('/v1/sla')).json.items).toEqual([])
  })

  it('judges a text once, and says so under a handle', async () => {
    const { ask } = await openDoor({}, () => 'It says nothing.\nSCORE: 10')
    const begun = await ask('/v1/reviews', { body: { text: 'hello', criteria: ['it says goodbye'] } })
    expect(begun.status).toBe(202)
    const ended = await ask(`${begun.headers.location}?wait=30`)
    expect(ended.json).toMatchObject({ state: 'ended', result: 'below-threshold', passed: false })
    expect(problemOf(await ask('/v1/reviews', { body: { text: 'a', files: [{ path: 'a', text: 'a' }] } })).code).toBe('invalid_request')
    for (const path of ['../a', '/a', 'a//b', 'a\\b', './a'])
      expect(problemOf(await ask('/v1/reviews', { body: { files: [{ path, text: 'a' }] } })).code, path).toBe('invalid_request')
    expect(problemOf(await ask('/v1/reviews/rv-none')).code).toBe('not_found')
  })

  it('hands tasks down for a worker, which alone hears of them, whoever does them', async () => {
    const { ask, engine, stop, another } = await openDoor({ delegate: { agent: 'dev' } })
    void keepRunning(engine, stop.signal, () => {}).ended
    const call = { goal: 'write it', acceptance_criteria: 'it is written' }
    const asking = { body: { call }, token: workerToken, headers: { 'idempotency-key': 'handed' } }
    const begun = await ask('/v1/delegations', asking)
    expect(begun).toMatchObject({ status: 202, json: { delegation: 'delegation-1', state: 'working' } })
    const ended = await ask(`${begun.headers.location}?wait=30`, { token: workerToken })
    expect(ended.json).toMatchObject({ state: 'ended', results: [{ task_index: 0, status: 'completed', judge: { verdict: 'PASS' } }] })
    expect(problemOf(await ask('/v1/delegations', { body: { call: { goal: 'x' }, parent: 'no/task' }, token: workerToken })).code).toBe(
      'not_found',
    )
    const later = await another()
    expect((await later('/v1/delegations', asking)).json).toEqual(ended.json)
    // Somebody outside takes as long as it takes: until then the answer is that it is worked on.
    const outside = await ask('/v1/delegations?wait=1', { body: { call: { ...call, to: 'ext' }, worker: 'dev' } })
    expect(outside).toMatchObject({ status: 202, json: { delegation: 'delegation-2' } })
    expect(problemOf(await ask('/v1/delegations/delegation-2', { token: workerToken })).code).toBe('not_found')
    const task = encodeURIComponent('delegation-2/1')
    expect((await ask(`/v1/tasks/${task}/take`, { body: {}, token: workerToken })).status).toBe(200)
    const ac_coverage = [{ criterion: 'AC1', pointer: 'output' }]
    const submitted = { attempt: 1, case: { summary: 'Written.', ac_coverage }, output: 'hello' }
    expect((await ask(`/v1/tasks/${task}/case`, { body: submitted, token: workerToken })).json).toEqual({ problems: [] })
    expect((await ask('/v1/delegations/delegation-2?wait=30')).json).toMatchObject({ state: 'ended', results: [{ status: 'completed' }] })
  })
})
