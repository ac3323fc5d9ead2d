import { resolve } from 'node:path'
import { hasExpired, type Statement } from '../../../contract/attest/statement.ts'
import { openStatement } from '../../../engine/audit/envelope.ts'
import { compareSubject, type SubjectReport } from '../../../engine/audit/subject.ts'
import type { App, ExitCode } from '../app.ts'
import { oneLine, type Output } from '../output.ts'
import { chosenKey, namedText } from '../audit/kept.ts'
import { termLines } from './terms.ts'

export interface VerifyFlags {
  subject?: string
  key?: string
  allowWarned?: boolean
}

/** `assay verify <file>`: needs the file and the public key, nothing else: no project, no network. */
export async function verifyAttestationCommand(app: App, output: Output, file: string, flags: VerifyFlags): Promise<ExitCode> {
  const keeping = await app.keeping(output.terminal)
  const text = namedText(output, file)
  if (!text.ok) return refused(output, text.error, 2)
  const key = chosenKey(output, keeping, flags.key)
  if (!key.ok) return refused(output, key.error, 2)
  const opened = openStatement(text.value, key.value, keeping.check)
  if (!opened.ok) return refused(output, `NOT VERIFIED: ${opened.error}`, 1)
  const statement = opened.value
  const compared = flags.subject === undefined ? undefined : await compareSubject(statement, resolve(output.terminal.cwd, flags.subject))
  if (compared && compared.problems.length > 0) {
    for (const problem of compared.problems) output.note(`  ${oneLine(problem, 400)}`)
    return refused(output, `NOT VERIFIED: the signature is good, but ${flags.subject} is not what it is about`, 1)
  }
  const { result } = statement.predicate
  const { assay } = statement.predicate
  const expired = assay !== undefined && hasExpired(assay, Date.now())
  const accepted = !expired && (result === 'PASSED' || (result === 'WARNED' && flags.allowWarned === true))
  if (output.json)
    output.jsonLine({
      kind: 'verified',
      result,
      accepted,
      ...(expired && { expired }),
      matching: compared?.matching ?? null,
      ...(compared?.beside && { beside: compared.beside }),
      statement,
    })
  else for (const line of lines(output, statement, expired, compared && { path: flags.subject ?? '', ...compared })) output.data(line)
  if (expired) output.note(`EXPIRED: the decision counted until ${oneLine(assay?.expires ?? '')}; what lies there now was not reviewed.`)
  if (!accepted && !expired && result === 'WARNED') output.note('It did not pass a review cleanly; --allow-warned lets that through.')
  return accepted ? 0 : 1
}

function refused(output: Output, message: string, code: ExitCode): ExitCode {
  if (output.json) output.jsonLine({ kind: 'refused', message })
  output.note(`assay: ${message}`)
  return code
}

function lines(
  output: Output,
  { subject, predicate }: Statement,
  expired: boolean,
  compared: ({ path: string } & Pick<SubjectReport, 'matching' | 'beside'>) | undefined,
): string[] {
  const { result, assay } = predicate
  const paint = result === 'FAILED' ? 'red' : result === 'WARNED' || expired ? 'yellow' : 'green'
  const judges = assay?.judges.map(({ judge, outcome, score }) => `${judge} ${outcome}${score ? ` ${score.on100}/100` : ''}`) ?? []
  return [
    `${output.paint(paint, `${result}${expired ? ', EXPIRED' : ''}`)}  the signature is good; it is about ${subject.length} ${subject.length === 1 ? 'thing' : 'things'}`,
    ...(compared
      ? [`subject   ${compared.path}: ${compared.matching} ${compared.matching === 1 ? 'file is' : 'files are'} exactly what was attested`]
      : []),
    ...(compared?.beside ? [`beside    ${compared.beside.join(', ')}: never part of what is reviewed, and not looked into`] : []),
    ...(assay
      ? [
          `${assay.kind.padEnd(9)} ${oneLine(assay.id)}: ${oneLine(assay.title)}`,
          `result    ${assay.flag}${assay.score ? `, score ${assay.score.on100}/100` : ', unscored'}, bar ${assay.bar}: ${oneLine(assay.why)}`,
          ...(assay.expires === undefined ? [] : [`counts    until ${oneLine(assay.expires)}`]),
          `judges    ${judges.length === 0 ? 'nobody reviewed it' : oneLine(judges.join(', '), 400)}`,
          `policy    ${oneLine(assay.policy)}${assay.policyAccepted === false ? ', NOT ACCEPTED by the owner' : ''}`,
          ...termLines(assay).map((line) => `differs   ${line}`),
          `journal   ${oneLine(assay.head.stream)}@${assay.head.version}, position ${assay.head.position}, ${assay.head.hash}`,
        ]
      : []),
  ]
}
