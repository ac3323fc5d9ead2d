import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withPrivateFolder } from '../../adapters/process/files/private-folder.ts'
import type { Config } from '../../contract/config/config.ts'
import { formatProblem } from '../../contract/source/problem.ts'
import type { Usage } from '../../contract/verdict.ts'
import { isReviewerRole } from '../../core/routing/organisation.ts'
import { readReply } from '../../core/verdict/read.ts'
import type { DiagnoseRequest, Finding } from '../../doors/cli/doctor/finding.ts'
import { judgeAnswer, judgeOpening, judgeTextForm } from '../../engine/prompts/text/judge.ts'
import type { JudgeEnding, JudgeQuestion } from '../../ports/brain.ts'
import { openBrain } from '../brains.ts'

/** Longest that one judge may take for the small question. */
const pingMs = 120_000

const work = { path: 'hello.txt', text: 'Hello.\n' }
const criterion = { id: 'AC1', text: 'hello.txt says hello', hard: true }
const dimension = { name: 'correctness', weight: 1, description: 'Does the file say hello?' }

/** Every brain that judges; with `ping`, each is asked one small question for real, which costs what a small question costs. */
export async function* pingFindings({ project, ping }: DiagnoseRequest): AsyncIterable<Finding> {
  if (!project.ok) return
  const { folder, project: loaded } = project.value
  const judges = judgeBrains(loaded.config)
  if (judges.length === 0 && Object.keys(loaded.config.agents).length > 0) {
    const fix = 'add an agent with the role reviewer to assay.yaml'
    yield { id: 'judge', state: 'none', detail: 'nobody is configured who could judge: work ends unreviewed', fix }
  }
  for (const name of judges) {
    const id = `judge.${name}`
    if (loaded.config.brains[name]?.kind === 'scripted') yield { id, state: 'none', detail: 'answers by a script: there is nobody to ask' }
    else if (!ping) yield { id, state: 'none', detail: 'not asked', fix: 'assay doctor --ping' }
    else yield { id, ...(await askJudge(name, folder, loaded.config)) }
  }
}

/** Brains of reviewers; where there are none, of everybody who could be asked in their place. */
function judgeBrains({ agents, brains }: Config): string[] {
  const members = Object.values(agents)
  const reviewers = members.filter(({ role }) => isReviewerRole(role))
  const judging =
    reviewers.length > 0 || members.length < 2
      ? reviewers
      : members.filter(({ brain, judges }) => brains[brain]?.kind !== 'command' || judges)
  return [...new Set(judging.map(({ brain }) => brain))].filter((name) => brains[name]?.kind !== 'outside')
}

async function askJudge(name: string, folder: string, config: Config): Promise<Omit<Finding, 'id'>> {
  const opened = openBrain(name, folder, config)
  if (!opened.ok) return { state: 'bad', detail: opened.error.map(formatProblem).join('; '), fix: 'assay config validate' }
  const kind = config.brains[name]?.kind
  const form = kind === 'model' || kind === 'agent' ? 'structured' : 'text'
  try {
    return await withPrivateFolder(async (own) => {
      const question = questionOf(form, own)
      return told(await opened.value.judge(question, AbortSignal.timeout(pingMs)), question)
    })
  } finally {
    await opened.value.close()
  }
}

function told(ending: JudgeEnding, question: JudgeQuestion): Omit<Finding, 'id'> {
  const fix = 'check the model’s name, the key and the network of this brain in assay.yaml'
  if (ending.kind === 'stopped') return { state: 'bad', detail: `no answer within ${pingMs / 1000} s`, fix }
  if (ending.kind === 'unavailable') return { state: 'bad', detail: `cannot be reached: ${ending.detail}`, fix }
  const read = readReply(ending.reply, question)
  const tokens = tokensOf(ending.usage)
  if (read.kind !== 'unreadable') return { state: 'ok', detail: `answers, and its verdict can be read${tokens}` }
  return { state: 'bad', detail: `answers, but its verdict cannot be read: ${read.reason}${tokens}`, fix: 'try another model' }
}

function tokensOf(usage: Usage | undefined): string {
  const { inputTokens, outputTokens } = usage ?? {}
  return inputTokens === undefined ? '' : ` (${inputTokens} tokens in, ${outputTokens ?? 0} out)`
}

/** A file that says hello, one criterion, one dimension. */
function questionOf(form: 'structured' | 'text', own: string): JudgeQuestion {
  const nonce = randomBytes(16).toString('hex')
  const answer = judgeAnswer
    .replace('{nonce}', nonce)
    .replace('{points}', '')
    .replace('{criteria}', criterion.id)
    .replace('{dimensions}', dimension.name)
  const prompt = [
    judgeOpening,
    '# Task: Say hello\nThis asks whether you can be reached and read; nothing hangs on it.',
    `# Criteria\n- ${criterion.id} (hard): ${criterion.text}`,
    `# Dimensions, each scored 1 to 5\n- ${dimension.name}: ${dimension.description}`,
    `# The work\n<<< ${nonce} FILE ${work.path}\n${work.text}>>> ${nonce}`,
    form === 'text' ? `${answer}\n${judgeTextForm}` : answer,
  ].join('\n\n')
  return {
    task: {
      id: 'doctor/say-hello',
      title: 'Say hello',
      description: '',
      assignee: 'doctor',
      criteria: [criterion],
      checks: [],
      dimensions: [dimension],
      bar: 60,
      dependsOn: [],
      priority: 1,
      workspace: { kind: 'scratch' },
      expectsDiff: false,
      depth: 0,
    },
    judge: 'doctor',
    instructions: undefined,
    review: 1,
    attempt: 1,
    seat: 0,
    round: 1,
    nonce,
    form,
    criteria: [criterion],
    dimensions: [dimension],
    points: [],
    prompt,
    snapshot: async () => {
      const copy = join(own, 'work')
      await mkdir(copy, { recursive: true })
      await writeFile(join(copy, work.path), work.text)
      return copy
    },
    reader: {
      files: () => Promise.resolve([{ path: work.path, size: Buffer.byteLength(work.text) }]),
      read: (path) => Promise.resolve(path === work.path ? Buffer.from(work.text) : undefined),
    },
  }
}
