import type { Notifier } from '../../ports/notifier.ts'
import { refuse } from './environment.ts'

/** A line on standard error. */
export function stderrNotifier(stream: NodeJS.WritableStream): Notifier {
  return {
    send: ({ severity, title, text }) =>
      new Promise((resolve) => {
        const line = `assay: [${severity}] ${title}${text === '' ? '' : `: ${text}`}`.replace(/\s+/g, ' ').replace(/##(?=\[)/g, '## ')
        stream.write(`${line}\n`, (error) => resolve(error ? refuse('standard error is closed') : { ok: true }))
      }),
  }
}
