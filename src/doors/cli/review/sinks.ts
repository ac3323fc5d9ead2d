import { closeSync, existsSync, mkdirSync, openSync, unlinkSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Result } from '../../../contract/errors.ts'
import type { Problem } from '../../../contract/source/problem.ts'
import type { Output } from '../output.ts'
import { type Format, formats } from '../report/formats.ts'

/** Where a report goes, and in which format. */
export interface Sink {
  format: Format
  /** Standard output where none is named. */
  file?: string
}

/** `--format name` prints, `--format name=file` writes. Without any: pretty at a terminal, minimal for programs. */
export function sinksOf(output: Output, { format = [], json }: { format?: string[]; json?: boolean }): Result<Sink[], Problem[]> {
  const sinks: Sink[] = []
  for (const given of format) {
    const [name = '', file] = given.split(/=(.*)/s)
    if (!formats.includes(name as Format))
      return { ok: false, error: [problem(`--format ${name}: there is no such format; there are ${formats.join(', ')}`)] }
    sinks.push({ format: name as Format, ...(file !== undefined && file !== '' && { file }) })
  }
  if (json && !sinks.some(({ file }) => file === undefined)) sinks.push({ format: 'json' })
  if (sinks.some(({ file }) => file === undefined)) return { ok: true, value: sinks }
  const { stdout, env } = output.terminal
  const person = stdout.isTTY === true && !env.CI && !env.CLAUDECODE && !env.AI_AGENT
  return { ok: true, value: [...sinks, { format: person ? 'pretty' : 'minimal' }] }
}

/** Reports that could not be written, found before anybody is paid for them. */
export function unwritable(sinks: readonly Sink[], cwd: string): Problem[] {
  return sinks.flatMap(({ format, file }) => {
    const why = file === undefined ? undefined : tryToWrite(resolve(cwd, file))
    return why === undefined ? [] : [problem(`--format ${format}=${file}: the file cannot be written (${why})`)]
  })
}

/** Opens the file without changing it; one that was not there is not there afterwards. */
function tryToWrite(path: string): string | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true })
    const before = existsSync(path)
    closeSync(openSync(path, 'a'))
    if (!before) unlinkSync(path)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return code
  }
}

function problem(message: string): Problem {
  return { file: 'assay review', path: '', message }
}
