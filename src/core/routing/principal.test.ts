import { describe, expect, it } from 'vitest'
import type { Agent, Brain, Organisation } from '../../contract/agent.ts'
import { Digest } from '../../contract/canonical.ts'
import { plainPath, principalOf } from './principal.ts'

const model: Brain = { kind: 'model', provider: 'openai-compatible', model: 'any', baseURL: 'http://127.0.0.1:4010/v1' }
const command: Brain = { kind: 'command', argv: ['./w.sh', '-x'] }

/** Two agents, `a` and `b`, each with a brain of its own name. */
function pair(one: { agent?: Partial<Agent>; brain: Brain }, other: { agent?: Partial<Agent>; brain: Brain }): Organisation {
  return {
    agents: { a: { role: 'engineer', brain: 'x', ...one.agent }, b: { role: 'engineer', brain: 'y', ...other.agent } },
    brains: { x: one.brain, y: other.brain },
  }
}

function areOne(organisation: Organisation): boolean {
  return principalOf('a', organisation) === principalOf('b', organisation)
}

describe('a plain path', () => {
  it.each([
    ['a', 'a'],
    ['./a', 'a'],
    ['a//b/./c/', 'a/b/c'],
    ['a/../b', 'b'],
    ['a/b/../../c', 'c'],
    ['../a', '../a'],
    ['../../a', '../../a'],
    ['a/../../b', '../b'],
    ['..', '..'],
    ['.', ''],
    ['/', '/'],
    ['/a/../b', '/b'],
    ['//a', '/a'],
  ])('of %s is %s', (path, plain) => {
    expect(plainPath(path)).toBe(plain)
  })
})

