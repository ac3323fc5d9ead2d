import { CardFlag, CardType } from '../../../../contract/deliverable/deliverable.ts'
import type { Engine } from '../../../../engine/engine.ts'
import { provenCards } from '../../../../engine/deliverables/inbox.ts'
import { rejectedElsewhere, type TurnedDown } from '../../../../engine/deliverables/turned-down.ts'
import type { CardState, InboxRow } from '../../../../engine/views/inbox.ts'
import type { App, ExitCode } from '../../app.ts'
import { oneLine, type Output } from '../../output.ts'
import type { ConfigFlags } from '../../project.ts'
import { table, wrap } from '../../render/table.ts'
import { withEngine } from '../task.ts'
import type { PolicyStanding } from '../../../../engine/policy/owner.ts'
import { policyWords } from '../../policy/words.ts'
import { say } from './owner.ts'
import { cardWords, caseWords, headWords, paintStanding, rejectedWords, saidWords } from './words.ts'

export interface InboxFlags extends ConfigFlags {
  state?: string
  type?: string
  flag?: string
  search?: string
  mission?: string
}

export const cardStates: readonly CardState[] = ['pending', 'handled', 'dismissed', 'expired']

/** `assay inbox`: what reached the owner, newest first; without `--state`, what is still open. */
export async function inboxCommand(app: App, output: Output, flags: InboxFlags): Promise<ExitCode> {
  const wrong = wrongFlag(flags)
  if (wrong !== undefined) return say(output, wrong)
  return withEngine(app, output, flags, async (engine) => {
    const all = await engine.inbox()
    const proven = await provenCards(
      engine.parts,
      all.filter((row) => isWanted(row, flags)),
    )
    if (proven.changed.length > 0) output.note(changedWords(proven.changed))
    const rows = proven.rows.filter((row) => isWanted(row, flags))
    if (output.json) for (const row of rows) output.jsonLine(row)
    else if (rows.length === 0)
      output.note(all.length === 0 ? 'The inbox is empty.' : `None of ${all.length} cards fits (--state all shows every one).`)
    else {
      const cells = rows.map((row) => [
        row.state,
        cardWords(row),
        shortName(row.card),
        row.priority === 'normal' ? row.type : `${row.type} (${row.priority})`,
        row.note ? `${headWords(row)}, with a note by ${oneLine(row.note.by, 60)} (not reviewed)` : headWords(row),
      ])
      // For a program nothing is cut: it has no width.
      const width = output.terminal.stdout.isTTY === true ? output.columns : Number.POSITIVE_INFINITY
      output.data(table(['state', 'stands', 'card', 'type', 'title'], cells, width))
      output.note('Look at one with: assay inbox show <card>')
    }
    return 0
  })
}

const mostNamed = 5

function changedWords(cards: readonly string[]): string {
  const more = cards.length > mostNamed ? ` and ${cards.length - mostNamed} more` : ''
  const named = cards.slice(0, mostNamed).map((card) => oneLine(card, 100))
  return `WARN: stored rows of the inbox were changed by hand (${named.join(', ')}${more}) and do not count; shown is what the events say: assay audit verify`
}

/** `assay inbox show <card>`. */
export async function cardCommand(app: App, output: Output, wanted: string, flags: ConfigFlags): Promise<ExitCode> {
  return withCard(app, output, wanted, flags, async (engine, card) => {
    const policy = await policyOf(engine, card)
    const elsewhere = card.deliverable === undefined ? [] : await rejectedElsewhere(engine, card.deliverable)
    const rejectedAs = elsewhere.map(({ deliverable }) => deliverable)
    if (output.json)
      output.jsonLine({ ...card, ...(policy && { policyAccepted: policy.accepted }), ...(rejectedAs.length > 0 && { rejectedAs }) })
    else for (const line of cardLines(output, card, policy, elsewhere)) output.data(line)
    return 0
  })
}

/** How the owner stands to the policy that the card's work was decided under; undefined for a card about no work. */
async function policyOf(engine: Engine, { task }: InboxRow): Promise<PolicyStanding | undefined> {
  const state = task === undefined ? undefined : await engine.task(task)
  return state && engine.policyStanding(state.policy)
}

/** Opens the engine and finds a card by its name, by the beginning of it, or by the deliverable or task that it is about. */
export async function withCard(
  app: App,
  output: Output,
  wanted: string,
  flags: ConfigFlags,
  use: (engine: Engine, card: InboxRow) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withEngine(app, output, flags, async (engine) => {
    const found = findCard(await engine.inbox(), wanted)
    if (typeof found === 'string') return say(output, found)
    const card = await engine.card(found.card)
    return card ? use(engine, card) : say(output, `the journal has no card ${found.card}: assay audit verify says what was changed`, 3)
  })
}

const shortest = 4

