import { styleText } from 'node:util'
import { marked } from '../../contract/source/shown.ts'
import type { Terminal } from './app.ts'

type Style = Parameters<typeof styleText>[0]

/** The two channels of a command: stdout for data, stderr for everything else. A reader that went away (`| head`) is no error, and says nothing about the other. */
export class Output {
  readonly terminal: Terminal
  readonly json: boolean
  readonly colour: boolean
  #gone = false
  #unheard = false

  constructor(terminal: Terminal, json: boolean) {
    this.terminal = terminal
    this.json = json
    this.colour = wantsColour(terminal)
    terminal.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      this.#gone = true
    })
    terminal.stderr.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      this.#unheard = true
    })
  }

  /** True once nobody reads the data any more. */
  get gone(): boolean {
    return this.#gone
  }

  data(text: string): void {
    if (!this.#gone) this.terminal.stdout.write(`${text}\n`)
  }

  /** Always one line, whatever names and words of others are in it: none of them can end it, colour it or speak to a CI log. */
  note(text: string): void {
    this.page(text.replace(/\s*[\r\n]+\s*/g, ' '))
  }

  /** Lines of our own, in which texts of others are on one line already. */
  page(text: string): void {
    if (!this.#unheard) this.terminal.stderr.write(`${harmless(text, this.colour)}\n`)
  }

  jsonLine(value: unknown): void {
    this.data(JSON.stringify(value))
  }

  paint(style: Style, text: string): string {
    return this.colour ? styleText(style, text, { validateStream: false }) : text
  }

  get columns(): number {
    return Math.max(20, this.terminal.stdout.columns ?? this.terminal.stderr.columns ?? 80)
  }
}

function wantsColour({ stdout, env }: Terminal): boolean {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR && env.FORCE_COLOR !== '0') return true
  return stdout.isTTY === true && env.TERM !== 'dumb'
}

/** What a terminal or a CI log would obey is made visible; colours stay where there are any. */
function harmless(text: string, colour: boolean): string {
  const calm = (piece: string) => marked(piece).replace(/##(?=\[)/g, '## ')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
  const pieces = colour ? text.split(/(\u001b\[[\d;]*m)/) : [text]
  const shown = pieces.map((piece, at) => (at % 2 === 0 ? calm(piece) : piece)).join('')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the same.
  return shown.replace(/^(?=(?:\s|\u001b\[[\d;]*m)*::)/gm, '|')
}

/** One line, cut to a width with an ellipsis. */
export function oneLine(text: string, width = 200): string {
  const line = marked(text).replace(/\s+/g, ' ').trim()
  return line.length <= width ? line : `${line.slice(0, Math.max(1, width - 1))}…`
}
