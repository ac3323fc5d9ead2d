import { z } from 'zod'
import { Case } from '../../../../contract/case.ts'

export const caseTool = 'submit_case'

/** JSON Schema of a case, as every provider takes it. */
export function caseSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(Case, { io: 'input' }) as Record<string, unknown>
  return schema
}
