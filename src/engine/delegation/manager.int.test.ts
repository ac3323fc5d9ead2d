import { describe, expect, it, onTestFinished } from 'vitest'
import { acceptingVerdict } from '../../testing/sample-verdict.ts'
import { eyesOf, handsOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { beginDelegation, delegateTasks, delegationStanding } from './delegate.ts'

const stop = new AbortController().signal
const brains = {
  away: { kind: 'outside' },
  hands: { kind: 'scripted', file: 'hands.yaml' },
  eyes: { kind: 'scripted', file: 'eyes.yaml' },
  shell: { kind: 'command', argv: ['true'] },
}
const dev = { role: 'engineer', brain: 'hands', reportsTo: 'lead' }
const qa = { role: 'reviewer', brain: 'eyes' }
const call = { goal: 'Do it', to: 'dev', acceptance_criteria: 'done' }

function workshop(agents: object, more: object = {}) {
  const shop = openWorkshop({
    config: { brains, agents, ...more },
    brains: { hands: handsOf(() => 'done'), eyes: eyesOf(() => 'SCORE: 90') },
  })
  onTestFinished(shop.remove)
  return shop
}

describe('a manager that works outside', () => {
  it('judges what it handed down, by its own coming, without being configured as a judge', async () => {
    const { engine } = workshop({ lead: { role: 'manager', brain: 'away' }, dev, qa })
    const begun = await beginDelegation(engine, call, { by: 'lead' })
    expect(begun).toMatchObject({ ok: true, value: { mission: 'delegation-1' } })
    const end = await engine.run({ missions: ['delegation-1'], stop })
    expect(end.awaited).toEqual([{ task: 'delegation-1/1', agent: 'lead', for: 'verdict' }])
    expect(await delegationStanding(engine, 'delegation-1')).toMatchObject({ open: 1 })
    const [asked] = await engine.outside.awaited('lead')
    const { panel, spec } = (await engine.task('delegation-1/1')) ?? {}
    if (!asked || !panel || !spec) throw new Error('nobody is asked')
    const { criteria, dimensions } = spec
    const accepts = acceptingVerdict({ nonce: panel.nonce, criteria, dimensions, points: [], form: 'structured' })
    const raw = JSON.stringify({ ...accepts, criteria: accepts.criteria.map((one) => ({ ...one, evidence: [] })), evidence: [] })
    expect(await engine.outside.verdict({ review: asked.review, judge: 'lead', raw })).toMatchObject({
      ok: true,
      value: { outcome: 'graded' },
    })
    await engine.run({ missions: ['delegation-1'], stop })
    expect(await delegationStanding(engine, 'delegation-1')).toMatchObject({
      open: 0,
      results: [{ status: 'completed', judge: { verdict: 'PASS' } }],
    })
    expect((await engine.task('delegation-1/1'))?.decided[0]?.decision).toMatchObject({ outcome: 'pass' })
  })
})

describe('a manager that cannot judge', () => {
  it('hears so at once, and who judges instead', async () => {
    const { engine } = workshop({ lead: { role: 'manager', brain: 'shell' }, dev, qa })
    const begun = await beginDelegation(engine, call, { by: 'lead' })
    expect(begun).toMatchObject({ ok: true })
    expect(await delegationStanding(engine, 'delegation-1')).toMatchObject({
      open: 1,
      results: [
        {
          notice: 'lead, who handed the task down, does not judge it: it is a command without a reviewer role or judges: true; qa is asked',
        },
      ],
    })
    expect(await delegateTasks(engine, call, { by: 'qa', stop })).toMatchObject({ ok: true, value: [{ judge: { verdict: 'PASS' } }] })
  })

  it('hands nothing down where nobody else could judge it either', async () => {
    const { engine } = workshop({ lead: { role: 'manager', brain: 'shell' }, dev })
    const begun = await beginDelegation(engine, call, { by: 'lead' })
    expect(begun).toMatchObject({
      ok: false,
      error: { code: 'bad_command', message: expect.stringMatching(/^task 0: Judge unavailable: lead/) },
    })
    expect(await engine.missions()).toEqual([])
    const { acceptance_criteria: _criteria, ...unjudged } = call
    expect(await delegateTasks(engine, unjudged, { by: 'lead', stop })).toMatchObject({ ok: true, value: [{ status: 'completed' }] })
  })

  it('is not needed where delegate.judge names a brain', async () => {
    const { engine } = workshop({ lead: { role: 'manager', brain: 'shell' }, dev }, { delegate: { judge: 'eyes' } })
    const results = await delegateTasks(engine, call, { by: 'lead', stop })
    expect(results).toMatchObject({ ok: true, value: [{ judge: { verdict: 'PASS' } }] })
    expect(results.ok && results.value[0]).not.toHaveProperty('notice')
  })
})
