import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { referencePages } from '../scripts/reference/pages.ts'
import { rooms } from '../scripts/rooms.ts'

const repository = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: repository })

describe('the documents', () => {
  it('link to files that are there', () => {
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map((match) => ({ page, target: match[1] ?? '' })),
    )
    expect(links.length).toBeGreaterThan(3)
    expect(links.filter(({ page, target }) => !existsSync(join(repository, dirname(page), target)))).toEqual([])
  })

  it('name npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = pages.flatMap((page) => [...read(page).matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] ?? ''))
    expect(named.length).toBeGreaterThan(5)
    expect([...new Set(named)].filter((name) => !(name in scripts))).toEqual([])
  })

  it('give the command that continuous integration runs', () => {
    const command = read('.ci/run').trimEnd().split('\n').at(-1) ?? ''
    expect(command).toContain('npm test')
    expect(read('README.md')).toContain(`\`\`\`sh\n${command}\n\`\`\``)
  })

  it('have a reference that is what the schemas print (npm run docs)', () => {
    const printed = Object.entries(referencePages())
    expect(printed.length).toBeGreaterThan(3)
    for (const [name, text] of printed) expect(read(`docs/reference/${name}`), name).toBe(text)
    expect(read('docs/reference/mcp.md')).toMatch(/### submit_case\n\n.+\n\n\| field/)
    expect(read('docs/reference/http.md')).toContain('### POST /v1/deliverables/{deliverable}/bypass')
    expect(read('docs/reference/events.md')).toContain('| `decision.score` |')
  })

  it('say which Node the published package needs, as its manifest and its launcher do', () => {
    const engines = /^const engines = '(.+)'$/m.exec(read('scripts/build.ts'))?.[1] ?? ''
    const said = engines.replace(' || ', ' or ')
    expect(said).toContain(' or >=')
    for (const page of ['README.md', 'docs/start/library.md', 'bin/assay.mjs', 'src/main/library/needs-node.ts'])
      expect(read(page), page).toContain(said)
  })

  it('list every room of the import table', () => {
    const page = read('AGENTS.md')
    for (const { name, each } of rooms) expect(page).toContain(`| \`${name}${each ? '/x/' : name.endsWith('.ts') ? '' : '/'}\` |`)
  })

  it('have a date, a context, a decision and consequences on every page of decisions', () => {
    const decisions = pages.filter((page) => page.startsWith('docs/decisions/'))
    expect(decisions.length).toBeGreaterThan(9)
    for (const page of decisions) {
      const [, date] = /decisions\/(\d{4}-\d{2}-\d{2})-[a-z-]+\.md$/.exec(page) ?? []
      expect(read(page)).toMatch(new RegExp(`^# .+\\n\\n${date}\\n\\n## Context\\n\\n[^]+\\n## Decision\\n\\n[^]+\\n## Consequences\\n\\n`))
    }
  })
})
