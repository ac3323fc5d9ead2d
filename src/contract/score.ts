import { z } from 'zod'

/**
 * A score, exact and readable at once. `exact` is a reduced fraction on the 1–5 scale ("7/2"); every comparison uses it.
 * `on5` and `on100` are for people: cut to two decimals, never rounded up, so that a score below the bar never reads as the bar.
 */
export const Score = z.strictObject({
  exact: z.string().regex(/^\d+\/[1-9]\d*$/),
  on5: z.number(),
  on100: z.number(),
})
export type Score = z.infer<typeof Score>

/** A bar as somebody wrote it: a number up to 5 is on the 1–5 scale, a larger one on 0–100. Between 0 and 1 it is refused: nobody can tell which scale was meant. */
export const Bar = z
  .number()
  .max(100, 'a bar is at most 5 (scale 1–5) or 100 (scale 0–100)')
  .refine((bar) => bar <= 0 || bar >= 1, 'a bar between 0 and 1 fits neither scale: write it on 1–5 (3.0) or on 0–100 (60)')
  .refine((bar) => bar >= 0, 'a bar is not negative')
export type Bar = z.infer<typeof Bar>

/** One thing that judges score from 1 to 5. */
export const Dimension = z.strictObject({
  name: z.string().min(1).max(80).describe('Name of the dimension; judges answer by it.'),
  weight: z.number().positive().describe('Share of this dimension in the global score.'),
  description: z.string().min(1).describe('What the judge looks at.'),
  rubric: z
    .strictObject({ 1: z.string(), 2: z.string(), 3: z.string(), 4: z.string(), 5: z.string() })
    .partial()
    .optional()
    .describe('Text per level 1–5.'),
})
export type Dimension = z.infer<typeof Dimension>
