import { describe, expect, it } from 'vitest'
import type { CheckReport } from '../../../contract/check.ts'
import { meddling, withMeddling } from './installed.ts'

const passing: CheckReport = { id: 'tests', kind: 'command', outcome: 'pass', summary: 'exit code 0', output: 'fine', findings: ['other'] }

describe('the report of a check that may have loaded changed packages', () => {
  it('stands where none was changed', () => {
    expect(withMeddling(passing, meddling([], ['src/a.js']))).toEqual(passing)
  })

  it('fails where the work does not say what it installs, and names the packages', () => {
    const report = withMeddling(passing, meddling(['node_modules/left-pad'], ['src/package.json.txt']))
    expect(report).toMatchObject({ outcome: 'fail', output: 'fine' })
    expect(report.findings).toEqual(['other', 'node_modules/left-pad is installed and was changed; it is in no snapshot'])
  })

  it.each(['package.json', 'apps/site/pnpm-lock.yaml'])('passes with findings where %s is part of the work', (path) => {
    const report = withMeddling(passing, meddling(['node_modules/left-pad'], [path]))
    expect(report.outcome).toBe('pass')
    expect(report.findings).toHaveLength(2)
  })

  it('keeps what the check itself found wrong', () => {
    const failing: CheckReport = { ...passing, outcome: 'error', summary: 'ended by SIGKILL' }
    expect(withMeddling(failing, meddling(['node_modules/a'], []))).toMatchObject({ outcome: 'error', summary: 'ended by SIGKILL' })
  })

  it('names only so many packages', () => {
    const many = Array.from({ length: 500 }, (_, n) => `node_modules/p${n}`)
    const { findings } = withMeddling(passing, meddling(many, []))
    expect(findings).toHaveLength(22)
    expect(findings.at(-1)).toBe('and 480 more installed packages')
  })
})
