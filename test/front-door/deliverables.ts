import { makeProject, type Project } from './project.ts'

/** Judges read their score off the work: the last `score=NN` in what they are shown. */
const judge = `#!/bin/sh
score=$(sed -n 's/.*score=\\([0-9][0-9]*\\).*/\\1/p' | tail -n 1)
printf 'What I think of it.\\nSCORE: %s\\n' "\${score:-30}"
`

/** A project with two judges, and workers that write what their task's description says. */
export function deliverableProject(more: Record<string, unknown> = {}, files: Record<string, string | object> = {}): Project {
  return makeProject({
    'assay.yaml': {
      version: 1,
      brains: { eyes: { kind: 'command', argv: ['./judge.sh'] }, hands: { kind: 'command', argv: ['./worker.sh'] } },
      agents: { dev: { role: 'engineer', brain: 'hands' }, ada: { role: 'reviewer', brain: 'eyes' } },
      review: { panel: { size: 1, quorum: 1 } },
      limits: { judgeRetries: 0 },
      ...more,
    },
    'judge.sh': judge,
    'worker.sh': `#!/bin/sh
mkdir -p out/inner
echo "score=$(cat | sed -n 's/.*make score \\([0-9][0-9]*\\).*/\\1/p' | tail -n 1)" > out/report.md
echo more > out/inner/more.txt
echo beside > beside.txt
cat out/report.md
`,
    ...files,
  })
}

export interface ShownCard {
  card: string
  type: string
  state: string
  title: string
  body: string
  flag?: string
  deliverable?: string
  task?: string
  digest?: string
  note?: { by: string; title: string; body: string; reviewed: boolean }
}

export async function cardsOf(project: Project, ...flags: string[]): Promise<ShownCard[]> {
  return (await project.json<ShownCard>(['inbox', '--state', 'all', ...flags])).lines
}
