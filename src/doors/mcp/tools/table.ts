import type { Role } from '../role.ts'
import type { Tool } from '../tool.ts'
import { delegationTools } from './delegation.ts'
import { deliverableTools } from './deliverable.ts'
import { ownerTools } from './owner.ts'
import { reviewerTools } from './reviewer.ts'
import { workerTools } from './worker.ts'

/** Every tool of every role, in the order in which clients see them. */
export const allTools: readonly Tool[] = [...workerTools, ...delegationTools, ...deliverableTools, ...reviewerTools, ...ownerTools]

export function toolsOf(role: Role): Tool[] {
  return allTools.filter((tool) => tool.role === role)
}