export function findCard(cards: readonly InboxRow[], wanted: string): InboxRow | string {
  const exact = cards.find(({ card }) => card === wanted)
  if (exact) return exact
  const beginning = wanted.length < shortest ? [] : cards.filter(({ card }) => card.startsWith(wanted))
  const about = cards.filter(({ deliverable, task, state }) => state === 'pending' && (deliverable === wanted || task === wanted))
  const fitting = beginning.length > 0 ? beginning : about
  const [first] = fitting
  if (first && fitting.length === 1) return first
  if (fitting.length === 0) return `there is no card ${wanted}; assay inbox --state all shows them`
  return `${wanted} could be ${fitting.map(({ card, type }) => `${card} (${type})`).join(' or ')}`
}

/** Names that nobody made for reading are shown by their beginning, which is enough to name them. */
export function shortName(card: string): string {
  return /^[0-9a-f]{8}[0-9a-f-]{12,}/.test(card) ? card.slice(0, 8) + (card.endsWith('-refused') ? '…-refused' : '') : card
}

function wrongFlag({ state, type, flag }: InboxFlags): string | undefined {
  if (state !== undefined && state !== 'all' && !cardStates.includes(state as CardState))
    return `--state ${state}: there are ${cardStates.join(', ')} and all`
  if (type !== undefined && !CardType.safeParse(type).success) return `--type ${type}: there are ${CardType.options.join(', ')}`
  if (flag !== undefined && !CardFlag.safeParse(flag).success) return `--flag ${flag}: there are ${CardFlag.options.join(', ')}`
  return undefined
}

function isWanted(row: InboxRow, { state = 'pending', type, flag, search, mission }: InboxFlags): boolean {
  const texts = [
    row.card,
    row.title,
    row.body,
    row.note?.title ?? '',
    row.note?.body ?? '',
    row.from,
    row.deliverable ?? '',
    row.task ?? '',
    row.about ?? '',
  ]
  const isOfMission = [row.task, row.about?.replace(/^[a-z]+\//, '')].some((one) => one === mission || one?.startsWith(`${mission}/`))
  return (
    (state === 'all' || row.state === state) &&
    (type === undefined || row.type === type) &&
    (flag === undefined || row.flag === flag) &&
    (search === undefined || texts.some((text) => text.toLowerCase().includes(search.toLowerCase()))) &&
    (mission === undefined || isOfMission)
  )
}

function cardLines(output: Output, card: InboxRow, policy: PolicyStanding | undefined, elsewhere: readonly TurnedDown[]): string[] {
  const { state, type, priority, from, at, closed, deliverable, task, digest, commits, bypass, request, judges } = card
  return [
    `${paintStanding(output, card)}  ${output.paint('bold', headWords(card))}`,
    `card         ${card.card}  ${type}, ${priority}, from ${from}, ${at}`,
    `state        ${state}${closed ? ` by ${oneLine(closed.by, 60)}, ${closed.at}: ${oneLine(closed.reason, 300)}` : ''}`,
    ...(deliverable === undefined ? [] : [`deliverable  ${deliverable}`]),
    ...(task === undefined ? [] : [`task         ${task}`]),
    ...(digest === undefined ? [] : [`content      ${digest}`]),
    ...(commits === undefined ? [] : [`commits      ${commits}`]),
    ...(policy && !policy.accepted ? [`policy       ${output.paint('yellow', policyWords(policy))}`] : []),
    ...elsewhere.map((one) => `rejected     ${output.paint('yellow', oneLine(rejectedWords(one), 400))}`),
    ...(judges.length === 0 ? [] : [`judges       ${judges.join(', ')}`]),
    ...(bypass ? [`bypass       by ${oneLine(bypass.by, 60)}: ${oneLine(bypass.reason, 400)}`] : []),
    ...saidLines(output, card),
    `next         ${nextOf(card, request)}`,
  ]
}

/** The runtime's own words; or those of an agent, each under a line that says whose they are. */
function saidLines(output: Output, { type, from, title, body, note }: InboxRow): string[] {
  const text = (words: string) => wrap(`  ${oneLine(words, 20_000)}`, output.columns, 2)
  const whose = from !== 'runtime' ? [output.paint('yellow', saidWords(from))] : type === 'report_ready' ? [caseWords] : []
  const ofCard = body === '' ? [] : [...whose, text(body)]
  const noted = note ? [...(note.title === title ? [] : [note.title]), ...(note.body === '' ? [] : [note.body])] : []
  const lines = [...ofCard, ...(note ? [output.paint('yellow', saidWords(note.by)), ...noted.map(text)] : [])]
  return lines.length === 0 ? [] : ['', ...lines, '']
}

function nextOf({ state, snapshot, card, task }: InboxRow, request: string | undefined): string {
  if (state !== 'pending') return task === undefined ? 'assay inbox' : `assay why ${task}`
  if (request !== undefined) return `assay requests answer ${request} <answer> --reason <why>`
  if (snapshot !== undefined) return `assay inbox export ${shortName(card)} --out <folder>, then assay inbox handle ${shortName(card)}`
  return `assay inbox handle ${shortName(card)}`
}
