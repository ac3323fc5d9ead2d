import { makeProject, type Project } from './project.ts'

export interface OneTask {
  /** Shell text of the worker, after `#!/bin/sh`. */
  worker: string
  /** The same of the judge; without it, a judge that is content. */
  judge?: string
  review?: Record<string, unknown>
  task?: Record<string, unknown>
  /** Settings of the two brains besides their programs. */
  hands?: Record<string, unknown>
  eyes?: Record<string, unknown>
  limits?: Record<string, unknown>
}

/** One task, one worker, one judge, both of them programs. `{{log}}` in their text is a file that they may append to. */
export function oneTask({
  worker,
  judge = "echo 'SCORE: 80'",
  review = {},
  task = {},
  hands = {},
  eyes = {},
  limits = {},
}: OneTask): Project {
  const project = makeProject({
    'assay.yaml': {
      brains: {
        hands: { kind: 'command', argv: ['./worker.sh'], ...hands },
        eyes: { kind: 'command', argv: ['./judge.sh'], ...eyes },
      },
      agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
      review: { panel: { size: 1, quorum: 1 }, ...review },
      limits: { judgeRetries: 0, ...limits },
    },
    'm.yaml': { name: 'M', tasks: [{ title: 'a', assignTo: 'dev', description: 'Do it.', ...task }] },
  })
  const turn = `echo "$ASSAY_ATTEMPT" >> '${project.log('turns')}'\n`
  const sitting = `echo "$ASSAY_REVIEW.$ASSAY_ROUND" >> '${project.log('sittings')}'\n`
  const script = (first: string, rest: string) => `#!/bin/sh\n${first}${rest.replaceAll('{{log}}', project.log('log'))}\n`
  project.write({ 'worker.sh': script(turn, worker), 'judge.sh': script(sitting, judge) })
  return project
}
