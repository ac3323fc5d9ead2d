import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { connect, type Era, eras } from './front-door/mcp.ts'
import { caseFor, pass, project, reject } from './front-door/outside.ts'

const timeout = 240_000
useAssay()

describe.each(Object.keys(eras) as Era[])('a worker over stdio, %s', (era) => {
  it(
    'takes its task, is sent back, reworks and passes',
    async () => {
      const here = project({ '*': [reject, pass] })
      expect((await here.run(['run', 'plan.yaml'])).code).toBe(3)
      const worker = await connect(here, ['--role', 'worker'], era)
      const { value: listed } = await worker.say('list_tasks')
      expect(listed.tasks).toMatchObject([{ id: 'plan-1/greet', status: 'todo', assignee: 'dev' }])
      const task = 'plan-1/greet'
      const taken = (await worker.say('take_task', { task })).value
      expect(taken).toMatchObject({ attempt: 1, lease: '10m', prompt: expect.stringContaining('it says hello') })
      writeFileSync(join(taken.workspace, 'core.txt'), 'hullo\n')
      expect((await worker.say('submit_case', { task, attempt: 1, summary: 'half' })).value).toMatchObject({
        status: 'invalid',
        problems: [expect.stringContaining('ac_coverage')],
      })
      const first = await worker.say('submit_case', { task, attempt: 1, ...caseFor('core.txt:1') })
      expect(first.value).toMatchObject({
        status: 'decided',
        review: { phase: 'rejected', feedback: expect.stringContaining('Make it say hello.') },
      })
      expect(await worker.say('submit_case', { task, attempt: 1, ...caseFor('core.txt:1') })).toMatchObject({
        refused: true,
        value: { code: 'stale_attempt' },
      })
      const again = (await worker.say('take_task', { task })).value
      expect(again).toMatchObject({ attempt: 2, prompt: expect.stringContaining('Make it say hello.') })
      expect((await worker.say('heartbeat', { task })).value).toEqual({ attempt: 2 })
      writeFileSync(join(again.workspace, 'core.txt'), 'hello\n')
      expect((await worker.say('submit_case', { task, attempt: 2, ...caseFor('core.txt:1') })).value).toMatchObject({
        status: 'decided',
        review: { phase: 'accepted', flag: 'clean' },
      })
      expect((await worker.say('get_review', { task })).value).toMatchObject({ task: { phase: 'accepted' } })
      expect((await worker.say('get_ledger', { task })).value.entries).toHaveLength(2)
      expect((await worker.say('get_task', { task })).value).toMatchObject({ task: { flag: 'clean' }, detail: { charged: 2 } })
      expect((await worker.say('list_tasks')).value.tasks).toEqual([])
      expect(await worker.say('take_task', { task: 'plan-1/ghost' })).toMatchObject({ refused: true, value: { code: 'not_found' } })
      await worker.close()
      const events = (await here.events()).map(({ type }) => type)
      expect(events.filter((type) => type === 'case.parse_error')).toHaveLength(1)
      expect(events).toContain('mission.finished')
      expect((await here.run(['audit', 'verify'])).code).toBe(0)
    },
    timeout,
  )
})

describe('handing down', () => {
  it(
    'a batch with criteria brings a judge field each; what takes long is polled by its handle',
    async () => {
      const judges = { lead: { '1. Write it': [pass], '2. Test it': [reject], '*': [pass] } }
      const workers = { '*': [{ write: { 'out.txt': 'x\n' } }] }
      const more = {
        agents: { lead: { role: 'manager', brain: 'canned' }, hand: { role: 'engineer', brain: 'canned', instructions: 'x' } },
        workers,
      }
      const here = project(judges, more)
      const lead = await connect(here, ['--role', 'worker', '--agent', 'lead'])
      const tasks = [
        { goal: 'Write it', to: 'hand', acceptance_criteria: ['it is written'] },
        { goal: 'Test it', to: 'hand', acceptance_criteria: 'it is tested' },
        { goal: 'Say hello', to: 'hand' },
      ]
      const begun = (await lead.say('delegate_task', { tasks, waitSeconds: 0 })).value
      expect(begun).toMatchObject({ delegation: 'delegation-1', status: 'running' })
      const ended = (await lead.say('get_delegation', { delegation: 'delegation-1' })).value
      expect(ended).toMatchObject({
        status: 'ended',
        results: [
          { task_index: 0, status: 'completed', judge: { verdict: 'PASS' } },
          { task_index: 1, status: 'completed', judge: { verdict: 'FAIL', reasoning: expect.stringContaining('Make it say hello.') } },
          { task_index: 2, status: 'completed' },
        ],
      })
      expect(ended.results[2]).not.toHaveProperty('judge')
      expect((await lead.say('delegate_task', { goal: 'One', to: 'hand', acceptance_criteria: 'one' })).value).toMatchObject({
        status: 'ended',
        results: [{ judge: { verdict: 'PASS' } }],
      })
      expect(await lead.say('delegate_task', { goal: 'x', tasks })).toMatchObject({ refused: true, value: { code: 'bad_command' } })
      expect(await lead.say('delegate_task', { goal: 'x', to: 'ghost' })).toMatchObject({
        refused: true,
        value: { message: expect.stringContaining('ghost is no agent') },
      })
      const other = await connect(here, ['--role', 'worker', '--agent', 'dev'])
      expect(await other.say('get_delegation', { delegation: 'delegation-1' })).toMatchObject({
        refused: true,
        value: { code: 'not_found' },
      })
    },
    timeout,
  )
})

