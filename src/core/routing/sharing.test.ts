import { describe, expect, it } from 'vitest'
import type { Brain } from '../../contract/agent.ts'
import { sharingOf } from './sharing.ts'

const anthropic: Brain = { kind: 'model', provider: 'anthropic', model: 'claude-x' }
const openai: Brain = { kind: 'model', provider: 'openai', model: 'gpt-x' }
const google: Brain = { kind: 'model', provider: 'google', model: 'gem-x' }
const compatible = (model: string, baseURL?: string): Brain => ({
  kind: 'model',
  provider: 'openai-compatible',
  model,
  ...(baseURL === undefined ? {} : { baseURL }),
})
const agent = (name: 'claude' | 'codex' | 'gemini' | 'opencode', model?: string): Brain => ({
  kind: 'agent',
  agent: name,
  ...(model === undefined ? {} : { model }),
})
const command = (...argv: string[]): Brain => ({ kind: 'command', argv })
const script = (file: string): Brain => ({ kind: 'scripted', file })

const here = 'http://127.0.0.1:4010/v1'

describe('what two brains share', () => {
  it.each<[string, Brain, Brain, string]>([
    ['the same model', anthropic, { ...anthropic, apiKeyEnv: 'K' }, 'the model claude-x'],
    ['the same model in another case', anthropic, { ...anthropic, model: 'Claude-X' }, 'the model Claude-X'],
    ['the same model at another address', { ...openai, baseURL: 'https://proxy' }, openai, 'the model gpt-x'],
    ['the same model at two compatible addresses', compatible('any', here), compatible('any', 'http://other/v1'), 'the model any'],
    ['a model and the same behind a compatible API', anthropic, compatible('claude-x', here), 'the model claude-x'],
    ['a compatible model and the same by name', compatible('gpt-x', here), openai, 'the model gpt-x'],
    ['a known agent and itself', agent('claude'), agent('claude'), 'the model of claude'],
    ['a known agent with its model', agent('claude', 'claude-x'), agent('claude', 'claude-x'), 'the model claude-x'],
    ['a known agent and the model it runs', agent('claude', 'claude-x'), anthropic, 'the model claude-x'],
    ['a model and the agent that runs it', openai, agent('codex', 'gpt-x'), 'the model gpt-x'],
    ['the same model with its provider in front', compatible('anthropic/claude-x', here), anthropic, 'the model claude-x'],
    ['the same model, twice removed', compatible('openrouter/anthropic/claude-x', here), compatible('claude-x'), 'the model claude-x'],
    ['an edition of the same model', anthropic, { ...anthropic, model: 'claude-x-20260514' }, 'the model claude-x-20260514'],
    ['another edition of it', { ...openai, model: 'gpt-x-2026-05-14' }, { ...openai, model: 'gpt-x-latest' }, 'the model gpt-x-latest'],
    ['an edition of it elsewhere', { ...anthropic, model: 'claude-x@20260514' }, anthropic, 'the model claude-x'],
    ['an agent that runs it under its provider', agent('opencode', 'anthropic/claude-x'), anthropic, 'the model claude-x'],
    ['the same command', command('./w.sh', 'a'), command('.//w.sh', 'a'), 'the command .//w.sh'],
    ['the same script', script('a.yaml'), script('./a.yaml'), 'the script ./a.yaml'],
  ])('is the model: %s', (_, worker, judge, what) => {
    expect(sharingOf(worker, judge)).toEqual({ shares: 'model', what })
  })

  it.each<[string, Brain, Brain, string]>([
    [
      'two models of one provider at two addresses',
      { ...openai, baseURL: 'https://proxy' },
      { ...openai, model: 'y' },
      'the provider openai',
    ],
    ['two models of one provider', anthropic, { ...anthropic, model: 'y' }, 'the provider anthropic'],
    [
      'two models at one address',
      compatible('a', here),
      compatible('b', 'http://127.0.0.1:4010/other'),
      'the provider openai-compatible at 127.0.0.1:4010',
    ],
    [
      'two ways to speak to one address',
      { ...openai, baseURL: here },
      { ...anthropic, baseURL: 'http://LOCALHOST:4010/' },
      'the provider anthropic at 127.0.0.1:4010',
    ],
    [
      'a provider and a compatible API at its address',
      { ...google, baseURL: here },
      compatible('y', here),
      'the provider openai-compatible at 127.0.0.1:4010',
    ],
    ['a provider spoken to as another one', { ...openai, baseURL: 'https://api.anthropic.com./v1' }, anthropic, 'the provider anthropic'],
    ['an agent with a model of a provider', agent('opencode', 'openai/y'), openai, 'the provider openai'],
    ['two models at no address', compatible('a'), compatible('b'), 'the provider openai-compatible'],
    ['two models at what is no address', compatible('a', 'x'), compatible('b', 'y'), 'the provider openai-compatible'],
    ['a provider and its compatible API', anthropic, compatible('y', 'https://api.anthropic.com/v1'), 'the provider anthropic'],
    ['openai and its compatible API', openai, compatible('y', 'https://api.openai.com/v1'), 'the provider openai'],
    [
      'google and its compatible API',
      google,
      compatible('y', 'https://generativelanguage.googleapis.com/v1beta/openai/'),
      'the provider google',
    ],
    ['claude and anthropic', anthropic, agent('claude'), 'the provider anthropic'],
    ['codex and openai', agent('codex'), openai, 'the provider openai'],
    ['gemini and google', agent('gemini'), google, 'the provider google'],
    ['an agent with and without a model', agent('claude'), agent('claude', 'claude-x'), 'the provider anthropic'],
    ['an agent with two models', agent('opencode', 'a'), agent('opencode', 'b'), 'the provider opencode'],
    ['one program with other arguments', command('./w.sh', 'a'), command('./w.sh', 'b'), 'the provider command ./w.sh'],
  ])('is the provider: %s', (_, worker, judge, what) => {
    expect(sharingOf(worker, judge)).toEqual({ shares: 'provider', what })
  })

  it.each<[string, Brain, Brain]>([
    ['two providers', anthropic, openai],
    ['two providers with one name for a model', { ...anthropic, model: 'm' }, { ...openai, model: 'm' }],
    ['two models whose names end in numbers', { ...anthropic, model: 'a-4-5' }, compatible('a-4', here)],
    ['two compatible addresses', compatible('a', here), compatible('b', 'http://127.0.0.1:4011/v1')],
    ['a compatible address and a provider', compatible('a', here), openai],
    ['two known agents', agent('claude'), agent('codex')],
    ['two known agents with one name for a model', agent('claude', 'm'), agent('gemini', 'm')],
    ['opencode and a provider', agent('opencode'), openai],
    ['two programs', command('./a'), command('./b')],
    ['two scripts', script('a.yaml'), script('b.yaml')],
    ['a program and a script of one name', command('a'), script('a')],
    ['a program and a model', command('a'), anthropic],
    ['a script and an agent', script('a'), agent('claude')],
  ])('is nothing: %s', (_, worker, judge) => {
    expect(sharingOf(worker, judge)).toEqual({ shares: 'nothing', what: '' })
    expect(sharingOf(judge, worker)).toEqual({ shares: 'nothing', what: '' })
  })
})
