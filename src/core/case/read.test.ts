import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Case, type Content } from '../../contract/case.ts'
import type { CheckSpec } from '../../contract/check.ts'
import { contentOf, noContent } from '../../testing/task/steps.ts'
import { specWith } from '../../testing/task/world.ts'
import { emptyIsRejected, implicitCase, maxCaseBytes, readCase } from './read.ts'

const { criteria } = specWith()
const both = [
  { criterion: 'AC1', pointer: 'core.txt:1' },
  { criterion: 'AC2', pointer: 'core.txt:2' },
]
const read = (value: unknown) => readCase(JSON.stringify(value), criteria)
const problemsOf = (raw: string) => {
  const result = readCase(raw, criteria)
  return result.ok ? [] : result.problems
}
const problemsIn = (value: unknown) => problemsOf(JSON.stringify(value))

describe('reading a case', () => {
  it('takes a case that covers every criterion, with all that it may carry', () => {
    const argued = {
      summary: 'Wrote it.',
      ac_coverage: [{ criterion: 'AC1', pointer: 'core.txt:1', evidence: 'it is there' }, both[1]],
      work_arounds: ['touched the build'],
      uncertainties: ['hello in which language?'],
      delegations: [{ to: 'qa', title: 'Look again', description: '', criteria: ['seen'] }],
    }
    expect(read(argued)).toEqual({ ok: true, case: argued })
  })

  it('takes a criterion by its exact text as well as by its id', () => {
    const byText = [{ criterion: 'core.txt exists', pointer: 'core.txt:1' }, both[1]]
    expect(read({ summary: 'Wrote it.', ac_coverage: byText }).ok).toBe(true)
    const almost = [{ criterion: 'Core.txt exists', pointer: 'core.txt:1' }, both[1]]
    expect(problemsIn({ summary: 'Wrote it.', ac_coverage: almost })).toHaveLength(2)
  })

  it('takes a criterion that is met in several places', () => {
    const twice = [...both, { criterion: 'AC1', pointer: 'core.test.txt:9' }]
    expect(read({ summary: 'Wrote it.', ac_coverage: twice })).toMatchObject({ ok: true, case: { ac_coverage: twice } })
  })

  it('means by an id the criterion that has it, though another reads the same', () => {
    const odd = [
      { id: 'AC1', text: 'AC2', hard: true },
      { id: 'AC2', text: 'it says hello', hard: true },
    ]
    const covered = readCase(JSON.stringify({ summary: 's', ac_coverage: [{ criterion: 'AC2', pointer: 'a:1' }] }), odd)
    expect(covered).toEqual({ ok: false, problems: [expect.stringContaining('misses AC1')] })
  })

  it('names every criterion that is missed, and no other', () => {
    expect(problemsIn({ summary: 's', ac_coverage: [] })).toEqual([expect.stringContaining('misses AC1, AC2')])
    const [problem] = problemsIn({ summary: 's', ac_coverage: [both[0]] })
    expect(problem).toContain('AC2')
    expect(problem).not.toContain('AC1')
  })

  it('names an unknown criterion and the ones that there are', () => {
    const [problem] = problemsIn({ summary: 's', ac_coverage: [...both, { criterion: 'AC3', pointer: 'a:1' }] })
    expect(problem).toContain('"AC3"')
    expect(problem).toContain('AC1, AC2')
    const [none] = ((result) => (result.ok ? [] : result.problems))(readCase(JSON.stringify({ summary: 's', ac_coverage: both }), []))
    expect(none).toContain('it has none')
  })

  it('asks for no coverage where there are no criteria', () => {
    expect(readCase('{"summary":"s","ac_coverage":[]}', []).ok).toBe(true)
  })

  it.each([
    ['no JSON', 'I am done!', 'not one JSON object'],
    ['a cut object', '{"summary":', 'not one JSON object'],
    ['a list', '[]', 'the case: '],
    ['a word', '"done"', 'the case: '],
    ['no summary', JSON.stringify({ ac_coverage: both }), 'summary: '],
    ['a blank summary', JSON.stringify({ summary: ' \n ', ac_coverage: both }), 'summary: '],
    ['no coverage', JSON.stringify({ summary: 's' }), 'ac_coverage: '],
    ['no pointer', JSON.stringify({ summary: 's', ac_coverage: [{ criterion: 'AC1', pointer: '' }] }), 'ac_coverage.0.pointer: '],
    ['a field that no case has', JSON.stringify({ summary: 's', ac_coverage: both, verdict: 'accept' }), 'the case: '],
    ['21 work-arounds', JSON.stringify({ summary: 's', ac_coverage: both, work_arounds: Array(21).fill('w') }), 'work_arounds: '],
  ])('refuses %s and says where', (_what, raw, where) => {
    expect(problemsOf(raw)[0]).toContain(where)
  })

  it.each([
    ['its summary', '{"summary":"HONEST: it does not work","summary":"All fine","ac_coverage":[]}', '"summary"', 0],
    ['its summary, once in other letters', '{"summary":"no","\\u0073ummary":"yes","ac_coverage":[]}', '"summary"', 0],
    ['its coverage', '{"summary":"s","ac_coverage":[{"criterion":"AC1","pointer":"a:1"}],"ac_coverage":[]}', '"ac_coverage"', 0],
    ['a pointer', '{"summary":"s","ac_coverage":[{"criterion":"AC1","pointer":"no:1","pointer":"a:1"}]}', '"pointer"', 1],
  ])('refuses a case that says %s twice, and names the key', (_what, raw, key, wanted) => {
    const some = criteria.slice(0, wanted)
    expect(readCase(JSON.stringify(JSON.parse(raw)), some).ok, 'said once it is a case').toBe(true)
    expect(readCase(raw, some)).toEqual({ ok: false, problems: [`the case: the key ${key} appears twice in one object`] })
  })

  it('takes a key that stands in two objects, or in a text', () => {
    const quoting = '{"summary":"{\\"summary\\":1,\\"summary\\":2}","ac_coverage":[]}'
    expect(readCase(quoting, []).ok).toBe(true)
    expect(read({ summary: 's', ac_coverage: both }).ok).toBe(true)
  })

  it('takes 20 work-arounds', () => {
    expect(read({ summary: 's', ac_coverage: both, work_arounds: Array(20).fill('w') }).ok).toBe(true)
  })

  it('reads up to its limit, and names the length beyond it', () => {
    const short = JSON.stringify({ summary: 's', ac_coverage: both })
    expect(readCase(short.padEnd(maxCaseBytes), criteria).ok).toBe(true)
    expect(problemsOf(short.padEnd(maxCaseBytes + 1))).toEqual([expect.stringContaining(String(maxCaseBytes + 1))])
  })

  it('lists at most 20 problems of shape', () => {
    const wrong = Array.from({ length: 30 }, () => ({ criterion: '', pointer: '' }))
    expect(problemsIn({ summary: 's', ac_coverage: wrong })).toHaveLength(20)
  })

  it('never throws, and gives a case that fits the schema or at least one problem', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (raw) => {
        const result = readCase(raw, criteria)
        if (result.ok) expect(Case.safeParse(result.case).success).toBe(true)
        else expect(result.problems.length).toBeGreaterThan(0)
      }),
      { numRuns: 300 },
    )
  })
})