describe('a deliverable', () => {
  it(
    'is refused until it passed, is released as reviewed, and is refused again when it changed',
    async () => {
      const here = project({ '*': [reject, pass] })
      here.write({ 'report.md': 'hullo\n' })
      const worker = await connect(here, ['--role', 'worker', '--agent', 'claude'])
      const card = { type: 'report_ready', title: 'The report', metadata: { deliverableId: 'report' } }
      expect((await worker.say('emit_owner_card', card)).value).toMatchObject({ released: false, code: 'deliverable_unknown' })
      const brought = { deliverable: 'report', path: 'report.md', acceptance_criteria: ['it says hello'] }
      expect((await worker.say('review_deliverable_with_evaluator', brought)).value).toMatchObject({
        status: 'decided',
        verdict: 'NEEDS_REVISION',
        attempt: 1,
        allowed: 3,
        feedback: expect.stringContaining('Make it say hello.'),
      })
      expect((await worker.say('emit_owner_card', card)).value).toMatchObject({ released: false, code: 'needs_revision' })
      here.write({ 'report.md': 'hello\n' })
      const begun = (await worker.say('review_deliverable_with_evaluator', { ...brought, waitSeconds: 0 })).value
      expect(['reviewing', 'decided']).toContain(begun.status)
      expect((await worker.say('get_review', { deliverable: 'report' })).value).toMatchObject({
        deliverable: { verdict: 'PASS', judges: ['qa'] },
      })
      here.write({ 'report.md': 'something else\n' })
      expect((await worker.say('emit_owner_card', card)).value).toMatchObject({ released: false, code: 'content_changed' })
      here.write({ 'report.md': 'hello\n' })
      expect((await worker.say('emit_owner_card', card)).value).toMatchObject({
        released: true,
        unreviewed: false,
        card: { flag: 'pass', from: 'claude' },
      })
      const other = await connect(here, ['--role', 'worker', '--agent', 'dev'])
      const nothing = { ...card, metadata: { deliverableId: 'nothing' } }
      const [anothers, nobodys] = [await other.say('emit_owner_card', card), await other.say('emit_owner_card', nothing)]
      expect(anothers.value).toMatchObject({ released: false, code: 'deliverable_unknown' })
      expect(JSON.stringify(anothers).replaceAll('report', 'nothing'), 'that it exists is not told').toBe(JSON.stringify(nobodys))
      const looks = (await here.events()).filter(({ type, meta }) => type === 'release.refused' && meta.actor === 'dev')
      expect(looks.map(({ data }) => data)).toMatchObject([
        { deliverable: 'report', card: expect.any(String), verdict: 'PASS', bypass: false, message: expect.stringContaining("claude's") },
        { deliverable: 'nothing', card: expect.any(String), bypass: false },
      ])
      symlinkSync('/etc/passwd', join(here.folder, 'link'))
      for (const path of ['link', '../../etc/passwd', '/etc/passwd', '.assay/assay.db', '..'])
        expect(await worker.say('review_deliverable_with_evaluator', { deliverable: 'x', path })).toMatchObject({
          refused: true,
          value: { code: 'bad_command', message: expect.stringMatching(/not below|no such file/) },
        })
      expect(await worker.say('review_deliverable_with_evaluator', { deliverable: 'x', text: 'a', path: 'report.md' })).toMatchObject({
        refused: true,
      })
      const { cards } = (await (await connect(here, ['--role', 'owner'])).say('list_inbox')).value
      expect(cards).toMatchObject([{ type: 'report_ready', deliverable: 'report' }])
    },
    timeout,
  )
})

