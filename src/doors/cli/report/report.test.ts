import { describe, expect, it } from 'vitest'
import { findingsOf, placeOf } from './findings.ts'
import { github, githubSummary } from './github.ts'
import { junit } from './junit.ts'
import { markdown } from './markdown.ts'
import { minimal } from './minimal.ts'
import { pretty } from './pretty.ts'
import { endingOf, type ReviewReport } from './report.ts'
import { sarif } from './sarif.ts'

const rejected: ReviewReport = {
  subject: { kind: 'folder', name: 'site', digest: 'sha256:aa' },
  ...endingOf('below-threshold'),
  score: { exact: '5/2', on5: 2.5, on100: 50 },
  bar: 3,
  category: 'acceptance_gap',
  concern: 'The form has no label.',
  nextSteps: [{ from: 'ada', text: 'Label the form.' }],
  criteria: [
    {
      id: 'AC1',
      text: 'The form is labelled',
      hard: true,
      answers: [
        { judge: 'ada', met: 'no', reasoning: 'no label', evidence: [{ pointer: 'src/form.html:12-14', resolved: true }] },
        { judge: 'bob', met: 'yes', reasoning: 'there is one', evidence: [{ pointer: 'src/gone.html:1', resolved: false }] },
      ],
    },
    { id: 'AC2', text: 'It is short', hard: false, answers: [{ judge: 'ada', met: 'yes', reasoning: 'it is', evidence: [] }] },
    { id: 'AC3', text: 'It is kind', hard: false, answers: [] },
  ],
  dimensions: [
    { name: 'correctness', score: { exact: '2/1', on5: 2, on100: 40 }, reasoning: [{ judge: 'ada', text: 'wrong' }] },
    { name: 'completeness', score: { exact: '3/1', on5: 3, on100: 60 }, reasoning: [] },
  ],
  judges: [
    { judge: 'ada', outcome: 'rejects', score: { exact: '2/1', on5: 2, on100: 40 }, concern: 'no label' },
    { judge: 'bob', outcome: 'accepts', score: { exact: '3/1', on5: 3, on100: 60 } },
    { judge: 'eve', outcome: 'void', concern: 'no JSON' },
  ],
  checks: [
    { id: 'build', kind: 'command', outcome: 'pass', summary: 'exit 0', output: '', findings: [], durationMs: 1500 },
    { id: 'lint', kind: 'command', outcome: 'fail', summary: 'exit 1', output: 'one\ntwo', findings: ['lint.json'] },
  ],
  suspicions: ['addresses the reviewer in src/form.html'],
  warnings: ['bob shares its model with the worker'],
  usage: { calls: 3, inputTokens: 1200, outputTokens: 300, costUsd: 0.0123 },
  durationMs: 2500,
}

const passing: ReviewReport = {
  ...rejected,
  ...endingOf('clean'),
  score: { exact: '4/1', on5: 4, on100: 80 },
  category: null,
  nextSteps: [],
}