describe('the case of a command that printed none', () => {
  const printed = (output: string, paths: string[] = []): Content => ({ ...contentOf('x'), output, paths })

  it('is the first two lines of its output', () => {
    expect(implicitCase(printed('\n  Wrote it.\nTwice.\nAnd more.\n'))).toEqual({ summary: 'Wrote it.\nTwice.', ac_coverage: [] })
  })

  it('is its change where it printed nothing', () => {
    expect(implicitCase(printed(' \n', ['a.txt', 'b.txt'])).summary).toBe('Changed a.txt, b.txt.')
    const { output: _none, ...silent } = printed('', ['a.txt'])
    expect(implicitCase(silent).summary).toBe('Changed a.txt.')
  })

  it('names ten paths and counts the rest', () => {
    const paths = Array.from({ length: 12 }, (_, index) => `p${index + 1}`)
    expect(implicitCase(printed('', paths.slice(0, 10))).summary).toBe(`Changed ${paths.slice(0, 10).join(', ')}.`)
    expect(implicitCase(printed('', paths)).summary).toBe(`Changed ${paths.slice(0, 10).join(', ')} and 2 more.`)
  })

  it('says so where there is nothing', () => {
    expect(implicitCase(noContent).summary).toMatch(/no output and no change/i)
  })

  it('is cut after 500 characters, visibly', () => {
    expect(implicitCase(printed('x'.repeat(500))).summary).toBe('x'.repeat(500))
    const { summary } = implicitCase(printed('x'.repeat(501)))
    expect(summary).toBe(`${'x'.repeat(499)}…`)
  })

  it('always fits the schema of a case', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string({ minLength: 1 }), { maxLength: 30 }), (output, paths) => {
        expect(Case.safeParse(implicitCase(printed(output, paths))).success).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})

describe('nothing delivered', () => {
  const proving = (...proves: string[]): CheckSpec => ({ kind: 'http', url: 'http://example.org', proves })
  const silent: CheckSpec = { kind: 'file', path: 'core.txt' }

  it('is rejected, and something is not', () => {
    expect(emptyIsRejected(specWith(), noContent)).toBe(true)
    expect(emptyIsRejected(specWith(), contentOf('x'))).toBe(false)
  })

  it('is fine for a task that expects no change', () => {
    expect(emptyIsRejected(specWith({ expectsDiff: false }), noContent)).toBe(false)
  })

  it.each([
    ['one check proves both criteria', [proving('AC1', 'AC2')], false],
    ['two checks prove one each', [proving('AC1'), silent, proving('AC2')], false],
    ['only one criterion is proven', [proving('AC1'), proving('AC1')], true],
    ['the checks prove nothing by themselves', [silent], true],
    ['a check proves something else', [proving('AC3')], true],
  ])('where %s', (_what, checks, rejected) => {
    expect(emptyIsRejected(specWith({ checks }), noContent)).toBe(rejected)
  })

  it('is rejected where there is no criterion that a check could prove', () => {
    expect(emptyIsRejected(specWith({ criteria: [], checks: [proving('AC1')] }), noContent)).toBe(true)
  })
})
