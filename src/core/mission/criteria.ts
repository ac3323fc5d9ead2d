import type { CriterionEntry } from '../../contract/mission/mission.ts'
import type { Finding, Path } from '../../contract/source/problem.ts'
import { named } from '../../contract/source/shown.ts'
import type { Criterion } from '../../contract/task.ts'

/** Criteria with their ids: their own, or `AC` and their place in the list. */
export function criteriaOf(entries: readonly CriterionEntry[]): Criterion[] {
  return entries.map((entry, index) => {
    const id = `AC${index + 1}`
    return typeof entry === 'string' ? { id, text: entry, hard: true } : { id: entry.id ?? id, text: entry.text, hard: entry.hard }
  })
}

/** A case answers criteria by id or by text, so no two may share either. */
export function criteriaFindings(entries: readonly CriterionEntry[], path: Path): Finding[] {
  const findings: Finding[] = []
  const criteria = criteriaOf(entries)
  const byId = new Map<string, number>()
  for (const [index, { id }] of criteria.entries()) {
    const earlier = byId.get(id)
    if (earlier === undefined) byId.set(id, index)
    else
      findings.push({
        path: [...path, index],
        message: `the criterion id ${named(id)} is that of criterion ${earlier + 1}, too`,
        fix: 'give one of them another `id`',
      })
  }
  const texts = new Set<string>()
  for (const [index, { text }] of criteria.entries()) {
    const other = byId.get(text)
    if (texts.has(text)) findings.push({ path: [...path, index], message: `the criterion ${named(text)} is there twice` })
    else if (other !== undefined && other !== index)
      findings.push({ path: [...path, index], message: `the criterion reads like the id of criterion ${other + 1}: ${named(text)}` })
    texts.add(text)
  }
  return findings
}
