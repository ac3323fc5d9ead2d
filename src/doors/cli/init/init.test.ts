import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPlan, readProject } from '../../../engine/project.ts'
import { blockState, withBlock, withoutBlock } from './agents-block.ts'
import { chooseJudge, chooseTemplate, chooseWorker, keyVariables } from './choice.ts'
import { configText, word } from './config-text.ts'
import { missionText } from './mission-text.ts'
import { readSeal, sealed } from './sealed.ts'
import { agentNames, type Survey, templateNames } from './survey.ts'

const nothing: Survey = { agents: [], keys: [], git: 'none', pages: [], documents: [], chrome: false }

const surveys: fc.Arbitrary<Survey> = fc.record(
  {
    agents: fc.subarray([...agentNames]),
    keys: fc.subarray(keyVariables),
    git: fc.constantFrom('none', 'empty', 'ready'),
    pages: fc.subarray(['index.html', 'public/index.html']),
    documents: fc.subarray(['plan.md', 'a b - c.md', '日本.txt', '1.md']),
    chrome: fc.boolean(),
    apiDescription: fc.constantFrom('openapi.yaml', 'swagger.json'),
    build: fc.constantFrom(
      { tool: 'npm', file: 'package.json', installs: true, test: ['npm', 'test'] },
      { tool: 'go', file: 'go.mod', installs: false, test: ['go', 'test', './...'] },
      { tool: 'make', file: 'Makefile', installs: false },
    ),
  },
  { requiredKeys: ['agents', 'keys', 'git', 'pages', 'documents', 'chrome'] },
)

describe('what init writes', () => {
  it('loads, whatever was found', () => {
    fc.assert(
      fc.property(
        surveys,
        fc.constantFrom(...templateNames),
        fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
        (survey, template, model) => {
          const worker = chooseWorker(survey, model)?.what
          const judge = chooseJudge(survey, worker, model)?.what
          const text = sealed(template, configText(worker, judge))
          const project = readProject({ text, file: 'assay.yaml', env: {}, flags: {} })
          if (!project.ok) throw new Error(JSON.stringify(project.error))
          const plan = readPlan({ text: sealed(template, missionText(template, survey)), file: 'mission.yaml' }, project.value)
          if (!plan.ok) throw new Error(JSON.stringify(plan.error))
          expect(plan.value.plan.tasks).toHaveLength(1)
          expect(plan.value.plan.tasks[0]?.checks.length).toBeGreaterThan(0)
          const { brains, agents } = project.value.config
          expect('critic' in brains).toBe(judge !== undefined)
          expect(Object.keys(agents)).toEqual(judge ? ['dev', 'ada', 'bob', 'cyn'] : ['dev'])
        },
      ),
    )
  })

  it('gives words to YAML as they are', () => {
    for (const text of ['true', 'a: b', '# no', '{', '', ' x ', 'null', '0x10', '-', '@a/b', 'plain']) {
      const project = readProject({
        text: `brains: { b: { kind: scripted, file: ${word(text === '' ? '""' : text)} } }`,
        file: 'a',
        env: {},
        flags: {},
      })
      expect(project.ok && project.value.config.brains.b, text).toMatchObject({ file: text === '' ? '""' : text })
    }
  })
})

describe('who works and who judges', () => {
  it('takes a judge of another maker than the worker where there is one', () => {
    const survey: Survey = { ...nothing, agents: ['claude'], keys: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'] }
    const worker = chooseWorker(survey, undefined)?.what
    expect(worker).toEqual({ kind: 'agent', agent: 'claude' })
    expect(chooseJudge(survey, worker, 'm')?.what).toEqual({ kind: 'model', provider: 'openai', model: 'm', apiKeyEnv: 'OPENAI_API_KEY' })
  })

  it('says so where the judge is of the same maker, or the same agent', () => {
    expect(chooseJudge({ ...nothing, keys: ['ANTHROPIC_API_KEY'] }, { kind: 'agent', agent: 'claude' }, undefined)?.why).toContain(
      'same maker',
    )
    expect(chooseJudge({ ...nothing, agents: ['codex'] }, { kind: 'agent', agent: 'codex' }, undefined)?.why).toContain('no other')
    expect(chooseJudge({ ...nothing, agents: ['codex', 'gemini'] }, { kind: 'agent', agent: 'codex' }, undefined)?.what).toEqual({
      kind: 'agent',
      agent: 'gemini',
    })
  })

  it('finds nobody where nobody is', () => {
    expect(chooseWorker(nothing, undefined)).toBeUndefined()
    expect(chooseJudge(nothing, undefined, undefined)).toBeUndefined()
    expect(configText(undefined, undefined)).toContain('# critic:')
  })
})

describe('the template', () => {
  it('fits what is there', () => {
    const build = { tool: 'npm', file: 'package.json', installs: false }
    expect(chooseTemplate(nothing).what).toBe('code')
    expect(chooseTemplate({ ...nothing, build }).what).toBe('code')
    expect(chooseTemplate({ ...nothing, build: { ...build, serves: 'hono' } }).what).toBe('api')
    expect(chooseTemplate({ ...nothing, build, apiDescription: 'openapi.yaml' }).what).toBe('api')
    expect(chooseTemplate({ ...nothing, pages: ['index.html'], documents: ['a.md'] }).what).toBe('landing-page')
    expect(chooseTemplate({ ...nothing, documents: ['a.md'] }).what).toBe('document')
  })
})

describe('what is taken out again', () => {
  it('leaves every byte of AGENTS.md as it was', () => {
    const texts = fc.oneof(fc.string(), fc.constantFrom('', '\n', '# A\r\n', 'no line break', 'x\n\n\n'))
    fc.assert(
      fc.property(texts, (text) => {
        const added = withBlock(text)
        expect(added.startsWith(text)).toBe(true)
        expect(blockState(added)).toBe('unchanged')
        expect(withoutBlock(added)).toBe(text)
      }),
    )
    expect(withoutBlock(withBlock(undefined))).toBeUndefined()
  })

  it('leaves what was written after the block', () => {
    expect(withoutBlock(`${withBlock('# A\n')}\nMore.\n`)).toBe('# A\n\nMore.\n')
    expect(withoutBlock(`${withBlock(undefined)}\nMore.\n`)).toBe('\nMore.\n')
  })

  it('knows a block or a file that somebody changed', () => {
    expect(blockState(withBlock('').replace('somebody else', 'nobody'))).toBe('changed')
    expect(blockState('<!-- assay:start -->\nhalf of it')).toBe('changed')
    expect(blockState('nothing')).toBe('absent')
    expect(readSeal(sealed('code', 'a: 1\n'))).toEqual({ template: 'code', unchanged: true })
    expect(readSeal(`${sealed('code', 'a: 1\n')}b: 2\n`)).toEqual({ template: 'code', unchanged: false })
    expect(readSeal('a: 1\n')).toBeUndefined()
  })
})
