import { type JournalState, readJournal } from './journal.ts'
import { noneLeft } from './processes.ts'
import { makeProject } from './project.ts'

export interface Member {
  /** Title of the task, and of the test that looks at it. */
  what: string
  /** Shell texts, after `#!/bin/sh`, of what its worker and its judge do. */
  worker: string
  judge: string
  task?: Record<string, unknown>
  /** Settings of its worker's brain besides the program. */
  hands?: Record<string, unknown>
}

/** All that is left of the run; its files are gone with the test that asked for it first. */
export interface ManyTasks {
  state: JournalState
  turns: string[]
  sittings: string[]
  code: number | null
  stderr: string
}

/**
 * One mission with a task for each member, each with a worker and programs of its own, run once: what one of them does must not
 * disturb the others, and looking at each costs nothing. Every turn and sitting is logged by the task's number.
 */
export async function runMany(members: readonly Member[], limits: Record<string, unknown> = {}): Promise<ManyTasks> {
  const project = makeProject()
  const brains: Record<string, unknown> = { eyes: { kind: 'command', argv: ['./judge.sh'] } }
  const agents: Record<string, unknown> = { qa: { role: 'reviewer', brain: 'eyes' } }
  const tasks = members.map(({ what, task = {}, hands = {} }, index) => {
    brains[`hands${index}`] = { kind: 'command', argv: ['./worker.sh', `${index}`], ...hands }
    agents[`dev${index}`] = { role: 'engineer', brain: `hands${index}` }
    return { title: `${index} ${what}`, assignTo: `dev${index}`, description: 'Do it.', ...task }
  })
  const branches = (part: 'worker' | 'judge') => members.map((member, index) => `${index})\n${member[part]}\n;;`).join('\n')
  project.write({
    'assay.yaml': {
      brains,
      agents,
      review: { maxAttempts: 1, panel: { size: 1, quorum: 1 } },
      concurrency: 4,
      limits: { judgeRetries: 0, ...limits },
    },
    'm.yaml': { name: 'M', tasks },
    'odd.sh': '#!/no/such/shell\n',
    'worker.sh': `#!/bin/sh\necho "$1" >> '${project.log('turns')}'\ncase "$1" in\n${branches('worker')}\nesac\n`,
    'judge.sh': `#!/bin/sh
number="\${ASSAY_TASK#*/}"; number="\${number%%-*}"
echo "$number" >> '${project.log('sittings')}'
case "$number" in\n${branches('judge')}\nesac\n`,
  })
  const { code, stderr } = await project.run(['run', 'm.yaml'])
  await noneLeft(project.folder)
  return { state: await readJournal(project.folder), turns: project.logged('turns'), sittings: project.logged('sittings'), code, stderr }
}

/** What there is about one member. */
export function aboutMember({ state, turns, sittings }: ManyTasks, index: number) {
  const row = state.rows.find(({ title }) => title.startsWith(`${index} `))
  const own = (line: string) => line === `${index}`
  return {
    row,
    events: state.events.filter(({ stream }) => stream === `task/${row?.id}`),
    turns: turns.filter(own).length,
    sittings: sittings.filter(own).length,
  }
}
