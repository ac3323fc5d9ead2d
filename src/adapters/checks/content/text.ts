import type { CheckSpec } from '../../../contract/check.ts'
import { excerpt } from '../../../contract/source/shown.ts'
import type { CheckContext } from '../../../ports/checks.ts'
import { readContent } from './read.ts'
import { search } from '../pattern.ts'
import { broken, type CheckResult, failed, judged } from '../result.ts'

type TextSpec = Extract<CheckSpec, { kind: 'text' }>

/** Looks for texts in a file of the work or in what the worker printed. */
export async function checkText(spec: TextSpec, context: CheckContext, maxFileBytes: number): Promise<CheckResult> {
  if (spec.contains === undefined && spec.absent === undefined && spec.regex === undefined) {
    return broken('the check asks for nothing; give it `contains`, `absent` or `regex`')
  }
  const subject = spec.path === undefined ? 'the output' : excerpt(spec.path)
  const content = spec.path === undefined ? { text: context.output } : await readContent(context.folder, spec.path, maxFileBytes)
  if (!('text' in content)) return content.fault === 'check' ? broken(`${subject}: ${content.why}`) : failed(`${subject}: ${content.why}`)
  const { text } = content
  const complaints = [
    ...(spec.contains ?? []).filter((wanted) => !text.includes(wanted)).map((wanted) => `does not contain "${excerpt(wanted)}"`),
    ...(spec.absent ?? []).filter((unwanted) => text.includes(unwanted)).map((unwanted) => `contains "${excerpt(unwanted)}"`),
  ]
  if (spec.regex !== undefined) {
    const found = search(spec.regex, text)
    if (found.kind === 'not_found') complaints.push(`does not match ${excerpt(spec.regex)}`)
    else if (found.kind !== 'found') return broken(`${subject}: ${found.why}`)
  }
  return judged(subject, complaints)
}
