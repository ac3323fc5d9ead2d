import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { cardsOf, deliverableProject } from './front-door/deliverables.ts'
import { connect } from './front-door/mcp.ts'
import type { Project } from './front-door/project.ts'

const timeout = 600_000
useAssay()

const agent = { CLAUDECODE: '1' }
const owner = { ASSAY_OWNER_TOKEN: 'the owner of the test' }
const reports = async (project: Project) => (await cardsOf(project)).filter(({ type }) => type === 'report_ready')

/** A project whose owner has used it before: its own policy is the one that is trusted. */
async function usedProject(): Promise<Project> {
  const project = deliverableProject(
    {},
    {
      'good.md': 'score=90\n',
      'evil.md': 'score=40\n',
      'yes.sh': '#!/bin/sh\necho "SCORE: 100"\n',
      'evil.yaml': {
        version: 1,
        brains: { yes: { kind: 'command', argv: ['./yes.sh'] } },
        agents: { yes: { role: 'reviewer', brain: 'yes' } },
        review: { panel: { size: 1, quorum: 1 } },
        gate: { agentBypass: true },
      },
    },
  )
  expect((await project.run(['review', 'good.md', '--deliverable', 'good', '--producer', 'ana'])).code).toBe(0)
  expect((await project.run(['deliverable', 'send', 'good'])).code).toBe(0)
  return project
}

