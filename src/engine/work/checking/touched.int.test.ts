import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { CheckReport } from '../../../contract/check.ts'
import type { CheckRunner } from '../../../ports/checks.ts'
import { eyesOf, handsOf } from '../../../testing/engine/brains.ts'
import { openWorkshop } from '../../../testing/engine/workshop.ts'
import { specWith } from '../../../testing/task/world.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { panel: { size: 1, quorum: 1 }, maxAttempts: 1, onExhausted: 'fail' },
}
const timeout = 60_000
const stop = new AbortController().signal

/** One task in a shared folder with packages; `during` happens while its check runs, which passes each time. */
async function checked(during: (site: string, run: number) => void): Promise<{ runs: number; reports: CheckReport[] }> {
  const shop = openWorkshop({ config, brains: { hands: handsOf(() => 'work'), eyes: eyesOf(() => 'SCORE: 90') } })
  onTestFinished(shop.remove)
  const site = join(shop.folder, 'site')
  mkdirSync(join(site, 'node_modules/pad'), { recursive: true })
  writeFileSync(join(site, 'node_modules/pad/index.js'), '1')
  let runs = 0
  const checks: CheckRunner = {
    run: async (id, { kind }) => {
      runs += 1
      // Some kernels note times in steps of several milliseconds.
      await sleep(20)
      during(site, runs)
      return { id, kind, outcome: 'pass', summary: 'ok', output: '', findings: [] }
    },
  }
  Object.assign(shop.parts, { checks })
  const spec = specWith({
    ...{ id: 'm/a', title: 'a', criteria: [], mission: 'm', expectsDiff: false, workspace: { kind: 'folder', path: 'site' } },
    checks: [{ id: 'tests', kind: 'command', argv: ['node', '--test'] }],
  })
  await shop.engine.start({ id: 'm', name: 'm', gates: [], tasks: [spec] })
  await shop.engine.run({ missions: ['m-1'], stop })
  const events = await shop.parts.journal.read(0, 1000)
  const ended = events.find(({ type }) => type === 'checks.passed' || type === 'checks.failed')
  return { runs, reports: (ended?.data as { reports: CheckReport[] } | undefined)?.reports ?? [] }
}

const swap = (site: string) => {
  renameSync(join(site, 'node_modules/pad'), join(site, 'kept'))
  renameSync(join(site, 'kept'), join(site, 'node_modules/pad'))
}

it('a check of a shared folder during which nobody touches a package is run once', { timeout }, async () => {
  const { runs, reports } = await checked((site) => writeFileSync(join(site, 'elsewhere.txt'), 'x'))
  expect([runs, reports]).toMatchObject([1, [{ id: 'tests', outcome: 'pass' }]])
})

it('one during which a package was swapped and put back is run again, and that counts', { timeout }, async () => {
  const { runs, reports } = await checked((site, run) => {
    if (run === 1) swap(site)
  })
  expect([runs, reports]).toMatchObject([2, [{ id: 'tests', outcome: 'pass', findings: [] }]])
})

it('one that is disturbed each time has not passed, and the package is named', { timeout }, async () => {
  const { runs, reports } = await checked(swap)
  expect([runs, reports]).toMatchObject([3, [{ id: 'tests', outcome: 'error', summary: expect.stringContaining('node_modules/pad') }]])
})

it('one during which a package was changed for good fails', { timeout }, async () => {
  const { reports } = await checked((site, run) => writeFileSync(join(site, 'node_modules/pad/index.js'), `changed ${run}`))
  expect(reports.map(({ outcome }) => outcome)).not.toContain('pass')
  expect(reports.map(({ id }) => id)).toContain('installed-packages')
})
