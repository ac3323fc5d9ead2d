import { OperatorAnswer } from '../../../contract/events/task.ts'
import { whyWithdrawn } from '../../../engine/gates/withdrawn.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { RequestRow } from '../../../engine/requests.ts'
import { notTheOwner } from '../owner.ts'
import type { App, ExitCode } from '../app.ts'
import { oneLine, type Output } from '../output.ts'
import type { ConfigFlags } from '../project.ts'
import { table } from '../render/table.ts'
import { isNamed, latestBytes, workBytes } from './deliverable/bytes.ts'
import { openExisting } from './run.ts'
import { withTask } from './task.ts'

/** `assay requests`: what waits for a person, and the answers that each question takes. */
export async function requestsCommand(app: App, output: Output, flags: ConfigFlags): Promise<ExitCode> {
  const opened = await openExisting(app, output, flags)
  if (typeof opened === 'number') return opened
  try {
    const requests = await opened.engine.requests()
    if (output.json) for (const request of requests) output.jsonLine(request)
    else if (requests.length === 0) output.note('Nothing waits for a person.')
    else {
      const rows = requests.map(({ request, answers, title, detail }) => [
        request,
        answers.join(', '),
        oneLine(title, 40),
        oneLine(detail, 200),
      ])
      output.data(table(['request', 'answers', 'about', 'why'], rows, output.columns))
      output.note('Answer with: assay requests answer <request> <answer> --reason <text>, then assay resume')
    }
    return 0
  } finally {
    await opened.engine.close()
  }
}

export interface AnswerFlags extends ConfigFlags {
  reason?: string
}

/** `assay requests answer`: the owner's word, recorded with who gave it and why. */
export async function answerCommand(app: App, output: Output, request: string, answer: string, flags: AnswerFlags): Promise<ExitCode> {
  const parsed = OperatorAnswer.safeParse(answer)
  if (!parsed.success) return say(output, `${answer} is no answer; there are ${OperatorAnswer.options.join(', ')}`)
  const authority = await app.authority(output.terminal)
  if (!authority.ok) return say(output, authority.message)
  const opened = await openExisting(app, output, flags)
  if (typeof opened === 'number') return opened
  const { engine } = opened
  try {
    if (!(await engine.isOwner(authority.token))) return say(output, notTheOwner)
    const open = await engine.requests()
    const found = findRequest(open, request)
    if (!found)
      return say(
        output,
        (await whyWithdrawn(engine.parts.journal, request)) ??
          `there is no open request ${request}; ${open.length === 0 ? 'nothing waits' : `open: ${open.map((one) => one.request).join(', ')}`}`,
      )
    if (!found.answers.includes(parsed.data))
      return say(output, `${answer} is no answer to ${found.request}; possible: ${found.answers.join(', ')}`)
    const answered = await engine.answer({ request: found, answer: parsed.data, by: authority.by, reason: flags.reason ?? '' })
    if (!answered.ok) return say(output, answered.error.message)
    if (output.json) output.jsonLine({ kind: 'answered', request: found.request, answer, by: authority.by, events: answered.value })
    else output.data(`${found.request}: ${answer} by ${authority.by}`)
    if (found.about === 'deliverable' && answer === 'accept')
      output.note(`WARN: ${authority.by} waived the review of ${found.subject}; its card stays marked UNREVIEWED`)
    if (answer === 'waive')
      output.note(`WARN: ${authority.by} waived the ${found.about} ${found.subject}: ${oneLine(flags.reason ?? '', 300)}`)
    if (!output.json) output.note(`Next: ${await nextAfter(engine, found)}`)
    return 0
  } finally {
    await engine.close()
  }
}

/** What to do after the owner's word: carry out what it sets going, where it does. */
async function nextAfter(engine: Engine, { about, subject }: Pick<RequestRow, 'about' | 'subject'>): Promise<string> {
  if (about === 'deliverable') return `assay why ${subject}`
  const mission = subject.slice(0, subject.indexOf('/'))
  const isOpen = (await engine.missions()).some(({ id, finished }) => id === mission && finished === undefined)
  return isOpen ? `assay resume ${mission}` : `assay mission show ${mission}`
}

/** By its whole name, or by the end of it where that is enough. */
function findRequest(open: readonly RequestRow[], wanted: string): RequestRow | undefined {
  const exact = open.find(({ request }) => request === wanted)
  const ending = open.filter(
    ({ request, subject }) =>
      request.endsWith(`/${wanted}`) || request.endsWith(`:${wanted}`) || subject === wanted || subject.endsWith(`/${wanted}`),
  )
  return exact ?? (ending.length === 1 ? ending[0] : undefined)
}

/** `assay overrule`: the owner turns a decision, either way. */
export async function overruleCommand(
  app: App,
  output: Output,
  id: string,
  outcome: string,
  flags: AnswerFlags & { digest?: string },
): Promise<ExitCode> {
  if (outcome !== 'pass' && outcome !== 'fail') return say(output, `${outcome} is neither pass nor fail`)
  const authority = await app.authority(output.terminal)
  if (!authority.ok) return say(output, authority.message)
  return withTask(app, output, id, flags, async (engine, row, deliverable) => {
    const { by } = authority
    if (!(await engine.isOwner(authority.token))) return say(output, notTheOwner)
    const bytes = deliverable === undefined ? await workBytes(engine, row.id) : await latestBytes(engine, deliverable)
    if (flags.digest !== undefined && !isNamed(bytes, flags.digest))
      return say(output, `--digest ${flags.digest} is not the work that would be overruled: that is ${bytes?.words ?? 'none yet'}`)
    const handled = await engine.handle(row.id, { type: 'overrule_task', outcome, by, reason: flags.reason ?? '' }, by)
    if (!handled.ok) return say(output, handled.error.message)
    const about = bytes ? `, for ${bytes.words}` : ''
    output.note(`WARN: ${by} overruled the decision on ${deliverable ?? row.id} to ${outcome}${about}: ${oneLine(flags.reason ?? '', 300)}`)
    const digest = bytes && { digest: bytes.digest, size: bytes.size, brought: bytes.at }
    if (output.json)
      output.jsonLine({ kind: 'overruled', task: row.id, ...(deliverable !== undefined && { deliverable }), outcome, by, ...digest })
    else output.data(`${deliverable ?? row.id}: overruled to ${outcome} by ${by}${about}`)
    const next = await nextAfter(engine, { about: 'task', subject: row.id })
    output.note(`Next: ${deliverable === undefined ? next : `${next}, then assay why ${deliverable}`}`)
    return 0
  })
}

function say(output: Output, message: string): ExitCode {
  output.note(`assay: ${message}`)
  return 2
}