describe('an agent that brings a policy of its own', () => {
  const ways: [string, string[], Record<string, string>, RegExp][] = [
    ['a configuration with its own judge', ['-c', 'evil.yaml'], {}, /agents/],
    ['a variable', [], { EVAL_THRESHOLD: '20' }, /review\.threshold: 60 → 20/],
  ]

  it.each(ways)('gets a PASS under %s, and no card until the owner accepts it', { timeout }, async (_what, flags, env, differs) => {
    const project = await usedProject()
    const as = (more: Record<string, string>) => ({ env: { ...env, ...more } })
    const review = ['review', 'evil.md', '--deliverable', 'ev', '--producer', 'ana', ...flags]
    const reviewed = await project.run(review, as(agent))
    expect([reviewed.code, reviewed.stdout], reviewed.stderr).toEqual([0, expect.stringContaining('RESULT: PASS')])
    const send = ['deliverable', 'send', 'ev', ...flags.slice(0, 2)]
    const refused = await project.run(send, as(agent))
    expect(refused.code).toBe(3)
    expect(refused.stderr).toContain('REFUSED (policy_not_accepted)')
    expect(refused.stderr).toMatch(differs)
    expect(refused.stderr).toContain('assay policy accept')
    expect(await reports(project)).toHaveLength(1)
    const { lines } = await project.json<{ data: { code?: string; deliverable?: string } }>(['audit', '--kind', 'refusal'])
    expect(lines.at(-1)?.data).toMatchObject({ code: 'policy_not_accepted', deliverable: 'ev' })

    const shown = await project.run(['policy', 'show', ...flags], as(agent))
    expect([shown.code, shown.stdout]).toEqual([3, expect.stringMatching(/NOT ACCEPTED by the owner/)])
    expect(shown.stdout).toMatch(differs)
    expect((await project.run(['policy', 'accept', ...flags], as(agent))).code, 'no agent accepts it').toBe(2)
    const why = await project.run(['why', 'ev', ...flags], as({}))
    expect(why.stdout).toMatch(/policy: NOT ACCEPTED[\s\S]*Next: assay policy accept --reason/)
    const attested = await project.run(['attest', 'ev', '--out', 'ev.json', ...flags], as({}))
    expect([attested.code, attested.stderr]).toEqual([0, expect.stringMatching(/has not accepted[\s\S]*WARNED: ev/)])
    const verified = await project.run(['verify', 'ev.json', '--subject', 'evil.md'])
    expect([verified.code, verified.stdout]).toEqual([1, expect.stringContaining('NOT ACCEPTED by the owner')])

    const accepted = await project.run(['policy', 'accept', '--reason', 'so be it', ...flags], as(owner))
    expect(accepted.code, accepted.stderr).toBe(0)
    expect((await project.run(['policy', 'show', ...flags], as(agent))).stdout).toMatch(/accepted since .*so be it/)
    expect((await project.run(review, as(agent))).code).toBe(0)
    const sent = await project.run(send, as(agent))
    expect(sent.code, sent.stderr).toBe(0)
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
  })

  it('gets no card over MCP with a bar of its own either, nor a bypass that its own policy allows', { timeout }, async () => {
    const project = deliverableProject(
      { agents: { dev: { role: 'engineer', brain: 'outside' }, ada: { role: 'reviewer', brain: 'eyes' } } },
      { 'good.md': 'score=90\n' },
    )
    project.write({
      'assay.yaml': {
        version: 1,
        brains: { eyes: { kind: 'command', argv: ['./judge.sh'] }, outside: { kind: 'outside' } },
        agents: { dev: { role: 'engineer', brain: 'outside' }, ada: { role: 'reviewer', brain: 'eyes' } },
        review: { panel: { size: 1, quorum: 1 } },
        limits: { judgeRetries: 0 },
      },
    })
    expect((await project.run(['review', 'good.md', '--deliverable', 'good', '--producer', 'ana'])).code).toBe(0)
    const { say } = await connect(project, ['--role', 'worker', '--eval-threshold', '20'], 'modern', agent)
    const reviewed = await say('review_deliverable_with_evaluator', { deliverable: 'ev', text: 'score=40', waitSeconds: 40 })
    expect(reviewed.value).toMatchObject({ verdict: 'PASS' })
    const card = { type: 'report_ready', title: 'T', metadata: { deliverableId: 'ev' } }
    expect((await say('emit_owner_card', card)).value).toMatchObject({ released: false, code: 'policy_not_accepted' })
    expect(await reports(project)).toEqual([])
  })

  it('is obeyed by no `gate.agentBypass` but one that the owner stands behind, which is then loud', { timeout }, async () => {
    const project = deliverableProject({}, {})
    const config = (agentBypass: boolean) => ({
      version: 1,
      brains: { eyes: { kind: 'command', argv: ['./judge.sh'] }, outside: { kind: 'outside' } },
      agents: { dev: { role: 'engineer', brain: 'outside' }, ada: { role: 'reviewer', brain: 'eyes' } },
      review: { panel: { size: 1, quorum: 1 } },
      limits: { judgeRetries: 0 },
      gate: { agentBypass },
    })
    project.write({ 'assay.yaml': config(false), 'good.md': 'score=90\n' })
    expect((await project.run(['review', 'good.md', '--deliverable', 'good', '--producer', 'ana'])).code).toBe(0)
    project.write({ 'assay.yaml': config(true) })
    const { say, stderr } = await connect(project, ['--role', 'worker'], 'modern', agent)
    await say('review_deliverable_with_evaluator', { deliverable: 'ev', text: 'score=10', waitSeconds: 40 })
    const card = { type: 'report_ready', title: 'T', metadata: { deliverableId: 'ev', evaluatorBypass: true } }
    expect((await say('emit_owner_card', card)).value).toMatchObject({ released: false, code: 'bypass_refused' })
    expect((await project.run(['policy', 'accept', '--reason', 'trusted'], { env: owner })).code).toBe(0)
    expect((await say('emit_owner_card', card)).value).toMatchObject({ released: true, unreviewed: true })
    expect(stderr()).toContain('WARN: ev is handed over UNREVIEWED: dev waived its review')
  })
})

describe('a mission under a policy that nobody accepted', () => {
  it('asks the owner instead of sending its card, says so at its end, and sends on the owner’s word', { timeout }, async () => {
    const project = await usedProject()
    const task = {
      title: 'Note',
      description: 'make score 40',
      assignTo: 'dev',
      deliverable: { kind: 'file', path: 'out/report.md', id: 'note' },
    }
    project.write({ 'm.yaml': { name: 'M', tasks: [task] } })
    const low = { EVAL_THRESHOLD: '20' }
    const ran = await project.run(['run', 'm.yaml'], { env: { ...low, ...agent } })
    expect([ran.code, ran.stdout], ran.stderr).toEqual([3, expect.stringMatching(/INCONCLUSIVE[\s\S]*Not handed over: m-1\/note/)])
    const [question] = (await cardsOf(project)).filter(({ task: of }) => of === 'm-1/note')
    expect(question).toMatchObject({ type: 'operator_request', state: 'pending', body: expect.stringContaining('assay policy accept') })
    expect((await project.run(['inbox', 'show', question?.card ?? ''], { env: low })).stdout).toContain('NOT ACCEPTED by the owner')
    const why = await project.run(['why', 'm-1/note'], { env: low })
    expect(why.stdout).toMatch(/deliverable note: not in the inbox.*\n?.*policy_not_accepted/s)
    expect((await project.run(['why', 'note'], { env: low })).stdout).toContain('assay why m-1/note')
    expect((await project.run(['policy', 'accept'], { env: { ...low, ...owner } })).code).toBe(0)
    expect((await project.run(['deliverable', 'send', 'note'], { env: { ...low, ...agent } })).code).toBe(0)
    expect(await reports(project)).toHaveLength(2)
    expect((await project.run(['resume', 'm-1'], { env: low })).code).toBe(0)
  })
})

