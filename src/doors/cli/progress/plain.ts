import type { Output } from '../output.ts'
import { oneLine } from '../output.ts'
import { describeEvent, isQuiet } from '../render/event.ts'
import type { Progress } from './progress.ts'

/** One line per event on stderr: for logs, CI and pipes. */
export function plainProgress(output: Output): Progress {
  return {
    begin() {},
    event(event, row) {
      const text = describeEvent(event)
      if (text === undefined || isQuiet(event)) return
      output.note(`${row ? `[${oneLine(row.title, 40)}] ` : ''}${text}`)
    },
    end() {},
  }
}

/** One JSON object per event on stdout. */
export function jsonProgress(output: Output): Progress {
  return {
    begin() {},
    event({ position, stream, version, type, data, meta }) {
      output.jsonLine({ kind: 'event', position, stream, version, type, at: meta.at, actor: meta.actor, data })
    },
    end() {},
  }
}
