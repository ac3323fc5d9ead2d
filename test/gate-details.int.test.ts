import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { cardsOf, deliverableProject } from './front-door/deliverables.ts'
import type { Project } from './front-door/project.ts'

const timeout = 600_000
useAssay()

const review = (file: string, id: string, ...more: string[]) => ['review', file, '--deliverable', id, '--producer', 'ana', ...more]

function edit(project: Project, sql: string): void {
  const db = new DatabaseSync(join(project.folder, '.assay', 'assay.db'))
  const { changes } = db.prepare(sql).run()
  db.close()
  expect(Number(changes), 'the fault fired').toBeGreaterThan(0)
}

describe('a scripted judge', () => {
  it('is part of the policy: another script under its name sends nothing, though the first lies there again', { timeout }, async () => {
    const strict = { judges: { '*': [{ accept: false, scores: 2, concern: 'It is thin.', next_step: 'Write more.' }] } }
    const lenient = { judges: { '*': [{ accept: true, scores: 5 }] } }
    const project = deliverableProject(
      {
        brains: { eyes: { kind: 'scripted', file: 'brain.yaml' } },
        agents: { dev: { role: 'engineer', brain: 'eyes' }, ada: { role: 'reviewer', brain: 'eyes' } },
      },
      { 'a.md': 'a\n', 'b.md': 'b\n', 'brain.yaml': strict },
    )
    expect((await project.run(review('b.md', 'b'))).code).toBe(1)
    project.write({ 'brain.yaml': lenient })
    expect((await project.run(review('a.md', 'a'), { env: { CLAUDECODE: '1' } })).code).toBe(0)
    expect((await project.run(['deliverable', 'send', 'a'])).stderr).toContain('REFUSED (policy_not_accepted)')
    project.write({ 'brain.yaml': strict })
    expect((await project.run(['deliverable', 'send', 'a'])).stderr).toContain('REFUSED (policy_changed)')
    expect((await cardsOf(project)).filter(({ type }) => type === 'report_ready')).toEqual([])
  })
})

describe('a judge that is named without a path', () => {
  it('is part of the policy: where PATH leads to another one, nothing is sent until the owner accepts it', { timeout }, async () => {
    const brains = { eyes: { kind: 'command', argv: ['my-judge'] }, hands: { kind: 'command', argv: ['./worker.sh'] } }
    const says = (score: number) => `#!/bin/sh\ncat > /dev/null\nprintf 'Looked.\\nSCORE: ${score}\\n'\n`
    const files = { 'strict/my-judge': says(20), 'lenient/my-judge': says(95) }
    const project = deliverableProject({ brains }, { 'a.md': 'a\n', 'b.md': 'b\n', ...files })
    for (const place of ['strict', 'lenient']) chmodSync(join(project.folder, place, 'my-judge'), 0o755)
    const through = (place: string) => ({ env: { PATH: `${join(project.folder, place)}:${process.env.PATH}`, CLAUDECODE: '1' } })
    expect((await project.run(review('b.md', 'b'), through('strict'))).code).toBe(1)
    expect((await project.run(review('a.md', 'a'), through('lenient'))).code).toBe(0)
    const sent = await project.run(['deliverable', 'send', 'a'], through('lenient'))
    expect(sent.stderr).toContain('REFUSED (policy_not_accepted)')
    expect(sent.stderr).toContain('my-judge (found through PATH)')
    expect((await project.run(['deliverable', 'send', 'a'], through('strict'))).stderr).toContain('REFUSED (policy_changed)')
    const differs = 'policy, other.judgeFiles."my-judge (found through PATH)"'
    const attested = await project.run(['attest', 'a', '--out', 'a.json'], through('lenient'))
    expect([attested.code, attested.stderr]).toEqual([0, expect.stringContaining(differs)])
    const verified = await project.run(['verify', 'a.json'], through('lenient'))
    expect(verified.stdout, verified.stderr).toContain(`differs   ${differs}`)
    expect((await cardsOf(project)).filter(({ type }) => type === 'report_ready')).toEqual([])
  })
})

