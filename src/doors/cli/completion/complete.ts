import type { Argument, Command, Option } from 'commander'

/** One word that may come next. */
export interface Candidate {
  word: string
  description: string
}

/** What the last word is to be: one of these words, or the id of something that the journal knows, or a file for the shell to find. */
export type Completion = { kind: 'words'; words: Candidate[] } | { kind: 'ids'; of: 'task' | 'mission' | 'request' } | { kind: 'files' }

/** Options whose value is the id of something. */
const idOptions: Record<string, 'task' | 'mission'> = { '--mission': 'mission', '--task': 'task' }

/** What may stand where the last of the words stands, from the table of commands itself. `words` are those after `assay`; the last may be empty. */
export function complete(program: Command, words: readonly string[]): Completion {
  const last = words.at(-1) ?? ''
  const { command, place, pending } = walk(program, words.slice(0, -1))
  if (pending) return optionValue(pending, command)
  if (last.startsWith('-')) return { kind: 'words', words: optionsOf(command).filter(({ word }) => word.startsWith(last)) }
  const inner = command.commands.filter((one) => !isHidden(one) && one.name().startsWith(last))
  if (place === 0 && inner.length > 0)
    return { kind: 'words', words: inner.map((one) => ({ word: one.name(), description: one.description() })) }
  return argumentOf(command, place, last)
}

/** The command that the words lead to, how many of its arguments are given, and an option that still wants its value. */
function walk(program: Command, words: readonly string[]): { command: Command; place: number; pending: Option | undefined } {
  let command = program
  let place = 0
  let pending: Option | undefined
  for (const word of words) {
    if (pending) pending = undefined
    else if (word.startsWith('-')) {
      const option = allOptions(command).find(({ short, long }) => word === short || word === long)
      pending = option && (option.required || option.optional) ? option : undefined
    } else {
      const inner = place === 0 ? command.commands.find((one) => one.name() === word || one.aliases().includes(word)) : undefined
      if (inner) command = inner
      else place += 1
    }
  }
  return { command, place, pending }
}

/** Its own options and those of the commands around it, which hold for it too. */
function allOptions(command: Command): Option[] {
  const around = command.parent ? allOptions(command.parent).filter(({ long }) => long !== '--version') : []
  return [...command.options, ...around.filter(({ long }) => command.options.every((own) => own.long !== long))]
}

function optionsOf(command: Command): Candidate[] {
  const shown = allOptions(command).filter(({ hidden }) => !hidden)
  const words = shown.map((option) => ({ word: option.long ?? option.short ?? '', description: option.description }))
  return [...words, { word: '--help', description: 'display help for command' }]
}

function optionValue(option: Option, command: Command): Completion {
  if (option.argChoices) return { kind: 'words', words: option.argChoices.map((word) => ({ word, description: '' })) }
  const of = idOptions[option.long ?? '']
  return of !== undefined && command.name() !== 'review' ? { kind: 'ids', of } : { kind: 'files' }
}

function argumentOf(command: Command, place: number, last: string): Completion {
  const argument: Argument | undefined = command.registeredArguments[place]
  if (argument?.argChoices)
    return { kind: 'words', words: argument.argChoices.filter((word) => word.startsWith(last)).map((word) => ({ word, description: '' })) }
  const name = argument?.name()
  // What `run` takes is a file that describes a mission; everywhere else a mission is one that was started.
  if (name === 'task' || name === 'request' || (name === 'mission' && command.name() !== 'run')) return { kind: 'ids', of: name }
  return { kind: 'files' }
}

/** Commands for programs rather than people. */
function isHidden(command: Command): boolean {
  return command.name().startsWith('__')
}