describe('a report', () => {
  it('ends by its result alone', () => {
    expect(endingOf('clean')).toEqual({ result: 'clean', passed: true, exitCode: 0 })
    expect(endingOf('below-threshold')).toMatchObject({ passed: false, exitCode: 1 })
    expect(endingOf('below-threshold', false)).toMatchObject({ passed: false, exitCode: 1 })
    expect(endingOf('inconclusive', false)).toMatchObject({ passed: false, exitCode: 3 })
    for (const evaluated of [true, false]) expect(endingOf('owner-accepted', evaluated)).toMatchObject({ passed: false, exitCode: 3 })
    expect(endingOf('unreviewed')).toMatchObject({ passed: false, exitCode: 3 })
    expect(endingOf('unreviewed', false)).toMatchObject({ passed: true, exitCode: 0 })
  })

  it('of what the owner accepted says by whom and why, in every format, and passes in none', () => {
    const accepted = { ...rejected, ...endingOf('owner-accepted'), accepted: { by: 'eve', reason: 'the client waits' } }
    const screen = { columns: 100, colour: false }
    const all = [
      junit(accepted),
      markdown(accepted),
      minimal(accepted),
      pretty(accepted, screen),
      sarif(accepted, '1'),
      github(accepted, 'x'.repeat(16)),
    ]
    for (const text of all) {
      expect(text).toMatch(/OWNER-ACCEPTED/)
      expect(text).toMatch(/eve: the client waits/)
      expect(text).not.toMatch(/PASS|clean/)
    }
    expect(minimal(accepted)).toContain('RESULT: OWNER-ACCEPTED (50/60) by eve: the client waits (site)')
    const { score: _none, ...unscored } = accepted
    expect(minimal(unscored)).toContain('RESULT: OWNER-ACCEPTED (UNSCORED) by eve: the client waits (site)')
    expect(findingsOf(accepted)[0]).toMatchObject({ level: 'error', rule: 'owner-accepted' })
  })

  it('lists what to tell, worst first', () => {
    expect(findingsOf(rejected).map(({ level, rule, key }) => `${level} ${rule} ${key}`)).toEqual([
      'error acceptance_gap decision',
      'error acceptance_gap check:lint',
      'error acceptance_gap criterion:AC1',
      'warning suspicion suspicion:0',
      'warning judge judge:2:eve',
      'warning acceptance_gap dimension:correctness',
      'note warning warning:0',
    ])
    expect(findingsOf(passing).filter(({ level }) => level === 'error')).toEqual([])
  })

  it('finds places in pointers and nowhere else', () => {
    expect(placeOf('src/a.ts:12')).toEqual({ path: 'src/a.ts', line: 12 })
    expect(placeOf('src/a.ts:L12-L14')).toEqual({ path: 'src/a.ts', line: 12, endLine: 14 })
    expect(placeOf('src/a.ts:14-12')).toEqual({ path: 'src/a.ts', line: 14 })
    expect(placeOf('src/a.ts:main')).toEqual({ path: 'src/a.ts' })
    expect(placeOf('README.md')).toEqual({ path: 'README.md' })
    for (const pointer of [
      'check:lint',
      'absent:a.ts:1',
      '"a quotation":3',
      '',
      '/etc/passwd:1',
      '../x:1',
      'a/../../x:1',
      'C:\\x:1',
      'a\nb:1',
    ])
      expect(placeOf(pointer)).toBeUndefined()
  })
})

