import { z } from 'zod'
import { Case } from '../../../../contract/case.ts'

export const caseTool = 'submit_case'

let known: Record<string, unknown> | undefined

/** JSON Schema of a case, as every provider takes it; made once. */
export function caseSchema(): Record<string, unknown> {
  if (known === undefined) {
    const { $schema, ...schema } = z.toJSONSchema(Case, { io: 'input' }) as Record<string, unknown>
    known = schema
  }
  return known
}
