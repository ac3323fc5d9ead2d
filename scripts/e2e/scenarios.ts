import { play } from '../../examples/failing-test/play.ts'
import { type Answer, failure, say } from '../../src/testing/model-server/answers.ts'
import { type Cue, handIn, look, type Play, shell } from '../../src/testing/model-server/puppet.ts'

/** What happened on stage. */
export interface Notes {
  /** How often the model was asked in a role: a fault behind a model that was never asked has not happened. */
  asked: Record<Scenario['role'], number>
  /** What judges were shown by their tools. */
  seen: string[]
}

/** What is left of a run. */
export interface Trace extends Notes {
  /** Oldest first. */
  events: { type: string; data: Record<string, unknown> }[]
  /** Subject lines of what was committed and accepted. */
  commits: string
}

export interface Scenario {
  name: string
  role: 'worker' | 'judge'
  play: Play
  /** Settings over those of the example, and the time that the agent has. */
  settings?: Record<string, Record<string, unknown>>
  timeout?: string
  /** Assay goes on by itself until it is stopped: it is, once it says this. */
  stopAt?: RegExp
  /** What is wrong; undefined where all is as it should be. */
  miss(trace: Trace): string | undefined
}

const usualTime = '3m'
const once = { review: { maxAttempts: 1 } }
const single = { review: { maxAttempts: 1, panel: { size: 1, quorum: 1 } }, limits: { judgeRetries: 0, heldReviewRetry: '1h' } }

const nothingDone = {
  summary: 'Everything is mended and tested.',
  ac_coverage: ['AC1', 'AC2', 'AC3'].map((criterion) => ({ criterion, pointer: 'lib/nothing.mjs:1' })),
}

/** Kills every process above the shell that belongs to the agent, and nobody else. */
const killAgent = `p=$PPID
while [ "$p" -gt 1 ] && grep -qz '^ASSAY_TASK=' "/proc/$p/environ"; do
  while read -r key value; do if [ "$key" = PPid: ]; then above=$value; fi; done < "/proc/$p/status"
  kill -KILL "$p"
  p=$above
done
sleep 60`

const hang = (): Answer => ({ ...say('Too late.'), delivery: { how: 'hang', before: 'headers' } })
const refuse = (): Answer => failure(400, {}, 'the model refuses this request')

/** Everything that each agent goes through. */
export const scenarios: Scenario[] = [
  {
    name: 'rejected for weak_test, reworked, accepted, committed',
    role: 'worker',
    play,
    miss: (trace) => bothRounds(trace),
  },
  {
    name: 'dies in the middle',
    role: 'worker',
    play: { ...play, worker: (cue) => shell(cue, killAgent) },
    settings: once,
    miss: failedWith('signal', 'exit', 'error'),
  },
  { name: 'hangs', role: 'worker', play: { ...play, worker: hang }, settings: once, timeout: '45s', miss: failedWith('timeout') },
  { name: 'its model refuses', role: 'worker', play: { ...play, worker: refuse }, settings: once, miss: failedWith('exit', 'error') },
  {
    name: 'asks a question',
    role: 'worker',
    play: { ...play, worker: () => say('Shall I mend the test or the code?') },
    settings: once,
    miss: failedWith('output'),
  },
  {
    name: 'reports success, having done nothing',
    role: 'worker',
    play: { ...play, worker: (cue) => handIn(cue, nothingDone) },
    settings: once,
    miss: (trace) => missing(trace, 'attempt.rejected', { category: 'acceptance_gap' }) ?? accepted(trace),
  },
  { name: 'rejects for weak_test, then accepts, having looked', role: 'judge', play, miss: (trace) => bothRounds(trace) ?? looked(trace) },
  {
    name: 'answers in prose',
    role: 'judge',
    play: { ...play, judge: () => say('Looks great! I would accept it. SCORE: 100') },
    settings: single,
    miss: (trace) => missing(trace, 'task.eval.unparsed', {}) ?? accepted(trace),
  },
  {
    name: 'its model refuses',
    role: 'judge',
    play: { ...play, judge: refuse },
    settings: single,
    stopAt: /held/i,
    miss: (trace) => missing(trace, 'task.held', { reason: 'judge_unavailable' }) ?? accepted(trace),
  },
  {
    name: 'hangs',
    role: 'judge',
    play: { ...play, judge: (cue) => (cue.seen === undefined ? look(cue, 'test/refused.test.mjs') : hang()) },
    settings: single,
    timeout: '45s',
    stopAt: /held/i,
    miss: (trace) => missing(trace, 'task.held', { reason: 'judge_unavailable' }) ?? accepted(trace),
  },
]

