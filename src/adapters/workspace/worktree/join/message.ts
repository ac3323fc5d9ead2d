import type { CommitNote } from '../../../../ports/workspace.ts'

const maxSubject = 200
const maxValue = 1000

/** The text of a commit: one line, and trailers as `git interpret-trailers` reads them. No text of a worker can add a line. */
export function commitMessage(note: CommitNote, before = ''): string {
  const subject = oneLine(`${before}${note.subject}`, maxSubject) || 'Work of a task'
  const trailers = Object.entries(note.trailers)
    .map(([name, value]) => `${name.replaceAll(/[^A-Za-z0-9-]/g, '-')}: ${oneLine(value, maxValue)}`.trimEnd())
    .filter((line) => !line.startsWith(':'))
  return trailers.length === 0 ? `${subject}\n` : `${subject}\n\n${trailers.join('\n')}\n`
}

function oneLine(text: string, limit: number): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
  return [...line].slice(0, limit).join('')
}
