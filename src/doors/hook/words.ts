import type { SessionEnd } from '../../engine/sessions/session.ts'

/** What the agent and the person hear of a review. */
export interface HookWords {
  /** The agent goes on with this; undefined where it may end. */
  block?: string
  message?: string
}

/** Characters of feedback that an agent is sent back with. */
const longest = 12_000

/** `old`: files of the judges that the agent changed, and that the judges were run with as they were before. */
export function wordsFor(end: SessionEnd, old: readonly string[] = []): HookWords {
  const { block, message } = plainWords(end)
  if (old.length === 0) return { ...(block !== undefined && { block }), ...(message !== undefined && { message }) }
  const more = old.length - mostNamed
  const named = [...old.slice(0, mostNamed), ...(more > 0 ? [`and ${more} more`] : [])].map((path) => JSON.stringify(path)).join(', ')
  const note = `Judges are run with their own files as they were when the session began, whatever became of ${named}.`
  return { ...(block !== undefined && { block: `${block}\n\n${note}` }), ...(message !== undefined && { message: `${message}. ${note}` }) }
}

/** Most files that are written out. */
const mostNamed = 5

function plainWords(end: SessionEnd): HookWords {
  switch (end.kind) {
    case 'nothing':
      return {}
    case 'passed':
      return { message: `Assay: PASS${end.score ? ` (${end.score.on100}/100, bar ${onHundred(end.bar)})` : ''}` }
    case 'blocked':
      return { block: feedback(end.feedback, end.attempt, end.allowed, end.task) }
    case 'forced':
      return {
        message: `Assay: ACCEPTED BELOW QUALITY BAR${end.score ? ` (${end.score.on100}/100, bar ${onHundred(end.bar)})` : ''}: the tries are used up. The owner is asked: assay requests. ${cut(end.feedback, 600)}`,
      }
    case 'unreviewed':
      return { message: `Assay: UNREVIEWED: ${cut(end.reason, 600)}${end.task === undefined ? '' : ` (assay why ${end.task})`}` }
  }
}

function feedback(text: string, attempt: number, allowed: number, task: string): string {
  const left = allowed - attempt
  return [
    `Assay: not done yet. An independent review of your work (try ${attempt} of ${allowed}, ${left} left) rejects it.`,
    cut(text, longest),
    'Address every point in the files, then end your turn again. Do not argue here: the work itself is judged.',
    `(assay task show ${task})`,
  ].join('\n\n')
}

const onHundred = (bar: number): number => (bar <= 5 ? bar * 20 : bar)
const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}… (${text.length - length} more characters: assay task show)` : text
