import type { StoredEvent } from '../../src/contract/events/envelope.ts'
import type { TaskRow } from '../../src/engine/views/tasks.ts'
import { makeProject, type Project } from './project.ts'

/**
 * A mission in which everything happens that a crash could tear apart: rework, an unreadable verdict, a force-accept, dependents.
 * The worker writes a line per turn, judges a line per call, into files that only grow.
 */
export function crashProject(): Project {
  const project = makeProject({
    'assay.yaml': {
      version: 1,
      brains: {
        hands: { kind: 'command', argv: ['./worker.sh'], timeout: '60s' },
        eyes: { kind: 'command', argv: ['./judge.sh'], timeout: '60s' },
      },
      agents: {
        dev: { role: 'engineer', brain: 'hands' },
        ada: { role: 'reviewer', brain: 'eyes', instructions: 'Check it against the criteria.' },
        bob: { role: 'reviewer', brain: 'eyes', instructions: 'Look for what is missing.' },
      },
      review: { maxAttempts: 2, panel: { size: 2, quorum: 2 } },
      concurrency: 2,
      limits: { workerLease: '2s' },
    },
    'mission.yaml': {
      name: 'Crash',
      tasks: [
        { title: 'low', assignTo: 'dev', description: 'Never good enough.' },
        { title: 'fix', assignTo: 'dev', description: 'Good the second time.', checks: [{ kind: 'file', path: 'work.txt' }] },
        { title: 'odd', assignTo: 'dev', description: 'The first review cannot be read.', dependsOn: ['fix'] },
        { title: 'end', assignTo: 'dev', description: 'Uses what is below the bar.', dependsOn: ['low', 'odd'] },
      ],
    },
  })
  project.write({
    'worker.sh': `#!/bin/sh
echo "$ASSAY_TASK $ASSAY_ATTEMPT" >> '${project.log('turns')}'
echo "attempt $ASSAY_ATTEMPT" > work.txt
echo "Attempt $ASSAY_ATTEMPT is done."
`,
    'judge.sh': `#!/bin/sh
echo "$ASSAY_TASK $ASSAY_REVIEW $ASSAY_SEAT $ASSAY_ROUND" >> '${project.log('judgings')}'
case "$ASSAY_TASK $ASSAY_ATTEMPT" in
  */low*) printf 'Not good enough.\\nSCORE: 40\\n' ;;
  */fix\\ 1) printf 'Do it again.\\nSCORE: 45\\n' ;;
  */odd\\ 1) printf 'SCORE: 90\\nSCORE: 95\\n' ;;
  *) printf 'Good.\\nSCORE: 90\\n' ;;
esac
`,
  })
  return project
}

/** What a task came to, in the words that must not depend on crashes. */
export type End = Pick<TaskRow, 'status'> & { flag?: string; held?: string; score?: number; content?: string | null; attempt: number }

export function endsOf(rows: readonly TaskRow[]): Record<string, End> {
  return Object.fromEntries(
    rows.map(({ id, status, flag, held, score, content, attempt }) => [
      id.slice(id.indexOf('/') + 1),
      { status, attempt, ...(flag && { flag }), ...(held && { held }), ...(score && { score: score.on100 }), ...(content && { content }) },
    ]),
  )
}

/** Turns that were open when the journal was cut off here: `task attempt`. */
export function openTurns(events: readonly StoredEvent[]): string[] {
  const open = new Map<string, number>()
  for (const { stream, type, data } of events) {
    if (type === 'attempt.started') open.set(stream, (data as { attempt: number }).attempt)
    if (turnEnds.has(type)) open.delete(stream)
  }
  return [...open].map(([stream, attempt]) => `${stream.slice('task/'.length)} ${attempt}`)
}
const turnEnds = new Set([
  'case.submitted',
  'case.parse_error',
  'attempt.failed',
  'attempt.stopped',
  'attempt.interrupted',
  'attempt.rejected',
])

/** `task review seat round` of every verdict that was recorded, as the judges' own log has it. */
export function recordedVerdicts(events: readonly StoredEvent[]): string[] {
  return events.flatMap(({ stream, type, data }) => {
    if (type === 'verdict.recorded') {
      const { review, round, sitting } = data as { review: number; round: number; sitting: { seat: number } }
      return [`${stream.slice('task/'.length)} ${review} ${sitting.seat} ${round}`]
    }
    if (type !== 'task.eval.unparsed') return []
    const { review, seat, round } = data as { review: number; seat: number; round: number }
    return [`${stream.slice('task/'.length)} ${review} ${seat} ${round}`]
  })
}

/**
 * The ends of the mission when these turns were cut off, by the rules of SPEC §8 alone: a cut turn is charged and has no content; two
 * attempts; a last attempt without a graded decision leaves nothing to force-accept. Contents are those of the undisturbed run where
 * the same attempt was the last one.
 */
export function expectedEnds(cut: readonly string[]): Record<string, Omit<End, 'content'>> {
  const wasCut = (task: string, attempt: number) => cut.includes(`crash-1/${task} ${attempt}`)
  const held = { status: 'held' as const, attempt: 2, held: 'exhausted_unscored' }
  const waiting = { status: 'waiting' as const, attempt: 0 }
  const clean = (attempt: number) => ({ status: 'done' as const, flag: 'clean', score: 90, attempt })
  const low = wasCut('low', 2)
    ? { ...held, ...(wasCut('low', 1) ? {} : { score: 40 }) }
    : { status: 'done' as const, flag: 'below-threshold', score: 40, attempt: 2 }
  const fix = wasCut('fix', 2) ? { ...held, ...(wasCut('fix', 1) ? {} : { score: 45 }) } : clean(2)
  const odd = fix.status === 'held' ? waiting : wasCut('odd', 2) ? held : clean(2)
  const ready = low.status === 'done' && odd.status === 'done'
  const end = !ready ? waiting : wasCut('end', 2) ? held : clean(wasCut('end', 1) ? 2 : 1)
  return { low, fix, odd, end }
}
