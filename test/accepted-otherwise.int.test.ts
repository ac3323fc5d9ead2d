import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { cardsOf, deliverableProject } from './front-door/deliverables.ts'
import { git } from './front-door/hooked.ts'

const timeout = 600_000
useAssay()

const formats = ['pretty', 'minimal', 'json', 'junit', 'sarif', 'github', 'markdown']

describe('work that the owner accepted', () => {
  it('and every judge rejected is no pass in any format of a review, nor anywhere else', { timeout }, async () => {
    const project = deliverableProject({ gate: { maxRetries: 1 } }, { 'r.md': 'score=30\n' })
    const review = ['review', 'r.md', '--deliverable', 'r', '--producer', 'ana']
    await project.run(review)
    project.write({ 'r.md': 'score=40\n' })
    expect((await project.run(review)).stdout).toContain('RESULT: FAIL 40/60')
    expect((await project.asOwner(['overrule', 'r', 'pass', '--reason', 'the client insists'])).code).toBe(0)

    const sinks = formats.flatMap((format) => ['--format', `${format}=${format}.out`])
    const again = await project.run([...review, ...sinks])
    expect(again.code, again.stderr).toBe(3)
    for (const format of formats) {
      const text = project.read(`${format}.out`)
      expect(text, format).toMatch(/owner-accepted/i)
      expect(text, format).toContain('the client insists')
      expect(text, format).not.toMatch(/RESULT: PASS|Assay: PASS|"passed": ?true|"(?:result|verdict)": ?"(?:clean|PASS)"|value="clean"/)
    }
    expect(project.read('minimal.out')).toMatch(/RESULT: OWNER-ACCEPTED \(40\/60\) by .+: the client insists/)
    expect(JSON.parse(project.read('json.out'))).toMatchObject({
      ...{ result: 'owner-accepted', passed: false, exitCode: 3, accepted: { by: expect.any(String), reason: 'the client insists' } },
      deliverable: { verdict: 'OWNER-ACCEPTED', next: 'assay deliverable send r' },
    })
    expect((await project.json(['deliverable', 'list'])).lines).toMatchObject([{ deliverable: 'r', verdict: 'OWNER-ACCEPTED' }])
    expect((await project.run(['deliverable', 'send', 'r'])).stdout).toContain('OWNER-ACCEPTED (40/60)')
  })

  it('and nobody judged is called so wherever its verdict is shown or recorded', { timeout }, async () => {
    const project = deliverableProject(
      {},
      {
        'judge.sh': '#!/bin/sh\nexit 7\n',
        'm.yaml': {
          name: 'M',
          tasks: [
            {
              title: 'a',
              assignTo: 'dev',
              description: 'Please make score 90',
              deliverable: { path: 'out/report.md', kind: 'file', id: 'da' },
            },
          ],
        },
      },
    )
    const stopped = await project.run(['run', 'm.yaml'])
    expect(stopped.code, stopped.stderr).toBe(3)
    const [request] = (await project.json<{ request: string }>(['requests'])).lines
    const answered = await project.asOwner(['requests', 'answer', request?.request ?? '', 'accept', '--reason', 'I read it myself'])
    expect(answered.code, answered.stderr).toBe(0)
    const resumed = await project.run(['resume', 'm-1'])
    expect(resumed.stdout).toContain('RESULT: OWNER-ACCEPTED  (1 owner-accepted)')
    expect(resumed.code).toBe(0)
    const ended = (await project.events()).filter(({ type }) => type === 'mission.finished')
    expect(ended.map(({ data }) => (data as { outcome: string }).outcome)).toEqual(['owner-accepted'])
    expect((await project.run(['mission', 'list'])).stdout).toMatch(/m-1.*owner-accepted/)
    expect((await project.run(['resume'])).stderr).toMatch(/m-1, ended owner-accepted/)
    expect((await project.json(['deliverable', 'list'])).lines).toMatchObject([{ deliverable: 'da', verdict: 'OWNER-ACCEPTED' }])
    for (const command of [
      ['deliverable', 'list'],
      ['deliverable', 'show', 'da'],
      ['why', 'da'],
      ['inbox'],
      ['audit', '--deliverable', 'da'],
      ['task', 'list'],
    ]) {
      const { stdout } = await project.run(command)
      expect(stdout, command.join(' ')).toContain('OWNER-ACCEPTED')
      expect(stdout, command.join(' ')).not.toMatch(/\bPASS\b/)
    }
    const allowed = (await project.events()).filter(({ type }) => type === 'release.allowed')
    expect(allowed.map(({ data }) => (data as { verdict: string }).verdict)).toEqual(['OWNER-ACCEPTED'])
    expect((await project.run(['deliverable', 'show', 'da'])).stdout).toMatch(/I read it myself/)
    expect((await project.run(['attest', 'da'])).stderr).toContain('WARNED')
  })
})