describe('a principal', () => {
  it('is a digest', () => {
    expect(Digest.safeParse(principalOf('a', pair({ brain: model }, { brain: command }))).success).toBe(true)
    expect(Digest.safeParse(principalOf('nobody', pair({ brain: model }, { brain: command }))).success).toBe(true)
  })

  it.each<[string, Brain, Brain]>([
    ['the same definition under another name', model, { ...model }],
    ['another key', model, { ...model, apiKeyEnv: 'OTHER_KEY' }],
    ['another case of the model', model, { ...model, model: 'ANY ' }],
    ['a slash at the end of the address', model, { ...model, baseURL: ' http://127.0.0.1:4010/v1//' }],
    ['another case of the host', { ...model, baseURL: 'http://LocalHost/v1' }, { ...model, baseURL: 'HTTP://localhost:80/v1' }],
    ['white space around what is no address', { ...model, baseURL: 'x' }, { ...model, baseURL: ' x ' }],
    ['another time limit', command, { ...command, timeout: '5m' }],
    ['another spelling of the program', command, { kind: 'command', argv: ['././/w.sh', '-x'] }],
    ['a detour to the program', command, { kind: 'command', argv: ['./a/../w.sh', '-x'] }],
    ['another spelling of an absolute program', { kind: 'command', argv: ['/bin/w'] }, { kind: 'command', argv: ['//bin/./w'] }],
    ['the folder it starts in anyway', command, { ...command, cwd: './' }],
    ['no variables', command, { ...command, env: [] }],
    ['the same variables in another order', { ...command, env: ['A', 'B'] }, { ...command, env: ['B', 'A', 'B'] }],
    ['another time limit of an agent', { kind: 'agent', agent: 'claude' }, { kind: 'agent', agent: 'claude', timeout: '1h' }],
    ['another spelling of a script', { kind: 'scripted', file: 'brain.yaml' }, { kind: 'scripted', file: './brain.yaml' }],
  ])('stays one with %s', (_, one, other) => {
    expect(areOne(pair({ brain: one }, { brain: other }))).toBe(true)
  })

  it.each<[string, Brain, Brain]>([
    ['another model', model, { ...model, model: 'other' }],
    ['another address', model, { ...model, baseURL: 'http://127.0.0.1:4011/v1' }],
    ['another path', model, { ...model, baseURL: 'http://127.0.0.1:4010/v2' }],
    ['another query', model, { ...model, baseURL: 'http://127.0.0.1:4010/v1?tenant=2' }],
    ['no address', model, { kind: 'model', provider: 'openai-compatible', model: 'any' }],
    ['an address without a scheme', { ...model, baseURL: 'a:1/v1' }, { ...model, baseURL: 'b:1/v1' }],
    ['what is no address', { ...model, baseURL: 'x' }, { ...model, baseURL: 'y' }],
    ['another provider', { kind: 'model', provider: 'openai', model: 'm' }, { kind: 'model', provider: 'google', model: 'm' }],
    ['other arguments', command, { kind: 'command', argv: ['./w.sh', '-y'] }],
    ['a program found in PATH', { kind: 'command', argv: ['./w'] }, { kind: 'command', argv: ['w'] }],
    ['an absolute program', { kind: 'command', argv: ['./w'] }, { kind: 'command', argv: ['/w'] }],
    ['a program further up', { kind: 'command', argv: ['./w'] }, { kind: 'command', argv: ['../w'] }],
    ['a program two folders up', { kind: 'command', argv: ['../w'] }, { kind: 'command', argv: ['../../w'] }],
    ['another folder', command, { ...command, cwd: 'sub' }],
    ['other variables', command, { ...command, env: ['A'] }],
    ['another known agent', { kind: 'agent', agent: 'claude' }, { kind: 'agent', agent: 'codex' }],
    ['a model of its own', { kind: 'agent', agent: 'claude' }, { kind: 'agent', agent: 'claude', model: 'big' }],
    ['another script', { kind: 'scripted', file: 'a.yaml' }, { kind: 'scripted', file: 'b.yaml' }],
    ['another kind', { kind: 'command', argv: ['a.yaml'] }, { kind: 'scripted', file: 'a.yaml' }],
  ])('becomes two with %s', (_, one, other) => {
    expect(areOne(pair({ brain: one }, { brain: other }))).toBe(false)
  })

  it.each<[string, Partial<Agent>, Partial<Agent>, boolean]>([
    ['another case of the role', { role: 'Engineer' }, { role: 'ENGINEER' }, true],
    ['white space in the role', { role: ' lead  engineer ' }, { role: 'lead\tengineer' }, true],
    ['compatibility letters in the role', { role: 'qa' }, { role: 'ｑａ' }, true],
    ['invisible characters in the role', { role: 'qa' }, { role: 'q\u200Ba\u2060' }, true],
    ['another role', { role: 'engineer' }, { role: 'reviewer' }, false],
    ['no instructions and empty ones', {}, { instructions: ' \n' }, true],
    ['white space in instructions', { instructions: 'Look  twice.\n' }, { instructions: ' Look twice.' }, true],
    ['invisible characters in instructions', { instructions: 'Look' }, { instructions: 'Lo\u00ADok\u{E0041}' }, true],
    ['another case of instructions', { instructions: 'Look' }, { instructions: 'look' }, false],
    ['other instructions', { instructions: 'Look.' }, { instructions: 'Look twice.' }, false],
    ['instructions against none', { instructions: 'Look.' }, {}, false],
    ['another manager', { reportsTo: 'b' }, {}, true],
    ['skills', { skills: ['x'] }, {}, true],
    ['leave to judge', { judges: true }, {}, true],
  ])('%s', (_, one, other, same) => {
    expect(areOne(pair({ brain: model, agent: one }, { brain: model, agent: other }))).toBe(same)
  })

  it('does not depend on the name, nor on how the name is written', () => {
    const organisation = pair({ brain: model }, { brain: command })
    for (const name of ['A', ' a ', 'а', 'a\u200B', 'ａ']) expect(principalOf(name, organisation)).toBe(principalOf('a', organisation))
    expect(principalOf('b', organisation)).not.toBe(principalOf('a', organisation))
  })

  it('outside the organisation is known by name alone', () => {
    const organisation = pair({ brain: model }, { brain: command })
    expect(principalOf('Guest', organisation)).toBe(principalOf(' guest', organisation))
    expect(principalOf('guest', organisation)).not.toBe(principalOf('visitor', organisation))
    for (const name of ['toString', '__proto__', 'constructor'])
      expect(principalOf(name, organisation)).not.toBe(principalOf('guest', organisation))
  })

  it('of an undefined brain is known by the name of that brain', () => {
    const organisation: Organisation = {
      agents: {
        a: { role: 'x', brain: 'gone' },
        b: { role: 'x', brain: 'gone' },
        c: { role: 'x', brain: 'lost' },
        d: { role: 'x', brain: 'toString' },
      },
      brains: {},
    }
    expect(areOne(organisation)).toBe(true)
    expect(new Set(['a', 'c', 'd'].map((name) => principalOf(name, organisation))).size).toBe(3)
  })
})
