import type { TaskDetail } from '../../../engine/task/detail.ts'
import type { GateRow } from '../../../engine/views/gates.ts'
import type { TaskRow } from '../../../engine/views/tasks.ts'
import { degradedWords } from '../render/event.ts'
import { stateWord } from '../render/task.ts'

/** Why something is as it is, from the answer down to what it rests on, and what to do next. */
export interface Explanation {
  id: string
  title: string
  state: string
  /** One sentence. */
  because: string
  /** What it rests on, most telling first. */
  chain: string[]
  /** The next command. */
  next: string
}

/** What is known of a task and of what stands before it. */
export interface TaskKnown {
  row: TaskRow
  detail: TaskDetail
  dependencies: readonly TaskRow[]
  /** What holds it up, from the dependency nearest to it down to the one that waits for no other. */
  blockers: readonly TaskRow[]
  /** Gates that it waits for. */
  gates: readonly GateRow[]
  /** Whether some process is at work on the journal right now. */
  busy: boolean
  /** In words, where the owner does not stand behind the policy that it is decided under. */
  unacceptedPolicy?: string
  /** Its deliverable, and why that is in the inbox or is not. */
  deliverable?: { id: string; state: string; because: string }
  /** Its ending is still to be shown to the owner. */
  owed?: true
}

/** Most lines of the chain: with title, reason and next command it is ten lines. */
const longestChain = 7

/** How far down a chain of waiting tasks anybody wants to read. */
const deepest = 20

/** Follows what is not done, and of that what ended badly first, to where the trouble begins. */
export function blockersOf(row: TaskRow, rows: ReadonlyMap<string, TaskRow>): TaskRow[] {
  const path: TaskRow[] = []
  for (let current = row; path.length < deepest; ) {
    const open = current.dependsOn.flatMap((id) => rows.get(id) ?? []).filter((one) => one.status !== 'done' && !path.includes(one))
    const next = open.find(({ status }) => status === 'failed' || status === 'held' || status === 'skipped') ?? open[0]
    if (next === undefined) break
    path.push(next)
    current = next
  }
  return path
}

/** Why a task is done, or is not. */
export function explainTask(known: TaskKnown): Explanation {
  const { row, detail } = known
  const { because, next } = reasons[row.status](known)
  const chain = [
    ...(isBlocked(row) ? known.blockers.slice(1) : []).map(
      (one) => `which waits for ${one.title} (${stateWord(one)}${one.detail ? `: ${one.detail}` : ''})`,
    ),
    ...(known.owed ? ['card: its ending is still to be shown to you; assay resume does that'] : []),
    ...(known.deliverable ? [deliverableLine(known.deliverable, row.id)] : []),
    ...(known.unacceptedPolicy === undefined ? [] : [`policy: ${known.unacceptedPolicy}`]),
    ...detail.requests.map(({ request, answers }) => `asks you: ${request} (${answers.join(', ')})`),
    ...detail.vetoes.map(({ criterion, judge }) => `veto: ${judge} found ${criterion} unmet`),
    ...(detail.degraded ? [`panel: quorum ${detail.degraded.quorum}, ${degradedWords}`] : []),
    ...detail.ledger.slice(-2).reverse().map(ledgerLine),
    ...(isOpenReview(row) ? detail.judges.map(({ judge, said }) => `judge ${judge}: ${said}`) : []),
    `attempts: ${detail.charged} of ${detail.allowed}, by ${row.assignee}; bar ${detail.bar}`,
  ]
  return {
    id: row.id,
    title: row.title,
    state: stateWord(row),
    because,
    chain: chain.slice(0, longestChain),
    next: known.owed ? 'assay resume' : next,
  }
}

/** A deliverable that has a name of its own is asked about by that. */
function deliverableLine({ id, state, because }: NonNullable<TaskKnown['deliverable']>, task: string): string {
  return `deliverable ${id}: ${state}, ${because} (assay ${id === task ? 'deliverable show' : 'why'} ${id})`
}

type Reason = Pick<Explanation, 'because' | 'next'>

const isBlocked = ({ status }: TaskRow): boolean => status === 'waiting' || status === 'skipped'
const isOpenReview = ({ status }: TaskRow): boolean => status === 'in_review' || status === 'held'

function ledgerLine({ entry, attempt, outcome, score, category, concern, source }: TaskDetail['ledger'][number]): string {
  const grade = score ? `, ${score.on100}/100` : ''
  return `decision ${entry}: attempt ${attempt} ${outcome === 'pass' ? 'passed' : 'rejected'} (${source}${grade}${category ? `, ${category}` : ''}): ${concern}`
}