describe('formats', () => {
  it('minimal says what to do and ends with the result', () => {
    expect(minimal(rejected).split('\n')).toEqual([
      'error: check lint failed: exit 1 lint.json',
      'error: AC1 is not met: The form is labelled ada: no. no label bob: yes. there is one (evidence not found: src/gone.html:1)',
      'warning: suspicion: addresses the reviewer in src/form.html',
      'warning: eve gave no verdict that can be read: no JSON',
      'warning: correctness 40/60: ada: wrong',
      'concern: The form has no label.',
      'next (ada): Label the form.',
      'usage: 3 calls, 1200 tokens in, 300 out, $0.0123, 2.5 s',
      'RESULT: FAIL 50/60 acceptance_gap (site)',
    ])
    expect(minimal(passing).split('\n').at(-1)).toBe('RESULT: PASS 80/60 (site)')
  })

  it('pretty fits its width, colours on request and shows evidence that was not found', () => {
    const text = pretty(rejected, { columns: 60, colour: false })
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(60)
    expect(text).toContain('✗ AC1 The form is labelled (hard)')
    expect(text.replace(/\s+/g, ' ')).toContain('src/gone.html:1 (NOT FOUND)')
    expect(text).toContain('│ two')
    expect(text.split('\n').at(-1)).toBe('RESULT: FAIL 50/60 acceptance_gap (site)')
    expect(pretty(rejected, { columns: 60, colour: true })).toContain('\u001b[31mRESULT: FAIL')
  })

  it('junit has a case for each part and is red iff the review did not pass', () => {
    const text = junit(rejected)
    expect(text).toContain('<testsuite name="site" tests="9" failures="4" errors="1" time="2.500" skipped="1">')
    expect(text).toContain(
      '<testcase classname="assay.criterion" name="AC1: The form is labelled"><failure type="acceptance_gap" message="is not met">',
    )
    expect(text).toContain('<testcase classname="assay.judge" name="eve"><error type="void" message="void">no JSON</error></testcase>')
    expect(text).toContain('<testcase classname="assay.check" name="build" time="1.500"/>')
    expect(junit(passing)).toContain('failures="0" errors="0" time="2.500" skipped="2"')
    expect(junit({ ...rejected, ...endingOf('inconclusive') })).toContain('name="verdict"><error type="inconclusive"')
    expect(junit({ ...passing, ...endingOf('unreviewed', false) })).toContain('name="verdict"><skipped>UNREVIEWED 80/60\n')
  })

  it('sarif names the category, the place and itself', () => {
    const [run] = JSON.parse(sarif(rejected, '1.2.3')).runs
    expect(run.tool.driver).toMatchObject({ name: 'assay', version: '1.2.3' })
    expect(run.automationDetails.id).toBe('assay/folder/site/')
    expect(run.invocations).toEqual([{ executionSuccessful: true, exitCode: 1, toolExecutionNotifications: [] }])
    const criterion = run.results.find(({ message }: { message: { text: string } }) => message.text.startsWith('AC1'))
    expect(criterion).toMatchObject({ ruleId: 'acceptance_gap', level: 'error' })
    expect(criterion.locations).toEqual([
      { physicalLocation: { artifactLocation: { uri: 'src/form.html' }, region: { startLine: 12, endLine: 14 } } },
    ])
    for (const { ruleId, ruleIndex } of run.results) expect(run.tool.driver.rules[ruleIndex].id).toBe(ruleId)
    const prints = run.results.map(
      ({ partialFingerprints }: { partialFingerprints: Record<string, string> }) => partialFingerprints['assayFinding/v1'],
    )
    expect(new Set(prints).size).toBe(run.results.length)
    const reworded = structuredClone(rejected)
    reworded.concern = 'Otherwise worded.'
    expect(JSON.parse(sarif(reworded, '1.2.4')).runs[0].results[0].partialFingerprints['assayFinding/v1']).toBe(prints[0])
  })

  it('github annotates ten of a level, counts the rest and prints the report while commands are stopped', () => {
    const lines = github(rejected, 'token-0123456789abcdef').split('\n')
    expect(lines[0]).toBe(
      '::error file=src/form.html,line=12,endLine=14,title=FAIL 50/60::The form has no label.%0ANext (ada): Label the form.',
    )
    const stop = lines.indexOf('::stop-commands::token-0123456789abcdef')
    expect(lines.slice(0, stop).every((line) => /^::(error|warning|notice) /.test(line))).toBe(true)
    expect(lines.slice(stop + 1, -1).every((line) => line.startsWith('| '))).toBe(true)
    expect(lines.at(-1)).toBe('::token-0123456789abcdef::')
    const many = github({ ...rejected, suspicions: Array.from({ length: 30 }, (_, n) => `number ${n}`) }, 'token-0123456789abcdef')
    expect(many.split('\n').filter((line) => line.startsWith('::warning '))).toHaveLength(10)
    expect(many).toContain('\n+22 more findings\n')
    expect(() => github(rejected, 'short')).toThrow(RangeError)
  })

  it('markdown tabulates and a job summary stays within a mebibyte', () => {
    const text = markdown(rejected)
    expect(text).toContain('## Assay: FAIL · 50/60 · acceptance\\_gap')
    expect(text).toContain('| ❌ | **AC1** The form is labelled (hard) | **ada** no: no label · src/form.html:12\\-14<br>**bob** yes')
    expect(text).toContain('<details><summary>output of lint</summary>\n\n```text\none\ntwo\n```\n\n</details>')
    const huge = { ...rejected, suspicions: Array.from({ length: 2000 }, () => '<'.repeat(3000)) }
    expect(Buffer.byteLength(githubSummary(huge))).toBeLessThanOrEqual(1024 * 1024)
    expect(githubSummary(huge)).toContain('too long for a job summary')
    expect(githubSummary(rejected)).toBe(`${text}\n`)
  })

  it('names what it leaves out of a long text', () => {
    expect(minimal({ ...rejected, concern: 'x'.repeat(5000) })).toContain('[… 4400 more characters]')
    const noisy = {
      ...rejected,
      checks: [{ id: 'c', kind: 'command', outcome: 'fail' as const, summary: 's', output: `${'x'.repeat(9000)}\nlast`, findings: [] }],
    }
    for (const text of [markdown(noisy), junit(noisy), pretty(noisy, { columns: 80, colour: false })]) expect(text).toContain('last')
    expect(markdown(noisy)).toContain('characters before this')
  })
})
