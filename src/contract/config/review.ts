import { z } from 'zod'
import { Bar, Dimension } from '../score.ts'

/** Panel settings (SPEC §7). */
export const PanelSettings = z
  .strictObject({
    size: z.int().min(1).max(15).default(3).describe('Seats of a panel.'),
    quorum: z.int().min(1).max(15).default(2).describe('Graded principals that a decision needs.'),
    mode: z
      .enum(['escalate', 'full', 'curtail'])
      .default('escalate')
      .describe(
        '`escalate` asks two judges and more only while they leave doubt; `full` asks everyone; `curtail` stops once nothing can change.',
      ),
    outlierDistance: z
      .number()
      .positive()
      .default(1.5)
      .describe('Scores further than this from the lower median are set aside and kept as dissent.'),
    median: z.enum(['lower', 'midpoint']).default('lower').describe('Which median of an even number of scores counts.'),
    veto: z
      .enum(['evidence', 'off'])
      .default('evidence')
      .describe('Whether `met: no` on a hard criterion, with evidence that resolves, blocks acceptance.'),
    weights: z.enum(['equal', 'calibrated']).default('equal').describe("Whether judges' votes are weighted by calibration."),
  })
  .prefault({})
export type PanelSettings = z.infer<typeof PanelSettings>

export const defaultDimensions: Dimension[] = [
  { name: 'correctness', weight: 0.35, description: 'Does the work do what the task asks, without errors?' },
  { name: 'completeness', weight: 0.3, description: 'Is everything that the task and its criteria ask for there?' },
  { name: 'code_quality', weight: 0.2, description: 'Is the work clear, well built and fitting to what surrounds it?' },
  { name: 'edge_cases', weight: 0.15, description: 'Are limits, bad input and failure handled?' },
]

/** Everything under `review:` (SPEC §2–§8). */
export const ReviewSettings = z
  .strictObject({
    evaluate: z
      .boolean()
      .default(true)
      .describe('Whether judges review the work. Off ships unreviewed work, flagged so everywhere; checks still run.')
      .meta({ env: 'EVAL', flag: '--no-eval', flagSets: false, aliases: ['evaluate'] }),
    threshold: Bar.default(60)
      .describe('The bar: up to 5 on the 1–5 scale, above on 0–100 (60 = 3.0).')
      .meta({ env: 'EVAL_THRESHOLD', flag: '--eval-threshold', aliases: ['evalThreshold'], namesOn100: true }),
    maxAttempts: z
      .int()
      .min(1)
      .max(50)
      .default(2)
      .describe('Executions of a task before its honest end.')
      .meta({ flag: '--max-attempts', aliases: ['maxAttempts'] }),
    onUnreadable: z
      .enum(['rework', 'rejudge', 'hold', 'accept'])
      .default('rework')
      .describe('What a panel that nobody could read comes to. `accept` ends `unreviewed`.')
      .meta({ flag: '--fail-open', flagSets: 'accept', aliases: ['failOpenOnUnparsedEval'], aliasSets: 'accept' }),
    onExhausted: z
      .enum(['force-accept', 'escalate', 'fail'])
      .default('force-accept')
      .describe('What happens when the attempts are used up.'),
    forceAccept: z.enum(['last', 'best']).default('last').describe('Which attempt a force-accept takes.'),
    whenNoReviewer: z.enum(['accept', 'hold']).default('accept').describe('A solo agent: accept its work as unreviewed, or hold it.'),
    independence: z
      .enum(['agent', 'model', 'provider'])
      .default('agent')
      .describe('How far a judge must be from the worker: another agent, another model, another provider.'),
    weightSum: z.enum(['normalise', 'strict']).default('normalise').describe('What dimension weights that do not sum to 1 come to.'),
    maxCaseErrors: z
      .int()
      .min(1)
      .max(50)
      .default(3)
      .describe('Unreadable cases that a conversational worker may correct within one attempt.'),
    maxCheckRetries: z
      .int()
      .min(0)
      .max(50)
      .default(3)
      .describe('Failing checks that a conversational worker may correct within one attempt.'),
    maxMergeRetries: z.int().min(0).max(50).default(2).describe('Merge conflicts that go back uncharged.'),
    ledgerLimit: z.int().min(1).max(100).default(5).describe('Ledger entries that worker and judges see.'),
    maxCost: z
      .number()
      .positive()
      .optional()
      .describe('Most that judging a task or mission may cost, in US dollars; reached, the review is held before the call.')
      .meta({ flag: '--max-cost' }),
    canaries: z.number().min(0).max(1).default(0).describe('Share of reviews in which a known-bad control is slipped in.'),
    dimensions: z.array(Dimension).min(1).max(20).default(defaultDimensions).describe('What judges score from 1 to 5.'),
    panel: PanelSettings.describe('The panel.'),
  })
  .prefault({})
export type ReviewSettings = z.infer<typeof ReviewSettings>