const reasons: Record<TaskRow['status'], (known: TaskKnown) => Reason> = {
  waiting: whyWaiting,
  todo: ({ row, busy }) => ({
    because:
      row.attempt === 0
        ? 'it is ready, and no worker has taken it yet'
        : `attempt ${row.attempt} was sent back: ${row.concern ?? 'the next one has not begun'}`,
    next: onward(row, busy),
  }),
  running: ({ row, busy }) => ({ because: `${row.assignee} is at work on attempt ${row.attempt}`, next: onward(row, busy) }),
  checking: ({ row, busy }) => ({ because: `the checks of attempt ${row.attempt} run`, next: onward(row, busy) }),
  in_review: ({ row, busy }) => ({ because: seatsText(row), next: awaitedJudge(row) ?? onward(row, busy) }),
  held: whyHeld,
  done: whyDone,
  failed: ({ row, deliverable }) => ({
    because: row.detail ?? row.concern ?? 'it failed',
    next:
      row.outside && deliverable
        ? `assay overrule ${deliverable.id} pass --reason <why>`
        : row.mission === ''
          ? `assay ledger ${row.id}`
          : `assay mission retry ${row.mission} --reason <why>`,
  }),
  skipped: ({ row, blockers }) => ({
    because: row.detail ?? 'something before it ended badly',
    next: `assay ${blockers.length > 0 ? `why ${blockers.at(-1)?.id}` : `mission show ${row.mission}`}`,
  }),
}

/** Where no process is at work, nothing moves until one is started. */
function onward(row: TaskRow, busy: boolean): string {
  return busy ? `assay audit --follow --task ${row.id}` : `assay resume ${row.mission}`.trimEnd()
}

/** A judge that comes by itself; nobody can be started to bring its verdict. */
function awaitedJudge({ seats = [] }: TaskRow): string | undefined {
  const judge = seats.find(({ state }) => state === 'awaited')?.judge
  return judge === undefined ? undefined : `assay mcp --role reviewer --agent ${judge}`
}

function seatsText({ seats = [], attempt }: TaskRow): string {
  const said = seats.map(({ judge, state }) => `${judge} ${state}`).join(', ')
  return `attempt ${attempt} is before its judges${said === '' ? '' : `: ${said}`}`
}

function whyWaiting({ row, dependencies, blockers, gates, busy }: TaskKnown): Reason {
  const open = dependencies.filter(({ status }) => status !== 'done')
  const shut = gates.filter(({ status }) => status !== 'passed' && status !== 'waived')
  const parts = [
    ...open.map((one) => `${one.title} (${stateWord(one)})`),
    ...shut.map(({ name, status, reason }) => `gate ${name} (${status}${reason === undefined ? '' : `: ${reason}`})`),
  ]
  const because = parts.length === 0 ? 'what it waits for has landed: it is about to be ready' : `it waits for ${parts.join(', ')}`
  const root = blockers.at(-1)
  const asked = shut.find(({ request }) => request !== undefined)
  if (root) return { because, next: `assay why ${root.id}` }
  return { because, next: asked ? `assay requests answer ${asked.request} <retry, waive or stop> --reason <why>` : onward(row, busy) }
}

const held: Record<NonNullable<TaskRow['held']>, string> = {
  judge_unavailable: 'no judge could be reached; they are asked again while a process lives',
  unreadable: 'no judge gave a verdict that can be read',
  no_reviewer: 'other agents exist, but none of them may judge this work',
  budget: 'judging it would cost more than review.maxCost allows',
  exhausted_unscored: 'its attempts are used up, and no attempt was graded with its checks passing',
  escalated: 'its attempts are used up, and review.onExhausted asks you',
  stale_input: 'work that it builds on was opened again',
  operator: 'it waits for you',
}

/** Whoever handed it down has had its answer. */
const heldByCall = 'no judge could be reached, and whoever handed it down was told so: it waits for you'

function whyHeld({ row, detail, busy }: TaskKnown): Reason {
  const words = row.held === undefined ? 'it is held' : row.byCall && row.held === 'judge_unavailable' ? heldByCall : held[row.held]
  const because = row.detail === undefined || row.detail === '' ? words : `${words}: ${row.detail}`
  const [request] = detail.requests
  if (row.held === 'judge_unavailable' && request === undefined) return { because, next: busy ? onward(row, busy) : 'assay doctor --ping' }
  if (request) return { because, next: `assay requests answer ${request.request} <${request.answers.join(' or ')}> --reason <why>` }
  return { because, next: onward(row, busy) }
}

function whyDone({ row, detail }: TaskKnown): Reason {
  const score = row.score ? `${row.score.on100}/100 against a bar of ${detail.decidedBar}` : 'without a score'
  const [request] = detail.requests
  const answer = request && `assay requests answer ${request.request} <${request.answers.join(' or ')}> --reason <why>`
  switch (row.flag) {
    case 'clean':
      return { because: `its review passed: ${score}`, next: `assay ledger ${row.id}` }
    case 'below-threshold': {
      const concern = row.concern === undefined ? '' : `. ${row.concern}`
      return {
        because: `its attempts are used up, and it was accepted below the bar: ${score}${concern}`,
        next: answer ?? `assay overrule ${row.id} fail --reason <why>`,
      }
    }
    case 'owner-accepted':
      return { because: `the owner accepted it: ${score}`, next: `assay ledger ${row.id}` }
    default:
      return { because: 'it was accepted without anybody having judged it', next: answer ?? `assay overrule ${row.id} fail --reason <why>` }
  }
}
