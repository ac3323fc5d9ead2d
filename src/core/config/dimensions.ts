import type { Dimension } from '../../contract/score.ts'
import type { Finding, Path } from '../../contract/source/problem.ts'
import { named } from '../../contract/source/shown.ts'
import { checkWeights } from '../score/score.ts'

/** Findings refuse the file; notices are told and the file is used. */
export interface Checked {
  findings: Finding[]
  notices: Finding[]
}

/** Names once each, weights that sum to 1 or are told to be normalised. */
export function checkDimensions(dimensions: readonly Dimension[], mode: 'normalise' | 'strict', path: Path): Checked {
  const checked: Checked = { findings: [], notices: [] }
  const seen = new Set<string>()
  for (const [index, { name }] of dimensions.entries()) {
    if (seen.has(name)) checked.findings.push({ path: [...path, index, 'name'], message: `the dimension ${named(name)} is there twice` })
    seen.add(name)
  }
  const weights = checkWeights(dimensions, mode)
  if (!weights.ok) checked.findings.push({ path, message: weights.message })
  else if (weights.notice !== undefined) checked.notices.push({ path, message: weights.notice })
  return checked
}