describe('a journal that was changed by hand', () => {
  it('is not signed for, sent from or added to, wherever the damage is', { timeout }, async () => {
    const project = deliverableProject({}, { 'a.md': 'score=90\n', 'b.md': 'score=91\n' })
    await project.run(review('a.md', 'a'))
    await project.run(review('b.md', 'b'))
    edit(project, `UPDATE events SET body = body || ' ' WHERE stream = 'task/deliverable-b-1/subject' AND version = 1`)
    for (const args of [['attest', 'a'], ['deliverable', 'send', 'a'], review('a.md', 'c')]) {
      const refused = await project.run(args)
      expect([refused.code, refused.stdout], args.join(' ')).toEqual([3, ''])
      expect(refused.stderr).toContain('was changed from outside or is damaged')
    }
  })

  it('does not change what a card shows and hands over: that is read from its event', { timeout }, async () => {
    const project = deliverableProject({}, { 'a.md': 'score=90\n', 'b.md': 'score=95\n' })
    for (const id of ['a', 'b']) {
      await project.run(review(`${id}.md`, id))
      expect((await project.run(['deliverable', 'send', id])).code).toBe(0)
    }
    const [b, a] = await cardsOf(project)
    edit(project, `UPDATE view_rows SET row = replace(row, '${a?.digest}', '${b?.digest}') WHERE view = 'inbox' AND key = '${a?.card}'`)
    const shown = await project.run(['inbox', 'show', a?.card ?? ''])
    expect(shown.stdout).toContain(a?.digest)
    expect(shown.stdout).not.toContain(b?.digest)
    expect((await project.run(['inbox', 'export', a?.card ?? '', '--out', 'copy'])).code).toBe(0)
    expect(project.read('copy/a.md')).toBe('score=90\n')
  })
})

