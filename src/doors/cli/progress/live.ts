import type { TaskRow } from '../../../engine/views/tasks.ts'
import { oneLine, type Output } from '../output.ts'
import { describeEvent, isQuiet } from '../render/event.ts'
import { cut, displayWidth } from '../render/table.ts'
import { barOn100, paintState, stateWord } from '../render/task.ts'
import type { Progress } from './progress.ts'

/** Redraws at most this often. */
const frameMs = 80
const mostRows = 12

/** A panel at the bottom of the terminal: what is under way, with its judges; what has happened scrolls above it. */
export function liveProgress(output: Output): Progress {
  const rows = new Map<string, TaskRow>()
  const above: string[] = []
  let drawn = 0
  let timer: NodeJS.Timeout | undefined

  const draw = () => {
    timer = undefined
    const width = output.columns - 1
    const panel = panelLines(output, [...rows.values()], width)
    const up = drawn > 0 ? `\u001b[${drawn}A\u001b[0J` : ''
    const text = [...above.splice(0), ...panel].map((line) => `${line}\n`).join('')
    output.terminal.stderr.write(`${up}${text}`)
    drawn = panel.length
  }
  return {
    begin(all) {
      for (const row of all) rows.set(row.id, row)
    },
    event(event, row) {
      if (row) rows.set(row.id, row)
      const text = isQuiet(event) ? undefined : describeEvent(event)
      if (text !== undefined) above.push(cut(`${row ? `[${oneLine(row.title, 30)}] ` : ''}${text}`, output.columns - 1))
      timer ??= setTimeout(draw, frameMs)
    },
    end() {
      clearTimeout(timer)
      draw()
    },
  }
}

const underWay = (row: TaskRow) => row.status === 'running' || row.status === 'checking' || row.status === 'in_review'

function panelLines(output: Output, rows: readonly TaskRow[], width: number): string[] {
  if (rows.length === 0) return []
  const open = rows.filter(underWay)
  const finished = rows.filter((row) => row.status === 'done' || row.status === 'failed' || row.status === 'skipped').length
  const held = rows.filter((row) => row.status === 'held').length
  const summary = `${finished}/${rows.length} ended${held > 0 ? `, ${held} held` : ''}, ${open.length} under way`
  const shown = open.slice(0, mostRows).map((row) => rowLine(output, row, width))
  const more = open.length > mostRows ? [cut(`  … ${open.length - mostRows} more`, width)] : []
  return [output.paint('dim', cut(`── ${summary}`, width)), ...shown, ...more]
}

function rowLine(output: Output, row: TaskRow, width: number): string {
  const state = stateWord(row)
  const judges = (row.seats ?? []).map((seat) => `${seat.judge} ${mark(seat.state)}`).join('  ')
  const bar = row.status === 'in_review' ? `  bar ${barOn100(row.nextBar ?? row.bar)}` : ''
  const rest = cut(`${oneLine(row.title, 40)}  attempt ${row.attempt}  ${judges}${bar}`, width - displayWidth(state) - 4)
  return `  ${paintState(output, row, state)}  ${rest}`
}

function mark(state: string): string {
  return { asked: '…', awaited: '…', accepts: '✔', rejects: '✘', abstained: '–', unreadable: '?', unavailable: '!' }[state] ?? state
}
