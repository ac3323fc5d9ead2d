import { describe, expect, it } from 'vitest'
import type { CheckReport } from '../../../contract/check.ts'
import type { PackageChanges } from '../../../ports/workspace.ts'
import { disturbed, installedReports, withMeddling, withMeddlingOfOthers } from './installed.ts'

const passing: CheckReport = { id: 'tests', kind: 'command', outcome: 'pass', summary: 'exit code 0', output: 'fine', findings: ['other'] }
const changes = (some: Partial<PackageChanges>): PackageChanges => ({ changed: [], replaced: [], added: [], removed: [], ...some })
const all = () => true
const none = () => false

describe('the report of a check that may have loaded changed packages', () => {
  it('stands where none was changed', () => {
    expect(withMeddling(passing, changes({}), none)).toEqual(passing)
  })

  it.each([all, none])('fails where one that was there is another now, whatever is declared, and names it', (declares) => {
    const report = withMeddling(passing, changes({ changed: ['node_modules/left-pad'] }), declares)
    expect(report).toMatchObject({ outcome: 'fail', output: 'fine' })
    expect(report.findings).toEqual(['other', 'node_modules/left-pad is installed and was changed; it is in no snapshot'])
  })

  it.each([all, none])('fails where a new one hides one that was there, whatever is declared', (declares) => {
    const report = withMeddling(passing, changes({ replaced: ['app/node_modules/pad'] }), declares)
    expect(report).toMatchObject({ outcome: 'fail', findings: ['other', expect.stringContaining('app/node_modules/pad was installed')] })
  })

  it('is one more that fails, for every task, and names them', () => {
    const [report] = installedReports(changes({ changed: ['node_modules/pad'], replaced: ['app/node_modules/pad'] }))
    expect(report).toMatchObject({ outcome: 'fail', summary: expect.stringContaining('node_modules/pad, app/node_modules/pad') })
    expect(installedReports(changes({ added: ['node_modules/new'], removed: ['node_modules/old'] }))).toEqual([])
  })

  it('passes on a new one with a finding where it is declared, and not where it is not', () => {
    const added = changes({ added: ['node_modules/left-pad'] })
    const findings = ['other', 'node_modules/left-pad was installed by the worker; it is in no snapshot']
    expect(withMeddling(passing, added, all)).toMatchObject({ outcome: 'pass', findings })
    expect(withMeddling(passing, added, none)).toMatchObject({ outcome: 'fail', findings })
  })

  it('says that one is gone', () => {
    const report = withMeddling(passing, changes({ removed: ['node_modules/a'] }), none)
    expect(report).toMatchObject({ outcome: 'pass', findings: ['other', 'node_modules/a was installed and is gone'] })
  })

  it('keeps what the check itself found wrong', () => {
    const failing: CheckReport = { ...passing, outcome: 'error', summary: 'ended by SIGKILL' }
    expect(withMeddling(failing, changes({ changed: ['node_modules/a'] }), none)).toMatchObject({
      outcome: 'error',
      summary: 'ended by SIGKILL',
    })
  })

  it('names only so many packages', () => {
    const many = Array.from({ length: 500 }, (_, n) => `node_modules/p${n}`)
    const { findings } = withMeddling(passing, changes({ changed: many }), none)
    expect(findings).toHaveLength(22)
    expect(findings.at(-1)).toBe('and 480 more')
  })
})

describe('the report of a check that may have loaded packages which others changed', () => {
  it.each([
    [['m/holder'], 'the work of m/holder'],
    [[], 'work that was not accepted'],
  ])('fails, and says whose work it was (%j)', (others, whose) => {
    const report = withMeddlingOfOthers(passing, changes({ changed: ['node_modules/pad'], replaced: ['app/node_modules/pad'] }), others)
    expect(report).toMatchObject({
      outcome: 'fail',
      output: 'fine',
      summary: expect.stringContaining('node_modules/pad, app/node_modules/pad'),
    })
    expect(report.summary).toContain(whose)
    expect(report.findings).toEqual([
      'other',
      ...['', 'app/'].map((at) => expect.stringContaining(`${at}node_modules/pad is installed and was changed by ${whose}`)),
    ])
  })

  it('stands where they only added some, which were not there for it, or removed some, which it would have missed', () => {
    expect(withMeddlingOfOthers(passing, changes({ added: ['node_modules/new'] }), ['m/holder'])).toEqual(passing)
    expect(withMeddlingOfOthers(passing, changes({ removed: ['node_modules/old'] }), ['m/holder'])).toMatchObject({
      outcome: 'pass',
      findings: ['other', expect.stringContaining('node_modules/old was installed and was removed')],
    })
  })

  it('is no better for one that fails anyway', () => {
    const failing = { ...passing, outcome: 'fail' as const, summary: 'exit code 1' }
    expect(withMeddlingOfOthers(failing, changes({ changed: ['node_modules/pad'] }), [])).toMatchObject({
      outcome: 'fail',
      summary: 'exit code 1',
    })
  })

  it('is an error where something was touched each time that it ran, and names at most twenty', () => {
    const moved = Array.from({ length: 25 }, (_, at) => `node_modules/p${at} was touched`)
    const report = disturbed(passing, moved)
    expect(report).toMatchObject({ outcome: 'error', summary: expect.stringContaining('node_modules/p0 was touched') })
    expect(report.summary).toContain('and 5 more')
    expect(report.findings).toHaveLength(21)
  })
})

describe('programs in PATH that are not what they were', () => {
  const programs = ['.venv/bin/node']

  it('fail the task, whatever its checks, and are named with what to do', () => {
    expect(installedReports(changes({ programs }))).toMatchObject([
      { id: 'path-programs', outcome: 'fail', findings: [expect.stringContaining('.venv/bin/node')] },
    ])
    expect(installedReports(changes({ programs, changed: ['node_modules/a'] })).map(({ id }) => id)).toEqual([
      'installed-packages',
      'path-programs',
    ])
  })

  it('let no check pass, whoever changed them', () => {
    const named = { outcome: 'fail', summary: expect.stringContaining('.venv/bin/node') as string }
    expect(withMeddling(passing, changes({ programs }), () => true)).toMatchObject(named)
    expect(withMeddlingOfOthers(passing, changes({ programs }), ['m/holder'])).toMatchObject(named)
  })
})