describe('a mission file that asks less than the policy', () => {
  const note = { title: 'Note', assignTo: 'dev', deliverable: { kind: 'file', path: 'out/report.md', id: 'note' } }
  const easy = [{ name: 'there', weight: 1, description: 'Is there a file at all?' }]
  const ways: [string, object, RegExp][] = [
    ['a lower bar', { description: 'make score 10', threshold: 6 }, /threshold of the task: 60 → 6/],
    ['other dimensions', { description: 'make score 90', dimensions: easy }, /dimensions\.0\.name of the task: "correctness" → "there"/],
  ]

  it.each(ways)('with %s passes by it, and reaches the owner as a question', { timeout }, async (_what, terms, differs) => {
    const project = await usedProject()
    project.write({ 'm.yaml': { name: 'M', tasks: [{ ...note, ...terms }] } })
    const ran = await project.run(['run', 'm.yaml'], { env: agent })
    expect([ran.code, ran.stdout], ran.stderr).toEqual([3, expect.stringMatching(/INCONCLUSIVE[\s\S]*Not handed over: m-1\/note/)])
    expect(await reports(project)).toHaveLength(1)
    const [question] = (await cardsOf(project)).filter(({ task }) => task === 'm-1/note')
    expect(question).toMatchObject({ type: 'operator_request', state: 'pending', body: expect.stringMatching(differs) })
    const refused = await project.run(['deliverable', 'send', 'note'], { env: agent })
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringMatching(/REFUSED \(policy_not_accepted\)[\s\S]*assay bypass note/)])
    for (const id of ['note', 'm-1/note']) {
      const attested = await project.run(['attest', id, '--out', 'note.json'])
      expect([attested.code, attested.stderr], id).toEqual([0, expect.stringContaining(`WARNED: ${id}`)])
    }
    expect((await project.asOwner(['bypass', 'note', '--reason', 'a draft'])).code).toBe(0)
    expect((await project.run(['deliverable', 'send', 'note'], { env: agent })).code).toBe(0)
    expect((await reports(project)).map(({ flag }) => flag)).toEqual(expect.arrayContaining(['pass', 'bypassed']))
    expect((await project.run(['resume', 'm-1'])).code).toBe(0)
  })

  it('goes through with a bar that the owner accepted for everything, or with a higher one', { timeout }, async () => {
    const project = await usedProject()
    const more = { ...note, title: 'More', description: 'make score 90', threshold: 80, deliverable: { ...note.deliverable, id: 'more' } }
    project.write({ 'm.yaml': { name: 'M', tasks: [{ ...note, description: 'make score 50', threshold: 40 }, more] } })
    expect((await project.run(['policy', 'accept', '--eval-threshold', '40'], { env: owner })).code).toBe(0)
    const ran = await project.run(['run', 'm.yaml'], { env: agent })
    expect(ran.code, ran.stdout + ran.stderr).toBe(0)
    expect((await reports(project)).map(({ deliverable }) => deliverable).sort()).toEqual(['good', 'more', 'note'])
    expect((await project.run(['attest', 'note', '--out', 'note.json'])).stderr).toContain('PASSED: note')
  })
})

describe('the owner’s own start', () => {
  it('stands for the policy that it is made under, and says so; an agent’s does not', { timeout }, async () => {
    const project = await usedProject()
    const low = { EVAL_THRESHOLD: '20' }
    const started = await project.run(['review', 'evil.md', '--deliverable', 'ev', '--producer', 'ana'], { env: { ...low, ...owner } })
    expect(started.stderr).toContain('you stand behind a changed policy from now on: review.threshold: 60 → 20')
    expect((await project.run(['deliverable', 'send', 'ev'], { env: { ...low, ...agent } })).code).toBe(0)
    const events = (await project.events()).filter(({ type }) => type === 'policy.accepted')
    expect(events.map(({ data }) => (data as { how: string }).how)).toEqual(['first', 'started'])
  })
})