export function timeOf({ timeout = usualTime }: Scenario): string {
  return timeout
}

/** The same parts, with notes taken. */
export function watched({ worker, judge }: Play, notes: Notes): Play {
  return {
    ...(worker && {
      worker: (cue: Cue) => {
        notes.asked.worker += 1
        return worker(cue)
      },
    }),
    ...(judge && {
      judge: (cue: Cue) => {
        notes.asked.judge += 1
        if (cue.seen !== undefined) notes.seen.push(cue.seen)
        return judge(cue)
      },
    }),
  }
}

/** What is wrong with a run; undefined where all is as it should be. */
export function missIn(scenario: Scenario, trace: Trace): string | undefined {
  return trace.asked[scenario.role] === 0 ? 'the model behind the agent was never asked' : scenario.miss(trace)
}

function missing({ events }: Trace, type: string, data: Record<string, unknown>): string | undefined {
  const fits = events.some((event) => event.type === type && Object.entries(data).every(([key, value]) => event.data[key] === value))
  return fits ? undefined : `no ${type} ${JSON.stringify(data)}; there are ${[...new Set(events.map((event) => event.type))].join(', ')}`
}

function accepted({ events }: Trace): string | undefined {
  return events.some(({ type }) => /^task\.(?:accepted|force_accepted)$/.test(type)) ? 'it was accepted' : undefined
}

function failedWith(...failures: string[]): (trace: Trace) => string | undefined {
  return (trace) => {
    const failed = trace.events.find(({ type }) => type === 'attempt.failed')
    if (failed === undefined) return missing(trace, 'attempt.failed', {})
    if (!failures.includes(String(failed.data.failure)))
      return `attempt.failed as ${String(failed.data.failure)}: ${String(failed.data.detail)}`
    return accepted(trace)
  }
}

/** Rejected once for `weak_test`, then accepted and committed; else what was otherwise. */
export function bothRounds({ events, commits }: Pick<Trace, 'events' | 'commits'>): string | undefined {
  const decisions = events.flatMap(({ type, data }) => {
    if (type !== 'review.decided') return []
    const { outcome, category } = data.decision as { outcome: string; category: string | null }
    return [`${outcome} ${category}`]
  })
  if (decisions.join(', ') !== 'reject weak_test, pass null') {
    const why = events.flatMap(({ type, data }) => (/failed|rejected|error|held/.test(type) ? [`${type} ${JSON.stringify(data)}`] : []))
    return `the decisions are [${decisions.join(', ')}]; ${why.join('; ').slice(0, 2_000)}`
  }
  const [acceptance] = events.filter(({ type }) => type === 'task.accepted')
  if (acceptance?.data.flag !== 'clean') return `accepted as ${String(acceptance?.data.flag)}`
  return commits.includes('Mend the failing test') ? undefined : 'nothing was committed'
}

function looked({ seen }: Trace): string | undefined {
  const asked = [seen.some((text) => text.includes('assert.ok(error)')), seen.some((text) => text.includes('assert.throws'))]
  return asked.every(Boolean) ? undefined : `the judge did not see the test in ${asked.filter((one) => !one).length} of 2 rounds`
}
