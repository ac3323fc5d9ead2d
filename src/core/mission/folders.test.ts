import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../contract/config/read/parse.ts'
import { formatProblem } from '../../contract/source/problem.ts'
import { loadMission } from './load.ts'

const parsed = parseConfig({
  text: 'brains: { s: { kind: scripted, file: b.yaml } }\nagents: { dev: { role: engineer, brain: s } }\n',
  file: 'assay.yaml',
})
if (!parsed.ok) throw new Error('the configuration of the test is wrong')
const { config } = parsed.value

/** What is wrong with tasks that work in these places; the first stands on line 3. */
function problems(...workspaces: string[]): string[] {
  const tasks = workspaces.map((workspace, n) => `  - { assignTo: dev, title: t${n}, workspace: ${workspace} }`)
  const result = loadMission({ text: `name: M\ntasks:\n${tasks.join('\n')}\n`, file: 'm.yaml', config })
  return result.ok ? [] : result.error.map(formatProblem)
}

describe('shared folders', () => {
  it.each([
    [['{ folder: app }', '{ folder: app/site }'], 4],
    [['{ folder: app/site }', '{ folder: app }'], 3],
    [['"folder: app"', '{ folder: app/a/b/c }'], 4],
    [['{ folder: app }', '"folder:app/x"'], 4],
    [['{ folder: . }', '"folder: app"'], 4],
    [['{ folder: ./app/ }', '{ folder: lib/../app//site }'], 4],
    [['{ folder: .. }', '{ folder: ../app }'], 4],
    [['{ folder: ../../app }', '{ folder: ../../app/x }'], 4],
  ])('inside each other are refused: %j', (workspaces, line) => {
    const [found, ...others] = problems(...workspaces)
    expect(found).toMatch(new RegExp(`^m\\.yaml:${line}:44: .*lies in.*share the same folder`))
    expect(others).toEqual([])
  })

  it.each([
    [['{ folder: app }', '{ folder: ./app }', '{ folder: app/ }']],
    [['{ folder: app }', '{ folder: application }']],
    [['{ folder: a/b }', '{ folder: a/c }', '{ folder: b/a }']],
    [['{ folder: ../app }', '{ folder: app }']],
    [['{ folder: ../app }', '{ folder: app/x }']],
    [['{ folder: ../../app }', '{ folder: app/x }']],
    [['{ folder: app/.. }', '{ folder: . }', 'scratch', 'worktree']],
    [['{ folder: ../../app }', '{ folder: ../app }']],
  ])('that are the same, or beside each other, are not: %j', (workspaces) => {
    expect(problems(...workspaces)).toEqual([])
  })

  it('are each told of, with the two as they were written', () => {
    const found = problems('{ folder: app }', '{ folder: app/x }', '{ folder: app/x/y }')
    expect(found).toHaveLength(2)
    expect(found[0]).toContain('"app/x" lies in "app"')
  })
})