describe('the list of the inbox', () => {
  it('shows no PASS that the journal does not know of, and says that somebody tried', { timeout }, async () => {
    const project = deliverableProject({}, { 'a.md': 'score=90\n', 'b.md': 'score=20\n' })
    for (const id of ['a', 'b']) await project.run(review(`${id}.md`, id))
    await project.asOwner(['bypass', 'b', '--reason', 'the client waits'])
    for (const id of ['a', 'b']) expect((await project.run(['deliverable', 'send', id])).code).toBe(0)
    expect((await project.run(['inbox'])).stderr).not.toContain('WARN')
    const of = (id: string) => `view = 'inbox' AND row LIKE '%"deliverable":"${id}"%'`
    edit(project, `UPDATE view_rows SET row = replace(row, '"bypassed"', '"pass"') WHERE ${of('b')}`)
    edit(
      project,
      `INSERT INTO view_rows SELECT view, 'forged', replace(replace(row, key, 'forged'), '"deliverable":"a"', '"deliverable":"c"') FROM view_rows WHERE ${of('a')}`,
    )
    const list = await project.run(['inbox'])
    expect([list.code, list.stderr]).toEqual([0, expect.stringMatching(/WARN: .*changed by hand.*forged.*assay audit verify/)])
    expect(list.stdout.match(/PASS \(/g), 'of a alone').toHaveLength(1)
    expect(list.stdout).not.toContain('forged')
    const json = await project.json<{ card: string; flag: string; deliverable: string }>(['inbox'])
    expect(json.lines.map(({ deliverable, flag }) => [deliverable, flag]).sort()).toEqual([
      ['a', 'pass'],
      ['b', 'bypassed'],
    ])
  })
})

describe('a card that waits', () => {
  it.each([
    ['forged to handled', `UPDATE view_rows SET row = replace(row, '"pending"', '"handled"') WHERE view = 'inbox'`],
    ['deleted', `DELETE FROM view_rows WHERE view = 'inbox'`],
  ])('is in the list though its row was %s, which is said, and found by the audit', { timeout }, async (_how, sql) => {
    const project = deliverableProject({}, { 'a.md': 'score=90\n' })
    await project.run(review('a.md', 'a'))
    expect((await project.run(['deliverable', 'send', 'a'])).code).toBe(0)
    const card = (await cardsOf(project))[0]?.card ?? ''
    edit(project, sql)
    const list = await project.run(['inbox'])
    expect(list.stderr).toMatch(new RegExp(`WARN: .*changed by hand.*${card}.*assay audit verify`))
    expect(list.stdout).toContain('PASS (')
    expect((await project.run(['inbox', 'show', card])).stdout).toContain('state        pending')
    const verified = await project.run(['audit', 'verify'])
    expect([verified.code === 0, verified.stdout + verified.stderr]).toEqual([false, expect.stringContaining(`view inbox, row ${card}`)])
  })
})

describe('a name', () => {
  it('of a deliverable is that of its latest version, however many its review has had', { timeout }, async () => {
    const project = deliverableProject({}, { 'fold.md': 'score=90\n' })
    expect((await project.run(review('fold.md', 'fold', '--title', 'fold'))).code).toBe(0)
    project.write({ 'fold.md': 'score=91\n' })
    expect((await project.run(review('fold.md', 'fold', '--title', 'fold'))).code).toBe(0)
    expect((await project.run(['why', 'fold'])).stdout).toContain('deliverable-fold-2/subject')
    expect((await project.run(['attest', 'fold'])).stderr).toContain('PASSED: fold')
    const turned = await project.asOwner(['overrule', 'fold', 'fail', '--reason', 'not so'])
    expect([turned.code, turned.stdout], turned.stderr).toEqual([0, expect.stringContaining('fold: overruled to fail')])
  })

  it('that a task and a deliverable share is refused, with the two ways to say it', { timeout }, async () => {
    const tasks = [{ title: 'Solo', description: 'make score 90', assignTo: 'dev' }]
    const project = deliverableProject({}, { 'a.md': 'score=90\n', 'm.yaml': { name: 'M', tasks } })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    expect((await project.run(review('a.md', 'solo'))).code).toBe(0)
    for (const command of [['why'], ['attest'], ['overrule', 'fail', '--reason', 'x']]) {
      const [word = '', ...rest] = command
      const said = (name: string) => project.asOwner([word, name, ...rest])
      const shared = await said('solo')
      expect([shared.code, shared.stderr], word).toEqual([2, expect.stringContaining('task:m-1/solo or deliverable:solo')])
      expect((await said('task:m-1/solo')).code, word).toBe(0)
      expect((await said('deliverable:solo')).code, word).toBe(0)
    }
    const overruled = (await project.events()).filter(({ type }) => type === 'task.overruled')
    expect(overruled.map(({ stream }) => stream)).toEqual(['task/m-1/solo', 'task/deliverable-solo-1/subject'])
  })
})

describe('what the owner decides', () => {
  it('says which bytes it covers, and refuses where others are named', { timeout }, async () => {
    const project = deliverableProject({}, { 'a.md': 'score=30\n' })
    await project.run(review('a.md', 'a'))
    const [{ digest }] = (await project.json<{ digest: string }>(['deliverable', 'list'])).lines as [{ digest: string }]
    const owner = (...args: string[]) => project.asOwner([...args, '--reason', 'because'])
    for (const order of [
      ['bypass', 'a'],
      ['overrule', 'a', 'pass'],
    ]) {
      const other = await owner(...order, '--digest', 'sha256:000000')
      expect([other.code, other.stderr], order.join(' ')).toEqual([2, expect.stringContaining(digest)])
    }
    const waived = await owner('bypass', 'a', '--digest', digest.slice(0, 20))
    expect([waived.code, waived.stderr]).toEqual([0, expect.stringMatching(new RegExp(`${digest} \\(9 bytes, one file, brought 20`))])
    const turned = await owner('overrule', 'a', 'pass', '--digest', digest.slice(7, 20))
    expect([turned.code, turned.stderr]).toEqual([0, expect.stringMatching(new RegExp(`${digest} \\(9 bytes, one file, brought 20`))])
  })

  it('frees an id that somebody took before a mission needed it, and the mission hands over then', { timeout }, async () => {
    const task = {
      title: 'Note',
      description: 'make score 90',
      assignTo: 'dev',
      deliverable: { kind: 'file', path: 'out/report.md', id: 'final' },
    }
    const project = deliverableProject({}, { 'squat.md': 'score=90\n', 'm.yaml': { name: 'M', tasks: [task] } })
    await project.run(['review', 'squat.md', '--deliverable', 'final', '--producer', 'mallory'])
    expect((await project.run(['deliverable', 'send', 'final'])).code).toBe(0)
    const ran = await project.run(['run', 'm.yaml'])
    expect([ran.code, ran.stdout]).toEqual([
      3,
      expect.stringMatching(/Not handed over: m-1\/note: final is mallory's[\s\S]*deliverable free final/),
    ])
    expect((await project.run(['deliverable', 'free', 'final', '--reason', 'squatted'])).code).toBe(2)
    expect((await project.asOwner(['deliverable', 'free', 'final', '--reason', 'squatted'])).code).toBe(0)
    const ready = (await cardsOf(project)).filter(({ type, state }) => type === 'report_ready' && state === 'pending')
    expect(ready).toMatchObject([{ deliverable: 'final', task: 'm-1/note', flag: 'pass' }])
    expect((await project.run(['resume', 'm-1'])).code).toBe(0)
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
  })
})

describe('criteria of the gate', () => {
  const signed = 'It is signed by its author'
  const task = {
    title: 'Note',
    description: 'make score 90',
    assignTo: 'dev',
    acceptanceCriteria: ['It is short', { text: signed, hard: false }],
  }

  it('are judged in a mission’s task, too, once and as hard ones, where it has a deliverable', { timeout }, async () => {
    const tasks = [
      { ...task, deliverable: { kind: 'file', path: 'out/report.md', id: 'd2' } },
      { ...task, title: 'Aside' },
    ]
    const project = deliverableProject({ gate: { criteria: [signed, 'It names a date'] } }, { 'm.yaml': { name: 'M', tasks } })
    const ran = await project.run(['run', 'm.yaml'])
    expect(ran.code, ran.stdout + ran.stderr).toBe(0)
    const shown = async (id: string) => {
      expect((await project.run(['attest', id, '--out', 'a.json'])).code).toBe(0)
      const { payload } = JSON.parse(project.read('a.json')) as { payload: string }
      const statement = JSON.parse(Buffer.from(payload, 'base64').toString()) as { predicate: { assay: { criteria: unknown[] } } }
      return statement.predicate.assay.criteria
    }
    expect(await shown('d2')).toEqual([
      { id: 'AC1', text: 'It is short', hard: true },
      { id: 'AC2', text: signed, hard: true },
      { id: 'AC3', text: 'It names a date', hard: true },
    ])
    expect(await shown('m-1/aside')).toHaveLength(2)
  })
})

describe('the end of a run', () => {
  it('says that a deliverable is not there, and is no pass', { timeout }, async () => {
    const task = { title: 'Note', description: 'make score 90', assignTo: 'dev', deliverable: 'nowhere.md' }
    const project = deliverableProject({}, { 'm.yaml': { name: 'M', tasks: [task] } })
    const ran = await project.run(['run', 'm.yaml'])
    expect([ran.code, ran.stdout]).toEqual([
      3,
      expect.stringMatching(/INCONCLUSIVE[\s\S]*Not handed over: m-1\/note: nothing of the accepted work is at/),
    ])
    const again = await project.run(['resume'])
    expect([again.code, again.stderr]).toEqual([3, expect.stringContaining('m-1, ended inconclusive')])
  })

  it('below the bar is not forgotten by resume', { timeout }, async () => {
    const task = { title: 'Note', description: 'make score 30', assignTo: 'dev' }
    const project = deliverableProject({}, { 'm.yaml': { name: 'M', tasks: [task] } })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    const again = await project.run(['resume'])
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('the last, m-1, ended failed')])
  })
})

