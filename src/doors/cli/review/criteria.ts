import { resolve } from 'node:path'
import type { Result } from '../../../contract/errors.ts'
import { CriterionEntry } from '../../../contract/mission/mission.ts'
import { readDocument } from '../../../contract/source/document.ts'
import type { Problem } from '../../../contract/source/problem.ts'
import type { Criterion } from '../../../contract/task.ts'
import { numberedCriteria } from '../../../engine/project.ts'
import { readText } from '../project.ts'

/** Each `--criteria` is a file of criteria (a YAML or JSON list, or one a line), or the text of one. */
export function criteriaOf(given: readonly string[], cwd: string): Result<Criterion[], Problem[]> {
  const entries: unknown[] = []
  for (const one of given) {
    const text = /\s/.test(one) ? undefined : readText(resolve(cwd, one), one)
    if (text?.ok) {
      const read = entriesOf(text.value, one)
      if (!read.ok) return read
      entries.push(...read.value)
    } else if (looksLikeFile(one)) return text ?? { ok: false, error: [usage(`${one} cannot be read`)] }
    else if (one.trim() === '') return { ok: false, error: [usage('--criteria names no criterion')] }
    else entries.push(one)
  }
  const parsed = entries.map((entry) => CriterionEntry.safeParse(entry))
  const bad = parsed.findIndex((one) => !one.success)
  if (bad >= 0) return { ok: false, error: [usage(`criterion ${bad + 1} is no text and has no \`text\``)] }
  return numberedCriteria(parsed.map((one) => one.data as CriterionEntry))
}

/** What a file of criteria holds. One that means to be a document and cannot be read as a list is not taken for lines: nobody wrote those. */
function entriesOf(text: string, file: string): Result<unknown[], Problem[]> {
  if (text.trim() === '') return { ok: false, error: [noCriteria(file, 'is empty')] }
  const document = readDocument(text, file)
  const value = document.ok ? document.value.value : undefined
  if (Array.isArray(value)) return value.length > 0 ? { ok: true, value } : { ok: false, error: [noCriteria(file, 'is an empty list')] }
  if (/\.(?:ya?ml|json)$/i.test(file) || /^\s*(?:\{\s*["'}]|\[\s*["'{[\]])/.test(text))
    return document.ok ? { ok: false, error: [noCriteria(file, 'is no list')] } : document
  const lines = text
    .split('\n')
    .map((line) => line.replace(/^\s*[-*]\s+/, '').trim())
    .filter((line) => line !== '')
  return { ok: true, value: lines }
}

const looksLikeFile = (text: string): boolean => /^[^\s]+\.(ya?ml|json|txt|md)$/.test(text)

function noCriteria(file: string, what: string): Problem {
  return {
    file,
    path: '',
    message: `the file of criteria ${what}`,
    fix: 'write a YAML or JSON list, or one criterion a line in a .txt file',
  }
}

function usage(message: string): Problem {
  return { file: 'assay review', path: '', message }
}
