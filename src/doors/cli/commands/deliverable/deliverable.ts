import { sourceWords } from '../../../../contract/deliverable/change.ts'
import { CardRequest, type GateRefusal } from '../../../../contract/deliverable/deliverable.ts'
import { type DeliverableStanding, deliverableStanding } from '../../../../engine/deliverables/look.ts'
import { deliverableReview } from '../../../../engine/deliverables/review.ts'
import type { App, ExitCode } from '../../app.ts'
import { oneLine, type Output } from '../../output.ts'
import type { ConfigFlags } from '../../project.ts'
import { againstBar } from '../../report/report.ts'
import { table } from '../../render/table.ts'
import { isBroken } from '../run.ts'
import { withEngine } from '../task.ts'
import { shortName } from './inbox.ts'
import { say } from './owner.ts'
import { cardWords, headWords, standingWords } from './words.ts'
import { textOrder } from '../../../../contract/canonical.ts'

export interface ListFlags extends ConfigFlags {
  producer?: string
  limit?: string
}

const mostListed = 100

/** `assay deliverable list`: the latest version of each, newest first. */
export async function deliverablesCommand(app: App, output: Output, flags: ListFlags): Promise<ExitCode> {
  const limit = flags.limit === undefined ? mostListed : Number(flags.limit)
  if (!Number.isInteger(limit) || limit < 1) return say(output, `--limit ${flags.limit} is no number of deliverables`)
  return withEngine(app, output, flags, async (engine) => {
    const all = (await engine.deliverables()).filter(({ producer }) => flags.producer === undefined || producer === flags.producer)
    const rows = all.sort((one, other) => textOrder(other.at, one.at)).slice(0, limit)
    const shown = []
    for (const row of rows) shown.push({ ...row, verdict: (await deliverableReview(engine, row.deliverable))?.verdict ?? 'PENDING' })
    if (output.json) for (const row of shown) output.jsonLine(row)
    else if (shown.length === 0) output.note('No deliverables yet: assay review … --deliverable <id> brings one.')
    else {
      const cells = shown.map(({ verdict, kind, submission, producer, deliverable, title }) => [
        verdict,
        deliverable,
        kind,
        `v${submission}`,
        producer,
        title,
      ])
      output.data(table(['verdict', 'id', 'kind', '', 'producer', 'title'], cells, output.columns))
      if (all.length > rows.length) output.note(`${all.length - rows.length} older ones are not shown (--limit).`)
    }
    return 0
  })
}

/** `assay deliverable show <id>`: the latest version, its review, what the gate would say, its cards. */
export async function deliverableCommand(app: App, output: Output, id: string, flags: ConfigFlags): Promise<ExitCode> {
  return withEngine(app, output, flags, async (engine) => {
    const standing = await deliverableStanding(engine, id, (source) => app.digestNow(source, engine))
    if (!standing) return say(output, unknown(id))
    if (output.json) output.jsonLine({ kind: 'deliverable', ...standing })
    else for (const line of standingLines(output, standing)) output.data(line)
    return 0
  })
}

export const unknown = (id: string): string => `there is no deliverable ${id}; assay deliverable list shows them`

function standingLines(output: Output, { state, review, gate, cards }: DeliverableStanding): string[] {
  const { latest, bypasses, producer, deliverable, request } = state
  const passes = gate.outcome.kind === 'allowed'
  const { outcome } = gate
  return [
    `${output.paint('bold', oneLine(latest.title))}  ${output.paint(review?.verdict === 'PASS' ? 'green' : 'yellow', review?.verdict ?? 'PENDING')}`,
    `id        ${deliverable}  ${latest.kind}, version ${latest.submission}, by ${producer}`,
    `content   ${latest.digest}`,
    ...(latest.source === undefined ? [] : [`source    ${oneLine(sourceWords(latest.source), 400)}`]),
    ...(latest.expires === undefined ? [] : [`counts    until ${latest.expires}`]),
    ...(review
      ? [
          `score     ${againstBar(review.score, review.bar)}, try ${review.attempt} of ${review.allowed}, judges ${review.judges.join(', ') || 'none'}`,
        ]
      : []),
    ...(review && review.feedback !== '' ? [`feedback  ${oneLine(review.feedback, 600)}`] : []),
    ...bypasses.map((one) => `bypass    by ${oneLine(one.by, 60)} until ${one.until} for ${one.digest}: ${oneLine(one.reason, 300)}`),
    ...(request ? [`asks you  ${request.request}: accept, fail`] : []),
    `gate      ${passes ? output.paint('green', `open: ${standingWords(outcome.kind === 'allowed' ? outcome.card : {})}`) : `shut: ${outcome.kind === 'refused' ? outcome.message : ''}`}`,
    ...cards.slice(0, 5).map((card) => `card      ${shortName(card.card)} ${card.type} ${card.state} ${cardWords(card)}`),
    `next      assay ${passes ? 'deliverable send' : 'why'} ${deliverable}`,
  ]
}

export interface SendFlags extends ConfigFlags {
  producer?: string
  title?: string
  body?: string
  priority?: string
}

/** Who is refused for what he asked is told 2, for work that is not good enough 1, for want of a decision 3. */
const exitCodes: Partial<Record<GateRefusal | 'busy', ExitCode>> = {
  deliverable_unknown: 2,
  deliverable_missing: 2,
  type_reserved: 2,
  cannot_carry_deliverable: 2,
  already_sent: 2,
  needs_revision: 1,
  failed: 1,
  not_clean: 1,
  veto_stands: 1,
}

/** `assay deliverable send <id>`: a `report_ready` card, through the gate like any other. */
export async function sendCommand(app: App, output: Output, id: string, flags: SendFlags): Promise<ExitCode> {
  return withEngine(app, output, flags, async (engine) => {
    if (await isBroken(engine, output)) return 3
    const row = (await engine.deliverables()).find(({ deliverable }) => deliverable === id)
    const request = CardRequest.safeParse({
      type: 'report_ready',
      title: flags.title ?? row?.title ?? id,
      ...(flags.body !== undefined && { body: flags.body }),
      ...(flags.priority !== undefined && { priority: flags.priority }),
      metadata: { deliverableId: id },
    })
    if (!request.success) return say(output, request.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
    const from = flags.producer ?? row?.producer ?? 'producer'
    const sent = await engine.emitCard(request.data, { from, digestOf: (source) => app.digestNow(source, engine) })
    if (output.json) output.jsonLine({ kind: 'card', ...sent })
    if (!sent.ok) {
      output.note(`assay: REFUSED (${sent.code}): ${oneLine(sent.message, 600)}`)
      return exitCodes[sent.code] ?? 3
    }
    if (sent.bypass) output.note(`WARN: ${id} is handed over UNREVIEWED: ${sent.card.bypass?.by} waived its review`)
    if (!output.json) output.data(`${shortName(sent.card.card)}: ${headWords(sent.card)} is in the inbox, ${standingWords(sent.card)}`)
    return 0
  })
}
