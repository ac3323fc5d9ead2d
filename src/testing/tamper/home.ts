import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteJournal } from '../../adapters/sqlite/journal.ts'
import { engineViews } from '../../engine/views/tasks.ts'
import type { BrainPort } from '../../ports/brain.ts'
import { openWorkshop } from '../engine/workshop.ts'
import { specWith } from '../task/world.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: {
    dev: { role: 'engineer', brain: 'hands' },
    ada: { role: 'reviewer', brain: 'eyes' },
    bob: { role: 'reviewer', brain: 'eyes', instructions: 'Look for what is missing.' },
  },
  review: { maxAttempts: 2, panel: { size: 2 } },
  limits: { judgeRetries: 0 },
}

const hands: BrainPort = {
  conversational: false,
  work: async ({ task, attempt, workspace }) => {
    writeFileSync(join(workspace, 'work.txt'), `${task.title}, attempt ${attempt}\n`)
    writeFileSync(join(workspace, 'notes.md'), `# ${task.title}\n${'All of it. '.repeat(20)}\n`)
    // Many small files at once are stored in a pack.
    if (task.title === 'last') for (let n = 0; n < 40; n += 1) writeFileSync(join(workspace, `part-${n}.txt`), `part ${n} of many\n`)
    return { kind: 'finished', raw: null, output: `Attempt ${attempt} is done.`, sandboxed: false }
  },
  judge: async () => ({ kind: 'unavailable', detail: 'a worker does not judge' }),
  close: async () => undefined,
}

/** One task is clean at once, one after rework, one never good enough. */
const eyes: BrainPort = {
  conversational: false,
  work: async () => ({ kind: 'failed', failure: 'error', detail: 'a judge does not work', output: '', beforeEffect: false }),
  judge: async ({ task, attempt }) => {
    const score = task.title === 'low' ? 30 : task.title === 'again' && attempt === 1 ? 40 : 90
    return { kind: 'reply', reply: { channel: 'text', body: `Looked at ${task.title}.\nSCORE: ${score}\n` } }
  },
  close: async () => undefined,
}

/** Runs a small mission for real, on disk: a journal in `assay.db`, its objects in `objects/`, as in `.assay/`. */
export async function makeHome(folder: string): Promise<void> {
  const journal = await openSqliteJournal({ path: join(folder, 'assay.db'), views: engineViews })
  const { engine } = openWorkshop({ config, brains: { hands, eyes }, journal, folder })
  const task = (title: string, dependsOn: string[] = []) =>
    specWith({ id: `plan/${title}`, title, criteria: [], mission: 'plan', dependsOn: dependsOn.map((one) => `plan/${one}`) })
  try {
    const tasks = [task('clean'), task('again'), task('low'), task('last', ['clean', 'low'])]
    const started = await engine.start({ id: 'plan', name: 'Plan', tasks })
    if (!started.ok) throw new Error(started.error.message)
    await engine.run({ missions: [started.value.mission], stop: new AbortController().signal })
  } finally {
    await engine.close()
  }
}
