import { expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { makeProject } from './front-door/project.ts'

useAssay()

it('the demo ends as README shows it, and its tampered copy is found', { timeout: 300_000 }, async () => {
  const project = makeProject()
  const { code, stdout, stderr } = await project.run(['demo'])
  expect(code, stderr).toBe(0)
  const from = stdout.indexOf('The gate to the owner')
  expect(from).toBeGreaterThan(0)
  expect(stdout.slice(from)).toMatch(/REFUSED \(needs_revision\)[\s\S]*in the inbox, PASS[\s\S]*UNREVIEWED \(bypass by/)
  expect(stdout).toMatch(/audit verified: \d+ events in \d+ chains, none broken/)
  const inbox = await project.run(['inbox', '-c', 'assay-demo/assay.yaml'])
  expect(inbox.stdout).toMatch(/PASS \(80\/60\)[\s\S]*UNREVIEWED \(bypass|UNREVIEWED \(bypass[\s\S]*PASS \(80\/60\)/)
  expect((await project.run(['audit', 'verify', '-c', 'assay-demo/assay.yaml'])).code).toBe(0)
  const tampered = await project.run(['audit', 'verify', '-c', 'assay-demo/tampered/assay.yaml'])
  expect([tampered.code === 0, tampered.stdout + tampered.stderr]).toEqual([false, expect.stringContaining('deliverable/prices')])
})
