import { marked } from '../../../contract/source/shown.ts'
import type { App, ExitCode } from '../app.ts'
import { oneLine, type Output } from '../output.ts'
import {
  additions,
  applyAll,
  type Change,
  type Changes,
  configFile,
  earlierTemplate,
  missionFile,
  removals,
  undoAll,
  unreadable,
} from './changes.ts'
import { type BrainChoice, type Chosen, chooseJudge, chooseTemplate, chooseWorker, isTemplate } from './choice.ts'
import { configText } from './config-text.ts'
import { hookedAgents } from '../hook/agents.ts'
import { missionText } from './mission-text.ts'
import { sealed } from './sealed.ts'
import type { Survey, TemplateName } from './survey.ts'

export interface InitFlags {
  template?: TemplateName
  model?: string
  /** Agents whose hooks are put in, or taken out. */
  hook?: readonly string[]
  yes?: boolean
  dryRun?: boolean
  remove?: boolean
}

/** `assay init`: shows every change before it is made, asks a person, and never touches what it did not write. */
export async function initCommand(app: App, output: Output, flags: InitFlags): Promise<ExitCode> {
  const { template, hook } = flags
  if (hook !== undefined && !app.hook) {
    output.note('assay: hooks are not available in this version; leave --hook out')
    return 2
  }
  const remove = flags.remove === true
  const blocked = remove ? [] : unreadable(output.terminal.cwd)
  if (blocked.length > 0) return refuse(output, blocked)
  const plan = remove ? { ...removals(output.terminal.cwd), said: [] } : await planned(app, output, template, flags.model)
  const preview = await changeHooks(app, output, flags, true)
  if (hook !== undefined && preview.problems.length > 0) return refuse(output, preview.problems)
  plan.kept.push(...preview.problems.map((why) => ({ path: 'hook', why })))
  await show(output, plan, preview.lines)
  const waiting = plan.changes.length > 0 || preview.lines.length > 0
  const consent = waiting && !flags.dryRun ? await mayWrite(app, output, flags) : 'no'
  const made = consent === 'yes' ? await make(app, output, flags, plan.changes, preview.problems) : { lines: [], problems: [] }
  if (made.problems.length > 0) return refuse(output, made.problems)
  tell(output, { plan, remove, waiting, consent, hook: made.lines })
  return consent === 'unasked' ? 2 : 0
}

/** The files, then the hooks. Where a hook cannot be put in, the files are as they were. What could not be read before was said before. */
async function make(
  app: App,
  output: Output,
  flags: InitFlags,
  changes: readonly Change[],
  known: readonly string[],
): Promise<HookChanges> {
  const { cwd } = output.terminal
  const problem = applyAll(cwd, changes)
  if (problem !== undefined) return { lines: [], problems: [problem] }
  try {
    const hooked = await changeHooks(app, output, flags, false)
    const problems = hooked.problems.filter((one) => !known.includes(one))
    if (problems.length > 0) undoAll(cwd, changes)
    return { lines: hooked.lines, problems }
  } catch (error) {
    undoAll(cwd, changes)
    throw error
  }
}

function refuse(output: Output, problems: readonly string[]): ExitCode {
  for (const problem of problems) output.note(`assay: ${oneLine(problem, 500)}`)
  return 2
}

interface HookChanges {
  /** What changes, as a diff. */
  lines: string[]
  problems: string[]
}

/** Without an agent's name, taking out is for every hook of ours in the project's own settings; those that hold for other projects, too, stay. */
async function changeHooks(app: App, { terminal }: Output, flags: InitFlags, dryRun: boolean): Promise<HookChanges> {
  const { hook, remove = false } = flags
  const found: HookChanges = { lines: [], problems: [] }
  const put: string[] = []
  for (const agent of new Set(hook ?? (remove ? hookedAgents : []))) {
    const changed = await app.hook?.({ agent, folder: terminal.cwd, remove, dryRun, ...(hook === undefined && { onlyOfProject: true }) })
    if (changed?.ok === false) found.problems.push(changed.error)
    else found.lines.push(...(changed?.value ?? []))
    if (changed?.ok && changed.value.length > 0) put.push(agent)
  }
  // All that were asked for, or none.
  if (!remove && !dryRun && found.problems.length > 0)
    for (const agent of put) await app.hook?.({ agent, folder: terminal.cwd, remove: true, dryRun: false })
  return found
}

interface Plan extends Changes {
  template?: TemplateName
  survey?: Survey
  /** Sentences about what was chosen and why. */
  said: string[]
}

