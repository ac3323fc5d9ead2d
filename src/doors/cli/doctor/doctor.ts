import type { App, ExitCode } from '../app.ts'
import { oneLine, type Output } from '../output.ts'
import { type ConfigFlags, findProject } from '../project.ts'
import { wrap } from '../render/table.ts'
import type { Finding } from './finding.ts'

const marks = { ok: '✔', bad: '✘', none: '–' } as const
const colours = { ok: 'green', bad: 'red', none: 'dim' } as const

/** `assay doctor`: one line for everything that a run leans on, as soon as it is known. 0 where nothing is wrong. */
export async function doctorCommand(
  app: App,
  output: Output,
  flags: ConfigFlags & { ping?: boolean; rebuild?: boolean },
): Promise<ExitCode> {
  const { cwd, env } = output.terminal
  const project = findProject({ cwd, env }, flags)
  let bad = 0
  for await (const finding of app.diagnose({ cwd, env, project, ping: flags.ping === true, rebuild: flags.rebuild === true })) {
    if (finding.state === 'bad') bad += 1
    if (output.json) output.jsonLine({ kind: 'finding', ...finding })
    else output.data(findingText(output, finding))
  }
  if (output.json) output.jsonLine({ kind: 'doctor', ok: bad === 0, bad })
  else output.note(bad === 0 ? 'Nothing is wrong.' : `${bad} ${bad === 1 ? 'thing is' : 'things are'} wrong.`)
  return bad === 0 ? 0 : 1
}

function findingText(output: Output, { id, state, detail, fix }: Finding): string {
  const line = wrap(`  ${id.padEnd(16)} ${oneLine(detail, 500)}`, output.columns, 19)
  const cure = fix === undefined ? [] : [`${' '.repeat(19)}→ ${oneLine(fix, 500)}`]
  return [`${output.paint(colours[state], marks[state])}${line.slice(1)}`, ...cure].join('\n')
}