describe('a deliverable', () => {
  it('is attested from end to end: signed, checked against its file, and told from another', { timeout }, async () => {
    const project = deliverableProject({}, { 'a.md': 'score=90\n', 'b.md': 'score=90 and more\n' })
    expect((await project.run(review('a.md', 'a'))).code).toBe(0)
    const attested = await project.run(['attest', 'a', '--out', 'a.json'])
    expect([attested.code, attested.stderr]).toEqual([0, expect.stringContaining('PASSED: a, one thing in a.json')])
    writeFileSync(join(project.folder, 'key.pub'), (await project.run(['audit', 'key'])).stdout)
    rmSync(join(project.folder, '.assay'), { recursive: true })
    const good = await project.run(['verify', 'a.json', '--subject', 'a.md', '--key', 'key.pub'])
    expect([good.code, good.stdout]).toEqual([0, expect.stringMatching(/PASSED[\s\S]*deliverable a/)])
    expect((await project.run(['verify', 'a.json', '--subject', 'b.md', '--key', 'key.pub'])).code).toBe(1)
    const envelope = project.read('a.json').trim()
    project.write({ 'twice.json': envelope.replace(/^\{/, '{"payloadType":"text/plain",') })
    const twice = await project.run(['verify', 'twice.json', '--key', 'key.pub'])
    expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining('stands in it twice')])
  })

  it('that has failed is told a next step that works', { timeout }, async () => {
    const project = deliverableProject({ gate: { maxRetries: 0 } }, { 'a.md': 'score=30\n' })
    expect((await project.run(review('a.md', 'a'))).stdout).toContain('RESULT: FAIL')
    for (const id of ['a', 'deliverable-a-1/subject']) {
      const next = /Next: assay (.*)/.exec((await project.run(['why', id])).stdout)?.[1] ?? ''
      expect(next, id).toMatch(/^overrule a pass --reason <why>/)
    }
    expect((await project.asOwner(['overrule', 'a', 'pass', '--reason', 'fine'])).code).toBe(0)
    expect((await project.run(['deliverable', 'send', 'a'])).stdout).toContain('OWNER-ACCEPTED (30/60)')
    const again = await project.run(['deliverable', 'send', 'a'])
    expect([again.code, again.stderr]).toEqual([2, expect.stringMatching(/REFUSED \(already_sent\).*card [0-9a-f-]{36}, pending/)])
    expect((await project.run(['inbox'])).stdout, 'nothing is cut for a program').not.toContain('…')
  })

  it('is refused at once in the name of the runtime, and says what --no-eval does', { timeout }, async () => {
    const project = deliverableProject({}, { 'a.md': 'score=90\n' })
    const runtime = await project.run(['review', 'a.md', '--deliverable', 'a', '--producer', 'runtime'])
    expect([runtime.code, runtime.stderr]).toEqual([2, expect.stringContaining('nobody brings work as runtime')])
    expect(project.has('.assay')).toBe(false)
    const unjudged = await project.run(review('a.md', 'a', '--no-eval'))
    expect(unjudged.stderr).toContain('the gate stays shut for it')
    expect((await project.run(['deliverable', 'send', 'a'])).code).not.toBe(0)
  })
})