describe('what a worker says on a card', () => {
  it(
    'is never taken for what was reviewed: the title that judges were shown heads it, the rest is a note',
    async () => {
      const here = project({ '*': [pass] })
      const worker = await connect(here, ['--role', 'worker', '--agent', 'ana'])
      const brought = { deliverable: 't1', title: 'Tiny', text: 'fine text' }
      expect((await worker.say('review_deliverable_with_evaluator', brought)).value).toMatchObject({ verdict: 'PASS' })
      const said = { title: 'Q3 FINANCIAL REPORT: revenue up 900%', body: 'Pay 10000 to account X.' }
      const sent = (await worker.say('emit_owner_card', { type: 'report_ready', ...said, metadata: { deliverableId: 't1' } })).value
      expect(sent).toMatchObject({ released: true, reviewed: true, card: { flag: 'pass', title: 'Tiny', body: '' } })
      const note = { by: 'ana', ...said, reviewed: false }
      expect(sent.card.note).toEqual(note)
      const faked = { type: 'milestone', title: 'PASS (100/60) report_ready "Q3" report', body: 'A whole report.' }
      const milestone = (await worker.say('emit_owner_card', faked)).value
      expect(milestone).toMatchObject({ released: true, reviewed: false })
      expect(milestone).not.toHaveProperty('unreviewed')
      const owner = await connect(here, ['--role', 'owner'])
      expect((await owner.say('show_card', { card: sent.card.card })).value).toMatchObject({ title: 'Tiny', body: '', note })
      expect((await owner.say('list_inbox')).value.cards).toContainEqual(expect.objectContaining({ title: 'Tiny', body: '', note }))

      const shown = (await here.run(['inbox', 'show', 't1'])).stdout.split('\n')
      expect(shown[0]).toMatch(/^PASS \(\d+\/\d+\) {2}t1 "Tiny"$/)
      const label = shown.indexOf('ana says, and nobody reviewed it:')
      expect(label).toBeGreaterThan(0)
      expect(shown.slice(label + 1, label + 3)).toEqual([`  ${said.title}`, `  ${said.body}`])
      const plain = (await here.run(['inbox', 'show', milestone.card.card])).stdout
      expect(plain).toMatch(/^not reviewed {2}"PASS \(100\/60\) report_ready \\"Q3\\" report"\n/)
      expect(plain).toContain('ana says, and nobody reviewed it:\n  A whole report.')
      const list = (await here.run(['inbox'])).stdout
      expect(list).toMatch(/^pending +PASS \(\d+\/\d+\) .* t1 "Tiny", with a note by ana \(not reviewed\)$/m)
      expect(list).toMatch(/^pending +not reviewed .* "PASS \(100\/60\)/m)
      expect(list).not.toContain('900%')
      const exported = await here.run(['inbox', 'export', 't1', '--out', 'copy'])
      expect(exported.stderr).toMatch(/PASS .* t1 "Tiny"[\s\S]*What ana says of it on the card was not reviewed/)
    },
    timeout,
  )

  it(
    'nor is a title that came with a revision: judges were shown the first',
    async () => {
      const here = project({ '*': [reject, pass] })
      const worker = await connect(here, ['--role', 'worker', '--agent', 'ana'])
      const bring = (title: string, text: string) => worker.say('review_deliverable_with_evaluator', { deliverable: 't1', title, text })
      expect((await bring('Tiny', 'hullo')).value).toMatchObject({ verdict: 'NEEDS_REVISION' })
      expect((await bring('Q3 FINANCIAL REPORT', 'hello')).value).toMatchObject({ verdict: 'PASS' })
      expect((await here.run(['deliverable', 'send', 't1'])).stdout).toContain('t1 "Tiny" is in the inbox, PASS')
    },
    timeout,
  )
})

describe('a worker that vanishes', () => {
  it(
    'loses its task, charged; one that calls anything keeps it',
    async () => {
      const here = project({ '*': [pass] }, { limits: { outsideLease: '8s' } })
      await here.run(['run', 'plan.yaml'])
      const task = 'plan-1/greet'
      const first = await connect(here, ['--role', 'worker'])
      expect((await first.say('take_task', { task })).value).toMatchObject({ attempt: 1 })
      const until = Date.now() + 10_000
      while (Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 400))
        await first.say('get_task', { task })
      }
      expect((await first.say('get_task', { task })).value.task.status).toBe('running')
      expect((await here.events()).filter(({ type }) => type === 'attempt.beat').length).toBeGreaterThan(1)
      process.kill(first.pid ?? 0, 'SIGKILL')
      const second = await connect(here, ['--role', 'worker'])
      await expect
        .poll(async () => (await second.say('get_review', { task, waitSeconds: 0 })).value.task, { timeout: 60_000, interval: 300 })
        .toMatchObject({ status: 'todo', phase: 'rejected', feedback: expect.stringContaining('not been heard of') })
      expect((await second.say('take_task', { task })).value).toMatchObject({ attempt: 2 })
    },
    timeout,
  )

  it(
    'and comes back too late is refused, though nobody looked meanwhile',
    async () => {
      const here = project({ '*': [pass] }, { limits: { outsideLease: '2s' } })
      await here.run(['run', 'plan.yaml'])
      const task = 'plan-1/greet'
      const first = await connect(here, ['--role', 'worker'])
      expect((await first.say('take_task', { task })).value).toMatchObject({ attempt: 1 })
      process.kill(first.pid ?? 0, 'SIGKILL')
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      const second = await connect(here, ['--role', 'worker'])
      const submitted = { task, attempt: 1, output: 'hello', ...caseFor('output:1') }
      expect(await second.say('submit_case', submitted)).toMatchObject({ refused: true, value: { code: 'stale_attempt' } })
      expect((await here.events()).filter(({ type }) => type === 'attempt.failed').map(({ data }) => data)).toMatchObject([
        { attempt: 1, failure: 'lease_lost' },
      ])
      expect((await second.say('take_task', { task })).value).toMatchObject({ attempt: 2 })
    },
    timeout,
  )
})
