import { z } from 'zod'
import { Case, unfilled } from '../../contract/case.ts'

/** What a worker may propose besides its work. */
export interface MayPropose {
  /** Tasks in one case; none are spoken of where it is 0. */
  most: number
  /** Agents that they may be for. */
  to: readonly string[]
}

interface Node {
  type?: string
  description?: string
  enum?: readonly string[]
  maxLength?: number
  maxItems?: number
  items?: Node
  properties?: Record<string, Node>
  required?: string[]
}

let known: Node | undefined

/** Agents that are named one by one. */
const mostNamed = 50

/** How a case is to be made, as its schema has it: a field that is added there is told here. */
export function caseContract(propose: MayPropose): string {
  known ??= z.toJSONSchema(Case, { io: 'input' }) as Node
  const told = bounded(known, propose)
  return `When you are done, submit a case: one JSON object of this shape
${JSON.stringify(shapeOf(told))}
${fieldsOf(told, '').join('\n')}
What is not required may be left out. Cover every criterion by its id. An independent panel judges the work itself, not your words: argue honestly, not persuasively.`
}

/** The schema with the bounds of this task. */
function bounded(whole: Node, { most, to }: MayPropose): Node {
  const { delegations, ...rest } = whole.properties ?? {}
  if (most === 0 || delegations === undefined) return { ...whole, properties: rest }
  const { to: agent, ...others } = delegations.items?.properties ?? {}
  const named = to.length <= mostNamed ? { ...agent, enum: to } : agent
  const items = { ...delegations.items, properties: { ...(named && { to: named }), ...others } }
  return {
    ...whole,
    properties: { ...rest, delegations: { ...delegations, maxItems: Math.min(most, delegations.maxItems ?? most), items } },
  }
}

function shapeOf({ type, items, properties }: Node): unknown {
  if (properties) return Object.fromEntries(Object.entries(properties).map(([name, node]) => [name, shapeOf(node)]))
  return type === 'array' ? [shapeOf(items ?? {})] : unfilled
}

function fieldsOf({ properties = {}, required = [] }: Node, indent: string): string[] {
  return Object.entries(properties).flatMap(([name, node]) => {
    const { description = '', enum: choice, maxLength, maxItems, items } = node
    const bounds = [
      required.includes(name) && 'required',
      choice !== undefined && `one of ${choice.join(', ')}`,
      maxLength !== undefined && `at most ${maxLength} characters`,
      maxItems !== undefined && `at most ${maxItems}`,
    ].filter((bound) => bound !== false)
    const line = `${indent}- ${name}${bounds.length > 0 ? ` (${bounds.join(', ')})` : ''}: ${description}`
    return [line, ...fieldsOf(items ?? {}, `${indent}  `)]
  })
}
