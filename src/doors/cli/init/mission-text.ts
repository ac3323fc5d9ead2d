import { word } from './config-text.ts'
import type { Survey, TemplateName } from './survey.ts'

/** A first mission that can be run as it stands, and shows where one's own goes. */
export function missionText(template: TemplateName, survey: Survey): string {
  return `# One task with criteria and checks, to begin with. Run it: assay run mission.yaml\n${missions[template](survey)}`
}

const missions: Record<TemplateName, (survey: Survey) => string> = { code, api, 'landing-page': landingPage, document }

function code(survey: Survey): string {
  return task(survey, {
    mission: 'First mission',
    title: 'Write a missing test',
    description: 'Find one function of this project that no test covers, and write a test for it.',
    criteria: ['the test fails when the function is broken', 'nothing but tests was changed'],
    checks: testChecks(survey),
  })
}

function api(survey: Survey): string {
  const { apiDescription = 'openapi.yaml' } = survey
  return task(survey, {
    mission: 'First mission',
    title: 'Describe what the API answers',
    description: `Compare ${apiDescription} with the code, and write down in it what is missing: paths, parameters, answers, errors.`,
    criteria: ['every route of the code is described', 'every route says how its errors look'],
    checks: [
      `{ kind: file, path: ${word(apiDescription)}, minBytes: 100 }`,
      ...testChecks(survey),
      '# A running server can be asked as well:',
      '# { kind: http, url: "http://127.0.0.1:3000/health", allowPrivate: true, status: 200 }',
    ],
  })
}

function landingPage(survey: Survey): string {
  const path = survey.pages[0] ?? 'index.html'
  const here = survey.pages.length > 0
  const checks = survey.chrome
    ? ['# One line stands for four checks: it answers, has no placeholders, is sound HTML, and works on a phone.', page(path)]
    : [
        `{ kind: html, path: ${word(path)} }`,
        `{ kind: placeholders, paths: [${word(path)}] }`,
        '# With a Chromium installed, this line looks at the page as a phone shows it:',
        `# ${page(path)}`,
      ]
  return task(survey, {
    mission: 'First mission',
    title: here ? 'Make the page better' : 'Build the page',
    description: here
      ? `Improve ${path}: what visitors read first, and how it looks on a phone.`
      : `Write ${path}, the page that visitors see first. It works on a phone.`,
    criteria: ['visitors learn in one sentence what is offered', 'there is one clear thing to do next'],
    checks,
  })
}

/** Which text must be on the page is the user's to say; a title every page has. */
const page = (path: string): string => `{ kind: landing-page, path: ${word(path)}, keyword: "<title>" }`

function document(survey: Survey): string {
  const path = survey.documents[0] ?? 'plan.md'
  const here = survey.documents.length > 0
  return task(survey, {
    mission: 'First mission',
    title: here ? 'Finish the document' : 'Write the plan',
    description: here
      ? `Read ${path} as its reader would, and mend what is unclear, unproven or missing.`
      : `Write ${path}: what is to be done, in which order, by whom, and how to tell that it is done.`,
    criteria: ['every claim says where it comes from', 'every step says who does it'],
    checks: [`{ kind: file, path: ${word(path)}, minBytes: 200 }`, `{ kind: placeholders, paths: [${word(path)}] }`],
  })
}

interface Sample {
  mission: string
  title: string
  description: string
  criteria: string[]
  checks: string[]
}

function task(survey: Survey, { mission, title, description, criteria, checks }: Sample): string {
  return [
    `name: ${mission}`,
    'tasks:',
    `  - title: ${title}`,
    '    assignTo: dev',
    ...workspace(survey),
    `    description: ${JSON.stringify(description)}`,
    '    acceptanceCriteria:',
    ...criteria.map((text) => `      - ${text}`),
    '    checks:',
    ...checks.map((check) => (check.startsWith('#') ? `      ${check.replace(/^# \{/, '# - {')}` : `      - ${check}`)),
    '',
  ].join('\n')
}

/** A branch of its own where that can work; packages that are installed in the folder are not in a worktree. */
function workspace({ git, build }: Survey): string[] {
  if (git === 'ready' && build?.installs !== true)
    return ['    # A git worktree and a branch of its own; accepted work is merged into assay/<mission>/result.', '    workspace: worktree']
  return ['    # The project itself; one task at a time. `worktree` gives each task a branch of its own.', '    workspace: { folder: . }']
}

function testChecks({ build }: Survey): string[] {
  const changed = '{ kind: diff, nonEmpty: true }'
  if (build?.test === undefined) return [changed, '# Your tests:', '# { kind: command, id: tests, argv: [make, test] }']
  return [changed, `{ kind: command, id: tests, argv: [${build.test.map(word).join(', ')}], timeout: 10m }`]
}
