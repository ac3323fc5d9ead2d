import type { Verdict } from '../../contract/verdict.ts'
import type { Expectations } from '../../core/verdict/read.ts'
import { acceptingVerdict, rejectingVerdict } from '../sample-verdict.ts'
import { type Answer, type Message, say, use } from './answers.ts'
import { callsMade, type ModelRequest, offeredTools, saidSinceLastCall, textOf } from './request.ts'
import type { Script } from './server.ts'

/**
 * A model that plays a part behind anybody who asks: Assay's own brains, and command-line agents, each with tools and prompts of its own.
 *
 *   startModelServer(puppet({ worker: (cue) => (cue.seen === undefined ? shell(cue, 'echo hello > core.txt') : handIn(cue, myCase)) }))
 */
export interface Play {
  worker?(cue: Cue): Answer
  judge?(cue: Cue): Answer
}

/** What a request wants of the model that plays. */
export interface Cue {
  request: ModelRequest
  /** Counts from 1: how often the work was done, or judged, before and with this one. */
  round: number
  /** What its tools have told in this round; undefined before the first. */
  seen: string | undefined
  /** Everything that the request says. */
  told: string
}

/** Answers in the roles that it knows; side questions of agents (a title, how hard a task is) get what their schema asks for. */
export function puppet(play: Play): Script {
  return (request) => {
    if (request.tools.length === 0) return aside(request)
    const cue = cueOf(request)
    const part = cue.told.includes('# Your answer\n') ? play.judge : play.worker
    if (part === undefined) throw new Error(`nobody plays this part: ${cue.told.slice(-200)}`)
    return part(cue)
  }
}

function cueOf(request: ModelRequest): Cue {
  const told = textOf(request)
  const calls = callsMade(request)
  const before = [...told.matchAll(/^(?:- attempt|# Feedback on attempt) (\d+)\b/gm)].map(([, attempt]) => Number(attempt))
  const handedIn = calls.filter((name) => name === 'submit_case').length
  const acted = calls.length > 0 && calls.at(-1) !== 'submit_case'
  return { request, round: 1 + Math.max(handedIn, ...before), seen: acted ? saidSinceLastCall(request) : undefined, told }
}

/** Runs a shell script with whatever tool there is for it. */
export function shell({ request }: Cue, script: string): Message {
  const found = toolWith(request, ['run', 'Bash', 'exec_command', 'run_shell_command', 'bash'], ['argv', 'command', 'cmd'])
  const more = found.properties.includes('description') ? { description: 'Does the work.' } : {}
  return use(found.name, { [found.key]: found.key === 'argv' ? ['sh', '-c', script] : script, ...more })
}

/** Looks at a file of the work under review. */
export function look(cue: Cue, path: string): Message {
  const folder = /^The files of the work are in (.+), for reading only;/m.exec(cue.told)?.[1]
  const place = folder === undefined ? path : `${folder}/${path}`
  if (cue.request.tools.includes('exec_command')) return shell(cue, `cat '${place}'`)
  const { name, key } = toolWith(cue.request, ['read_file', 'Read', 'read'], ['path', 'file_path', 'filePath', 'absolute_path'])
  return use(name, { [key]: place })
}

/** Hands in a case: by Assay's tool where there is one, else at the end of the last message. */
export function handIn({ request }: Cue, case_: object): Message {
  if (request.tools.includes('submit_case')) return use('submit_case', case_)
  return say(`I am done.\n\n\`\`\`json\n${JSON.stringify(case_)}\n\`\`\``)
}

/** What a judge that plays a part has to say; the rest follows from what it is asked. */
export interface Ruling extends Partial<Pick<Verdict, 'concern' | 'next_step' | 'rejection_category'>> {
  verdict: 'accept' | 'reject'
  /** Stands behind every answer. */
  evidence: string[]
  /** Ids of criteria that are not met. */
  unmet?: string[]
}

/** Gives a verdict by tool where there is one for it, else as the whole message. */
export function rule(cue: Cue, { unmet = [], ...ruling }: Ruling): Message {
  const { request } = cue
  const { evidence } = ruling
  const plain = (ruling.verdict === 'accept' ? acceptingVerdict : rejectingVerdict)(askedIn(cue.told), ruling)
  const verdict: Verdict = {
    ...plain,
    prior: plain.prior.map((answer) => ({ ...answer, addressed: unmet.length === 0 ? 'yes' : 'no', evidence })),
    criteria: plain.criteria.map((answer) => ({ ...answer, met: unmet.includes(answer.id) ? 'no' : 'yes', evidence })),
  }
  const tool = ['submit_verdict', 'StructuredOutput'].find((name) => request.tools.includes(name))
  if (tool === undefined) return say(JSON.stringify(verdict))
  // Its answer has been taken; the agent only wants to hear that there is nothing more.
  return callsMade(request).at(-1) === tool ? say('Done.') : use(tool, verdict)
}

/** What a judge is asked about, as the end of the question says it. */
function askedIn(told: string): Expectations {
  const contract = told.slice(told.lastIndexOf('# Your answer\n'))
  const list = (field: string): string[] => {
    const names = new RegExp(`^${field}: one entry for each of \\[(.*)\\]:`, 'm').exec(contract)?.[1] ?? ''
    return names === '' ? [] : names.split(', ')
  }
  return {
    nonce: /^nonce: "(.*)"$/m.exec(contract)?.[1] ?? '',
    criteria: list('criteria').map((id) => ({ id, text: '', hard: true })),
    dimensions: list('dimensions').map((name) => ({ name, weight: 1, description: '' })),
    points: list('prior').map((ref) => ({ ref, source: 'judge', from: '', text: '' })),
    form: 'structured',
  }
}

function toolWith(request: ModelRequest, names: readonly string[], keys: readonly string[]) {
  const offered = offeredTools(request.dialect, request.json).find(({ name }) => names.includes(name))
  const properties = Object.keys((offered?.schema as { properties?: object } | undefined)?.properties ?? {})
  const key = keys.find((one) => properties.includes(one))
  if (offered === undefined || key === undefined) throw new Error(`no tool of ${names.join(', ')} among ${request.tools.join(', ')}`)
  return { name: offered.name, key, properties }
}

/** A side question wants a few words, or an object of numbers and words. */
function aside({ json }: ModelRequest): Message {
  const config = json.generationConfig as { responseJsonSchema?: { properties?: Record<string, { type?: string }> } } | undefined
  const wanted = Object.entries(config?.responseJsonSchema?.properties ?? {})
  if (wanted.length === 0) return say('A small task')
  return say(
    JSON.stringify(Object.fromEntries(wanted.map(([name, { type }]) => [name, /^(?:INTEGER|NUMBER)$/i.test(type ?? '') ? 1 : 'small']))),
  )
}
