import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Terminal } from './app.ts'
import { Output } from './output.ts'

/** An output, and what it wrote to standard error. */
function listening(env: NodeJS.ProcessEnv = {}) {
  let said = ''
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      said += String(chunk)
      done()
    },
  })
  const output = new Output({ stdout: new Writable(), stderr, env, cwd: '/' } as unknown as Terminal, false)
  return { output, said: () => said }
}

const name = 'a\n::error::forged\r\n\u001b[31mred\u001b[0m\u202e##[group]x\u0007'

describe('a note', () => {
  it('is one line in which nothing is obeyed', () => {
    const { output, said } = listening()
    output.note(`there is no task ${name}`)
    expect(said()).toBe('there is no task a ::error::forged ⟦U+001B⟧[31mred⟦U+001B⟧[0m⟦U+202E⟧## [group]x⟦U+0007⟧\n')
  })

  it('never begins with a command of a CI log', () => {
    for (const text of ['::error::x', '\n ::error::x', '\u001b[31m::error::x']) {
      for (const env of [{}, { FORCE_COLOR: '1' }]) {
        const { output, said } = listening(env)
        output.note(text)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal would not show.
        expect(said().replace(/\u001b\[\d+m/g, '')).not.toMatch(/^\s*::/m)
      }
    }
  })

  it('keeps its own colours, where there are any', () => {
    const { output, said } = listening({ FORCE_COLOR: '1' })
    output.note(output.paint('red', 'no'))
    expect(said()).toBe('\u001b[31mno\u001b[39m\n')
    output.page('two\n  lines\u001b]0;title\u0007')
    expect(said()).toContain('two\n  lines⟦U+001B⟧]0;title⟦U+0007⟧\n')
  })
})
