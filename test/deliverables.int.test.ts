import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { cardsOf, deliverableProject } from './front-door/deliverables.ts'

const timeout = 600_000
useAssay()

describe('a deliverable', () => {
  it('is sent back, mended, released and exported: always exactly the bytes that were reviewed', { timeout }, async () => {
    const project = deliverableProject({}, { 'q3.md': 'score=40\n' })
    const review = ['review', 'q3.md', '--deliverable', 'q3']
    const first = await project.run([...review, '--producer', 'ana', '--title', 'Report', '--criteria', 'it is complete'])
    expect(first.code, first.stderr).toBe(1)
    expect(first.stdout).toContain('deliverable q3 by ana: try 1 of 3, 2 left')
    expect(first.stdout).toContain('RESULT: NEEDS_REVISION 40/60')
    const early = await project.run(['deliverable', 'send', 'q3'])
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('REFUSED (needs_revision)')])

    project.write({ 'q3.md': 'score=85\n' })
    expect((await project.run(['deliverable', 'send', 'q3'])).stderr).toContain('REFUSED (content_changed)')
    const second = await project.run([...review, '--json'])
    expect(second.code, second.stderr).toBe(0)
    expect(JSON.parse(second.stdout)).toMatchObject({ passed: true, deliverable: { id: 'q3', verdict: 'PASS', attempt: 2, allowed: 3 } })
    expect((await project.run(['why', 'q3'])).stdout).toMatch(/the gate is open for it[\s\S]*Next: assay deliverable send q3/)

    project.write({ 'q3.md': 'score=85 and something else\n' })
    expect((await project.run(['deliverable', 'send', 'q3'])).code).toBe(3)
    expect((await project.run(['inbox'])).stderr).toContain('The inbox is empty')
    project.write({ 'q3.md': 'score=85\n' })
    const sent = await project.run(['deliverable', 'send', 'q3', '--title', 'Third quarter'])
    expect([sent.code, sent.stdout]).toEqual([0, expect.stringContaining('q3 "Report" is in the inbox, PASS (85/60)')])

    project.write({ 'q3.md': 'swapped after the card was sent\n' })
    const [card] = await cardsOf(project)
    expect(card).toMatchObject({ type: 'report_ready', state: 'pending', flag: 'pass', deliverable: 'q3', title: 'Report', body: '' })
    expect(card?.note).toEqual({ by: 'ana', title: 'Third quarter', body: '', reviewed: false })
    const exported = await project.run(['inbox', 'export', card?.card ?? '', '--out', 'copy'])
    expect(exported.code, exported.stderr).toBe(0)
    expect(readFileSync(join(project.folder, 'copy', 'q3.md'), 'utf8')).toBe('score=85\n')
    expect((await project.run(['inbox', 'export', card?.card ?? '', '--out', 'copy'])).stderr).toContain('not an empty folder')

    expect((await project.run(['inbox', 'handle', 'q3'])).stderr).toContain("needs the owner's authority")
    expect((await project.asOwner(['inbox', 'handle', 'q3', '--reason', 'read'])).code).toBe(0)
    expect((await cardsOf(project))[0]).toMatchObject({ state: 'handled' })
    expect((await project.asOwner(['inbox', 'dismiss', card?.card ?? ''])).stderr).toContain('is handled already')
    expect((await project.run(['audit', 'verify'])).code).toBe(0)
  })

  it('keeps every report format, and the criteria of its first version', { timeout }, async () => {
    const project = deliverableProject({ gate: { criteria: ['nothing secret is in it'] } }, { 'a.md': 'score=40\n' })
    const formats = ['pretty', 'minimal', 'json', 'junit', 'sarif', 'github', 'markdown']
    const args = formats.flatMap((format) => ['--format', `${format}=${format}.out`])
    const ended = await project.run(['review', 'a.md', '--deliverable', 'a', '--criteria', 'it is short', ...args])
    expect(ended.code, ended.stderr).toBe(1)
    for (const format of formats.filter((one) => one !== 'sarif' && one !== 'github'))
      expect(project.read(`${format}.out`), format).toContain('NEEDS_REVISION')
    for (const format of ['json', 'sarif']) expect(() => JSON.parse(project.read(`${format}.out`)), format).not.toThrow()
    project.write({ 'a.md': 'score=90\n' })
    const again = await project.run(['review', 'a.md', '--deliverable', 'a', '--json'])
    const { criteria } = JSON.parse(again.stdout) as { criteria: { text: string }[] }
    expect(criteria.map(({ text }) => text)).toEqual(['nothing secret is in it', 'it is short'])
  })

  it('fails for good after its tries, alerts the owner, and is released on the owner’s word alone', { timeout }, async () => {
    const project = deliverableProject({ gate: { maxRetries: 1 } }, { 'a.md': 'score=30\n' })
    const review = ['review', 'a.md', '--deliverable', 'a', '--producer', 'ana']
    expect((await project.run(review)).stdout).toContain('RESULT: NEEDS_REVISION')
    project.write({ 'a.md': 'score=31\n' })
    const last = await project.run(review)
    expect([last.code, last.stdout]).toEqual([1, expect.stringContaining('RESULT: FAIL 31/60')])
    expect(await cardsOf(project)).toMatchObject([{ type: 'error_alert', state: 'pending' }])
    expect((await project.run(review)).stderr).toContain('has failed 2 times')
    expect((await project.run(['deliverable', 'send', 'a'])).stderr).toContain('REFUSED (failed)')
    expect((await project.run(['overrule', 'a', 'pass', '--reason', 'mine'])).code).toBe(2)
    const overruled = await project.asOwner(['overrule', 'a', 'pass', '--reason', 'good enough'])
    expect([overruled.code, overruled.stderr]).toEqual([0, expect.stringContaining('WARN')])
    const sent = await project.run(['deliverable', 'send', 'a'])
    expect(sent.stdout).toContain('OWNER-ACCEPTED (31/60)')
    expect((await project.run(['inbox', '--type', 'report_ready'])).stdout).toContain('OWNER-ACCEPTED (31/60)')
  })

  it('is handed over unreviewed by the owner alone, loudly, for one content', { timeout }, async () => {
    const project = deliverableProject({}, { 'a.md': 'score=20\n' })
    const review = ['review', 'a.md', '--deliverable', 'a', '--producer', 'ana']
    await project.run(review)
    const asAgent = await project.run(['bypass', 'a', '--reason', 'please'], { env: { CLAUDECODE: '1' } })
    expect([asAgent.code, asAgent.stderr]).toEqual([2, expect.stringContaining('an agent runs this command')])
    expect((await project.asOwner(['bypass', 'nothing', '--reason', 'x'])).stderr).toContain('there is no deliverable nothing')
    expect((await project.asOwner(['bypass', 'a', '--reason', ' '])).stderr).toContain('needs a reason')
    const waived = await project.asOwner(['bypass', 'a', '--reason', 'the client waits'])
    expect([waived.code, waived.stderr]).toEqual([0, expect.stringMatching(/^WARN: .* waived the review of a/m)])
    const sent = await project.run(['deliverable', 'send', 'a'])
    expect([sent.code, sent.stderr]).toEqual([0, expect.stringContaining('WARN: a is handed over UNREVIEWED')])
    expect(sent.stdout).toMatch(/UNREVIEWED \(bypass by .+\)/)
    const [card] = await cardsOf(project)
    expect(card).toMatchObject({ flag: 'bypassed' })
    expect((await project.run(['inbox', 'show', card?.card ?? ''])).stdout).toMatch(/UNREVIEWED \(bypass by[\s\S]*the client waits/)
    project.write({ 'a.md': 'score=21\n' })
    await project.run(review)
    expect((await project.run(['deliverable', 'send', 'a'])).stderr).toContain('REFUSED (needs_revision)')
    expect((await project.run(['audit', '--kind', 'bypass'])).stdout).toContain('the client waits')
    expect((await project.run(['why', 'a'])).stdout).toContain('bypass:')
  })
})

