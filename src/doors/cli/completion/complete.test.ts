import { Argument, Command, Option } from 'commander'
import { describe, expect, it } from 'vitest'
import { complete } from './complete.ts'

function program(): Command {
  const root = new Command('assay').version('1')
  root.command('run').argument('<mission>').option('--fresh', 'anew')
  const task = root.command('task').description('tasks')
  task.command('list').description('all').option('--mission <id>', 'of one')
  task.command('show').argument('<task>').option('-c, --config <file>', 'the file')
  root.command('mission').command('show').argument('<mission>')
  const requests = root.command('requests').option('--json', 'as JSON')
  requests
    .command('answer')
    .argument('<request>')
    .addArgument(new Argument('<answer>').choices(['retry', 'accept']))
  root.command('init').addOption(new Option('--template <name>').choices(['code', 'api']))
  root.command('review').argument('[subject]').option('--task <text>')
  root.command('__complete', { hidden: true })
  return root
}

const words = (...typed: string[]): string[] => {
  const found = complete(program(), typed)
  return found.kind === 'words' ? found.words.map(({ word }) => word) : [found.kind === 'ids' ? `<${found.of}>` : '<file>']
}

describe('what may come next', () => {
  it('is a command, those for programs left out', () => {
    expect(words('')).toEqual(['run', 'task', 'mission', 'requests', 'init', 'review'])
    expect(words('re')).toEqual(['requests', 'review'])
    expect(words('task', '')).toEqual(['list', 'show'])
    expect(words()).toContain('run')
  })

  it('is an option of the command and of those around it', () => {
    expect(words('run', '--')).toEqual(['--fresh', '--help'])
    expect(words('requests', 'answer', '--j')).toEqual(['--json'])
    expect(words('--v')).toEqual(['--version'])
  })

  it('is one of the values that an option or argument takes', () => {
    expect(words('init', '--template', '')).toEqual(['code', 'api'])
    expect(words('requests', 'answer', 'x', 're')).toEqual(['retry'])
  })

  it('is the id of something that the journal knows', () => {
    expect(words('task', 'show', '')).toEqual(['<task>'])
    expect(words('task', 'show', '-c', 'other.yaml', '')).toEqual(['<task>'])
    expect(words('task', 'list', '--mission', '')).toEqual(['<mission>'])
    expect(words('mission', 'show', 'm')).toEqual(['<mission>'])
    expect(words('requests', 'answer', '')).toEqual(['<request>'])
  })

  it('is a file where nothing else is known', () => {
    expect(words('run', '')).toEqual(['<file>'])
    expect(words('review', '--task', '')).toEqual(['<file>'])
    expect(words('task', 'show', '--config', '')).toEqual(['<file>'])
    expect(words('no-such-command', 'x', '')).toEqual(['<file>'])
  })
})