describe('a card whose work was turned down', () => {
  it('is open no longer, with those of whatever rests on it, and hands nothing over', { timeout }, async () => {
    const file = (id: string) => ({ kind: 'file', path: 'out/report.md', id })
    const project = deliverableProject(
      {},
      {
        // Whatever is done anew fails, so that it does not land.
        'worker.sh': '#!/bin/sh\n[ "$ASSAY_ATTEMPT" = 1 ] || exit 3\nmkdir -p out && echo score=80 > out/report.md\n',
        'm.yaml': {
          name: 'M',
          tasks: [
            { title: 'a', assignTo: 'dev', description: 'Please make score 80', deliverable: file('da') },
            { title: 'b', assignTo: 'dev', description: 'Please make score 80', deliverable: file('db'), dependsOn: ['a'] },
          ],
        },
      },
    )
    const ran = await project.run(['run', 'm.yaml'])
    expect(ran.code, ran.stderr).toBe(0)
    const ready = await cardsOf(project, '--type', 'report_ready')
    expect(ready.map(({ deliverable, state }) => [deliverable, state]).sort()).toEqual([
      ['da', 'pending'],
      ['db', 'pending'],
    ])
    const cardOf = (id: string) => ready.find(({ deliverable }) => deliverable === id)?.card ?? ''
    const turned = await project.asOwner(['overrule', 'm-1/a', 'fail', '--reason', 'wrong figures'])
    expect(turned.code, turned.stderr).toBe(0)
    expect(
      (await cardsOf(project)).find(({ card }) => card === cardOf('da')),
      'before anything is resumed',
    ).toMatchObject({ state: 'expired' })
    await project.run(['resume', 'm-1'])
    const after = await cardsOf(project)
    expect(after.filter(({ type, state }) => type === 'report_ready' && state === 'pending')).toEqual([])
    const asked = after.filter(({ type, task, state }) => type === 'operator_request' && task === 'm-1/b' && state === 'pending')
    expect(asked.map(({ flag }) => flag)).toEqual([undefined])
    expect((await project.run(['inbox'])).stdout).not.toContain('PASS')
    const exported = await project.run(['inbox', 'export', cardOf('db'), '--out', 'copy'])
    expect([exported.code, exported.stderr]).toEqual([2, expect.stringMatching(/expired/)])
    expect(project.has('copy')).toBe(false)

    const [request] = (await project.json<{ request: string }>(['requests'])).lines.filter(({ request }) => request.startsWith('m-1/b'))
    const failed = await project.asOwner(['requests', 'answer', request?.request ?? '', 'fail', '--reason', 'superseded'])
    expect(failed.code, failed.stderr).toBe(0)
    await project.run(['resume', 'm-1'])
    expect((await cardsOf(project, '--type', 'report_ready')).filter(({ state }) => state === 'pending')).toEqual([])
    const why = await project.run(['why', 'db'])
    expect(why.stdout).toContain('has failed: the owner: superseded.')
    expect(why.stdout).not.toContain('..')
    const expiries = (await project.events()).filter(({ type }) => type === 'card.expired').map(({ stream }) => stream)
    expect(new Set(expiries).size, 'each once').toBe(expiries.length)
  })
})

describe('a reviewed change', () => {
  it('is handed over only while its two ends are the commits that were reviewed, and names them', { timeout }, async () => {
    const project = deliverableProject({}, { 'a.md': 'nothing yet\n', '.gitignore': '.assay/\n.config/\ntmp/\n' })
    const commit = (name: string) => {
      git(project, 'add', '-A')
      git(project, 'commit', '-qm', name, '--allow-empty')
    }
    git(project, 'init', '-q', '-b', 'main')
    commit('base')
    git(project, 'tag', 'base')
    project.write({ 'a.md': 'score=90\n' })
    commit('work')
    const review = ['review', '--diff', 'base..HEAD', '--deliverable', 'df', '--producer', 'ana']
    const passed = await project.run(review)
    expect(passed.code, passed.stderr).toBe(0)
    expect((await project.run(['deliverable', 'show', 'df'])).stdout).toMatch(/[0-9a-f]{40}\.\.[0-9a-f]{40}/)

    commit('nothing in it')
    const sent = await project.run(['deliverable', 'send', 'df'])
    expect([sent.code, sent.stderr]).toEqual([3, expect.stringContaining('REFUSED (content_changed)')])
    project.write({ 'a.md': 'score=90 and more\n' })
    commit('more')
    expect((await project.run(['deliverable', 'send', 'df'])).stderr).toContain('REFUSED (content_changed)')
    expect((await project.run(['why', 'df'])).stdout).toMatch(/content_changed[\s\S]*[0-9a-f]{12}/)
    git(project, 'reset', '-q', '--hard', 'HEAD~2')
    const released = await project.run(['deliverable', 'send', 'df'])
    expect(released.code, released.stderr).toBe(0)
    expect((await project.run(['inbox', 'show', 'df'])).stdout).toMatch(/commits +[0-9a-f]{40}\.\.[0-9a-f]{40}/)
  })
})