const mission = (tasks: object[]) => ({ name: 'M', tasks })
const task = (title: string, score: number, deliverable: unknown) => ({
  title,
  assignTo: 'dev',
  description: `Please make score ${score} of it`,
  deliverable,
})

describe("a mission's deliverables", () => {
  it('card themselves when accepted clean: a file, a folder, a text, a change, each exactly its part', { timeout }, async () => {
    const project = deliverableProject(
      {},
      {
        'm.yaml': mission([
          task('a file', 90, 'out/report.md'),
          task('a folder', 90, { kind: 'folder', path: 'out', id: 'the-folder' }),
          task('a text', 90, { kind: 'text' }),
          task('a change', 90, { kind: 'diff' }),
          task('a hole', 90, 'nowhere.md'),
        ]),
      },
    )
    const ran = await project.run(['run', 'm.yaml'])
    expect(ran.code, 'one of them is a hole').toBe(3)
    const cards = await cardsOf(project)
    const ready = cards.filter(({ type }) => type === 'report_ready')
    expect(ready.map(({ title }) => title).sort()).toEqual(['a change', 'a file', 'a folder', 'a text'])
    expect(cards.filter(({ type }) => type === 'error_alert')).toMatchObject([{ title: 'a hole: nothing to hand over' }])
    const expected: Record<string, string[]> = {
      'a file': ['out/report.md'],
      'a folder': ['out/inner/more.txt', 'out/report.md'],
      'a text': ['text.txt'],
      'a change': ['beside.txt', 'out/inner/more.txt', 'out/report.md'],
    }
    for (const { title, card, flag } of ready) {
      expect(flag).toBe('pass')
      const folder = `copy of ${title}`
      expect((await project.run(['inbox', 'export', card, '--out', folder])).code).toBe(0)
      const files = readdirSync(join(project.folder, folder), { recursive: true, withFileTypes: true })
      const paths = files
        .filter((one) => one.isFile())
        .map((one) => join(one.parentPath, one.name).slice(join(project.folder, folder).length + 1))
      expect(paths.sort(), title).toEqual(expected[title])
    }
    expect((await project.run(['why', 'the-folder'])).stdout).toContain('its card is in the inbox, pending: PASS (90/60)')
    expect((await cardsOf(project, '--mission', 'm-1', '--search', 'FOLDER')).map(({ deliverable }) => deliverable)).toEqual(['the-folder'])
  })

  it('below the bar, and unreviewed, are questions that say so and hand nothing over', { timeout }, async () => {
    const project = deliverableProject(
      { review: { panel: { size: 1, quorum: 1 }, maxAttempts: 1 } },
      { 'm.yaml': mission([task('low', 40, 'out/report.md')]) },
    )
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    const low = (await cardsOf(project)).filter(({ flag }) => flag === 'below-threshold')
    expect(low.map(({ type }) => type)).toContain('operator_request')
    expect((await cardsOf(project)).filter(({ type }) => type === 'report_ready')).toEqual([])
    expect((await project.run(['inbox'])).stdout).toContain('ACCEPTED BELOW QUALITY BAR (40/60)')
    expect((await project.run(['deliverable', 'send', 'm-1/low'])).stderr).toContain('REFUSED (not_clean)')
    expect((await project.run(['run', 'm.yaml', '--fresh', '--no-eval'])).code).toBe(0)
    const unreviewed = await cardsOf(project, '--mission', 'm-2')
    expect(unreviewed.filter(({ flag }) => flag === 'unreviewed').map(({ type }) => type)).toContain('operator_request')
    expect(unreviewed.filter(({ type }) => type === 'report_ready')).toEqual([])

    expect((await project.asOwner(['overrule', 'm-1/low', 'pass', '--reason', 'fine'])).code).toBe(0)
    await project.run(['resume', 'm-1'])
    expect((await cardsOf(project, '--type', 'report_ready')).map(({ flag, deliverable }) => [flag, deliverable])).toEqual([
      ['owner-accepted', 'm-1/low'],
    ])
  })
})
