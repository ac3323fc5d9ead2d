import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { formatProblem } from '../../../contract/source/problem.ts'
import { openScriptedBrain } from './brain.ts'

const guide = readFileSync(new URL('../../../../docs/guides/scripted-brain.md', import.meta.url), 'utf8')
const scripts = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)]
  .map(([, text = '']) => text)
  .filter((text) => /^(workers|judges):/m.test(text))

it('the guide has examples', () => {
  expect(scripts.length).toBeGreaterThanOrEqual(3)
})

it.each(scripts)('an example of the guide is a script: %j', (text) => {
  const brain = openScriptedBrain({ file: 'brain.yaml', text })
  expect(brain.ok ? [] : brain.error.map(formatProblem)).toEqual([])
})
