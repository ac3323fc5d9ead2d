import { z } from 'zod'
import { Verdict } from '../../../contract/verdict.ts'
import { type Answer, answer, type Call, reads, refuse, refusedBy, shown, tool, writes } from '../tool.ts'

const Review = z.string().min(1).max(300).describe('Name of the review, as list_reviews shows it.')
const Text = z.strictObject({ text: z.string() })
/** Bytes of the work in one question; the rest is named and can be read. Clients cut answers that are much longer. */
const shownBytes = 48 * 1024

const Awaited = z.strictObject({
  review: z.string(),
  task: z.string(),
  title: z.string(),
  attempt: z.int(),
  because: z.string(),
  asked: z.string(),
  until: z.string().describe('After that the seat counts as unavailable.'),
})

/** Why a call may not see the work or answer for it; undefined where it shows the reviewer's token. A worker must not learn the nonce of its review. */
async function refusal({ session }: Pick<Call<unknown>, 'session'>): Promise<Answer<never> | undefined> {
  const authority = await session.world.authority()
  return authority.ok ? undefined : refuse('not_reviewer', authority.error)
}

/** Looks into the snapshot under review, and nowhere else. */
async function look(name: 'read_file' | 'list' | 'grep', { session, engine, input }: Call<{ review: string }>) {
  const refused = await refusal({ session })
  if (refused) return refused
  const { review, ...asked } = input
  const work = await engine.outside.work(review, session.agent)
  if (!work.ok) return refusedBy(work.error)
  const explorer = await session.world.explore(work.value.reader, work.value.nonce)
  return answer({ text: await explorer.answer(name, asked) })
}

const Prefix = z.string().max(4096).optional().describe('Only paths that begin so.')
const Glob = z.string().max(1000).optional().describe('Only paths that match, e.g. `src/**/*.ts`.')

const looking = [
  tool({
    name: 'list_reviews',
    role: 'reviewer',
    title: 'List what awaits your verdict',
    description: 'Reviews that wait for your verdict, in the order of their tasks.',
    input: z.strictObject({}),
    output: z.strictObject({ reviews: z.array(Awaited) }),
    hints: reads,
    handle: async ({ session, engine }) => answer({ reviews: await engine.outside.awaited(session.agent) }),
  }),
  tool({
    name: 'get_review_material',
    role: 'reviewer',
    title: 'Get the question',
    description:
      'Everything you judge by: the task, its criteria, the work, the worker’s case, what the checks said, prior feedback; and the form of the verdict. Work that does not fit is named: read it.',
    input: z.strictObject({ review: Review }),
    output: z.strictObject({ review: z.string(), prompt: z.string(), schema: z.record(z.string(), z.unknown()) }),
    hints: reads,
    handle: async ({ session, engine, input: { review } }) => {
      const refused = await refusal({ session })
      if (refused) return refused
      const bytes = Math.min(shownBytes, engine.parts.config.limits.promptBytes)
      const brief = await engine.outside.brief(review, session.agent, bytes)
      return brief.ok ? answer(brief.value) : refusedBy(brief.error)
    },
  }),
  tool({
    name: 'read_file',
    role: 'reviewer',
    title: 'Read a file of the work',
    description: 'Reads lines of one file of the work under review, numbered.',
    input: z.strictObject({
      review: Review,
      path: z.string().min(1).max(4096).describe('Path as `list` shows it.'),
      from: z.int().min(1).optional().describe('First line, from 1.'),
      lines: z.int().min(1).max(2000).optional().describe('How many lines.'),
    }),
    output: Text,
    hints: reads,
    handle: (call) => look('read_file', call),
  }),
  tool({
    name: 'list',
    role: 'reviewer',
    title: 'List the files of the work',
    description: 'Lists the files of the work under review with their sizes.',
    input: z.strictObject({ review: Review, prefix: Prefix, glob: Glob }),
    output: Text,
    hints: reads,
    handle: (call) => look('list', call),
  }),
  tool({
    name: 'grep',
    role: 'reviewer',
    title: 'Search the work',
    description: 'Finds lines that match a regular expression (RE2 syntax) in the files of the work under review.',
    input: z.strictObject({ review: Review, pattern: z.string().min(1).max(1000), prefix: Prefix, glob: Glob }),
    output: Text,
    hints: reads,
    handle: (call) => look('grep', call),
  }),
]

export const reviewerTools = [
  ...looking,
  tool({
    name: 'submit_verdict',
    role: 'reviewer',
    title: 'Give your verdict',
    description:
      'Records your verdict on one review, in the form that get_review_material gave. What cannot be read is recorded, too; you are asked once more then, under the name in `again`.',
    input: z.strictObject({ review: Review, verdict: shown(Verdict) }).meta({ required: ['review', 'verdict'] }),
    output: z.strictObject({
      outcome: z.enum(['graded', 'abstained', 'unreadable']),
      problem: z.string().optional().describe('What could not be read.'),
      again: z.string().optional().describe('Name under which the verdict is asked for once more.'),
    }),
    hints: writes,
    handle: async ({ session, engine, input: { review, verdict } }) => {
      const refused = await refusal({ session })
      if (refused) return refused
      const raw = typeof verdict === 'string' ? verdict : (JSON.stringify(verdict) ?? '')
      const taken = await engine.outside.verdict({ review, judge: session.agent, raw })
      if (!taken.ok) return refusedBy(taken.error)
      session.workOnTask(review)
      return answer(taken.value)
    },
  }),
]
