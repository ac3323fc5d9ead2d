import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { chromeForTests } from '../src/adapters/checks/browser/testing/chrome.ts'
import { useAssay } from './front-door/assay.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 300_000
const chrome = chromeForTests()
const example = join(import.meta.dirname, '..', 'examples', 'landing-page')
const files = Object.fromEntries(
  ['assay.yaml', 'mission.yaml', 'brain.yaml'].map((name) => [name, readFileSync(join(example, name), 'utf8')]),
)
useAssay()

const bundled = ['landing-page-http', 'landing-page-placeholders', 'landing-page-html', 'landing-page-mobile']

interface Report {
  id: string
  outcome: string
  output: string
  summary: string
  evidence?: { mediaType: string; bytes: number }[]
}

/** Runs the example as it stands, or with its page changed. Work that no judge has scored is not accepted: it waits for a person, exit code 3. */
async function run(
  change: (brain: string) => string = (brain) => brain,
): Promise<{ code: number | null; reports: Report[]; project: Project }> {
  const brain = change(files['brain.yaml'] ?? '')
  const project = makeProject({ ...files, 'brain.yaml': brain })
  const { code, stderr } = await project.run(['run', 'mission.yaml', '--max-attempts', '1'], { env: { ASSAY_CHROME: chrome ?? '' } })
  return { code, reports: await reportsOf(project, stderr), project }
}

async function reportsOf(project: Project, stderr: string): Promise<Report[]> {
  const checked = (await project.events()).find(({ type }) => type === 'checks.passed' || type === 'checks.failed')
  expect(checked, stderr).toBeDefined()
  return (checked?.data as { reports?: Report[] } | undefined)?.reports ?? []
}

/** Replaces what must be there: a variant that changes nothing would prove nothing. */
function replaced(from: string | RegExp, to: string): (brain: string) => string {
  return (brain) => {
    const changed = brain.replace(from, to)
    expect(changed).not.toBe(brain)
    return changed
  }
}

describe.skipIf(chrome === undefined)('the landing-page example', { timeout }, () => {
  it('is accepted as it stands, with a picture of the page', async () => {
    const { code, reports, project } = await run()
    expect(reports.map(({ id, outcome }) => [id, outcome])).toEqual(bundled.map((id) => [id, 'pass']))
    expect(reports.at(-1)?.evidence).toEqual([expect.objectContaining({ mediaType: 'image/png', bytes: expect.any(Number) })])
    expect(code).toBe(0)
    expect((await project.json(['task', 'list'])).lines).toMatchObject([{ status: 'done', flag: 'clean' }])
  })

  it.each<[string, string, RegExp, (brain: string) => string]>([
    ['a keyword that is missing', 'landing-page-http', /does not contain "Fresh bread"/, replaced('Fresh bread', 'Warm bread')],
    ['placeholder text', 'landing-page-placeholders', /Lorem ipsum/i, replaced('Rye, spelt and sourdough', 'Lorem ipsum dolor')],
    ['two h1', 'landing-page-html', /h1/, replaced('<h2 id="hours">Hours</h2>', '<h1 id="hours">Hours</h1>')],
    ['no main', 'landing-page-html', /main/, replaced(/<(\/?)main>/g, '<$1div>')],
    ['an image without alternative text', 'landing-page-html', /alt/, replaced(' alt="Corner Bakery"', '')],
    [
      'sideways scroll',
      'landing-page-mobile',
      /scroll: .*td "Prices"/,
      replaced('<h2 id="order">', '<table style="width: 60rem"><tr><td>Prices</td></tr></table><h2 id="order">'),
    ],
    [
      'small tap targets',
      'landing-page-mobile',
      /tap: a "Hours"/,
      replaced('nav a {', 'nav a { padding: 0; display: block; line-height: 1;'),
    ],
    ['no viewport declaration', 'landing-page-mobile', /viewport: the page has no/, replaced(/<meta name="viewport".*>/, '')],
    ['text too faint to read', 'landing-page-mobile', /axe: color-contrast \(serious\)/, replaced('color: #222', 'color: #ccc')],
    ['a field without a label', 'landing-page-mobile', /axe: label \(critical\)/, replaced(/<label.*<\/label>/, '')],
  ])('is refused for %s', async (what, check, words, change) => {
    const { code, reports, project } = await run(change)
    expect(reports.find(({ id }) => id === check)).toMatchObject({ outcome: 'fail', output: expect.stringMatching(words) })
    // An image without a text is a fault to axe as well; every other one is found by one check alone.
    const others = reports.filter(({ id, outcome }) => id !== check && outcome !== 'pass').map(({ id }) => id)
    expect(others).toEqual(what === 'an image without alternative text' ? ['landing-page-mobile'] : [])
    expect(code).toBe(3)
    expect((await project.events()).filter(({ type }) => type === 'verdict.recorded')).toEqual([])
  })

  it('is refused where the page is missing', async () => {
    const { code, reports } = await run(replaced('index.html: |', 'home.html: |'))
    expect(reports.find(({ id }) => id === 'landing-page-http')).toMatchObject({ outcome: 'fail', output: expect.stringMatching(/404/) })
    expect(code).toBe(3)
  })

  it('is refused where there is no browser', async () => {
    const project = makeProject(files)
    const { code, stderr } = await project.run(['run', 'mission.yaml', '--max-attempts', '1'], {
      env: { ASSAY_CHROME: '/no/such/browser' },
    })
    const reports = await reportsOf(project, stderr)
    expect(reports.find(({ id }) => id === 'landing-page-mobile')).toMatchObject({
      outcome: 'error',
      summary: expect.stringContaining('ASSAY_CHROME'),
    })
    expect(code).toBe(3)
  })
})