async function planned(app: App, { terminal }: Output, wanted: TemplateName | undefined, model: string | undefined): Promise<Plan> {
  const survey = await app.survey(terminal)
  const earlier = earlierTemplate(terminal.cwd)
  const chosen: Chosen<TemplateName> = wanted
    ? { what: wanted, why: 'as asked' }
    : earlier !== undefined && isTemplate(earlier)
      ? { what: earlier, why: 'as before' }
      : chooseTemplate(survey)
  const worker = chooseWorker(survey, model)
  const judge = chooseJudge(survey, worker?.what, model)
  const changes = additions(terminal.cwd, {
    [configFile]: sealed(chosen.what, configText(worker?.what, judge?.what)),
    [missionFile]: sealed(chosen.what, missionText(chosen.what, survey)),
  })
  const configured = changes.changes.some(({ path }) => path === configFile)
  const said = [`template ${chosen.what}: ${chosen.why}`, ...(configured ? [workerLine(worker), judgeLine(judge)] : [])]
  return { ...changes, template: chosen.what, survey, said }
}

function workerLine(worker: Chosen<BrainChoice> | undefined): string {
  if (worker) return `worker ${brainName(worker.what)}: ${worker.why}`
  return `worker: none found. ${configFile} says where to name one`
}

function judgeLine(judge: Chosen<BrainChoice> | undefined): string {
  if (judge) return `judges ${brainName(judge.what)}: ${judge.why}`
  return `judges: NONE. Work would end unreviewed; ${configFile} says what to fill in (a key such as ANTHROPIC_API_KEY, or an agent)`
}

const brainName = (brain: BrainChoice): string => (brain.kind === 'agent' ? brain.agent : `${brain.provider} ${brain.model}`)

/** Every change as a diff, on stderr: the data of this command is what became of it. */
async function show(output: Output, { changes, kept, said }: Plan, hook: readonly string[]): Promise<void> {
  for (const line of said) output.note(line)
  for (const { path, why } of kept) output.note(`${path}: ${why}`)
  for (const line of output.json ? [] : hook) output.note(paintDiff(output, marked(line)))
  if (output.json || changes.length === 0) return
  const { createTwoFilesPatch } = await import('diff')
  for (const { path, before, after } of changes) {
    const patch = createTwoFilesPatch(
      before === undefined ? '/dev/null' : `a/${path}`,
      after === undefined ? '/dev/null' : `b/${path}`,
      before ?? '',
      after ?? '',
    )
    const lines = patch.split('\n').slice(1, -1)
    output.page(['', ...lines.map((line) => paintDiff(output, line))].join('\n'))
  }
  output.note('')
}

function paintDiff(output: Output, line: string): string {
  if (/^(---|\+\+\+) /.test(line)) return output.paint('bold', line)
  return line.startsWith('+') ? output.paint('green', line) : line.startsWith('-') ? output.paint('red', line) : line
}

/** `unasked`: nobody is there to ask, and nobody said yes beforehand. */
async function mayWrite(app: App, output: Output, flags: InitFlags): Promise<'yes' | 'no' | 'unasked'> {
  if (flags.yes) return 'yes'
  if (output.json) return 'unasked'
  const answer = await app.ask(flags.remove ? 'Take this out?' : 'Write this?', output.terminal)
  return answer === undefined ? 'unasked' : answer ? 'yes' : 'no'
}

interface Outcome {
  plan: Plan
  remove: boolean
  waiting: boolean
  consent: 'yes' | 'no' | 'unasked'
  /** What was changed in an agent's settings. */
  hook: string[]
}

function tell(output: Output, { plan, remove, waiting, consent, hook }: Outcome): void {
  const { changes, kept, template, said } = plan
  const written = consent === 'yes'
  if (output.json) {
    const shown = changes.map(({ path, before, after }) => ({ path, action: actionOf({ before, after }), after: after ?? null }))
    output.jsonLine({ kind: remove ? 'init_removed' : 'init', written, template: template ?? null, said, changes: shown, kept, hook })
  } else if (written) {
    for (const change of changes) output.data(`${actionOf(change)}d ${change.path}`)
    for (const line of hook) if (/^\+\+\+ /.test(line)) output.data(`changed ${oneLine(line.slice(4), 500)}`)
  } else output.data(waiting ? 'nothing was written' : 'nothing to do')
  if (consent === 'unasked') output.note('assay: nobody is here to ask; --yes writes it, --dry-run only shows it')
  if (written && !remove) output.note('Next: assay doctor, then assay run mission.yaml')
}

function actionOf({ before, after }: Pick<Change, 'before' | 'after'>): 'create' | 'delete' | 'change' {
  return before === undefined ? 'create' : after === undefined ? 'delete' : 'change'
}
