import type { CheckSpec } from '../../../contract/check.ts'
import { excerpt } from '../../../contract/source/shown.ts'
import type { CheckContext } from '../../../ports/checks.ts'
import { contentOf } from './read.ts'
import { type Inside, openInside } from '../inside.ts'
import { checkJson } from '../json-schema/json-text.ts'
import { search } from '../pattern.ts'
import { broken, type CheckResult, failed, judged, passed } from '../result.ts'

type FileSpec = Extract<CheckSpec, { kind: 'file' }>

/** Looks at one file or folder of the work. Everything that the check asks for must hold. */
export async function checkFile(spec: FileSpec, context: CheckContext, maxFileBytes: number): Promise<CheckResult> {
  const subject = excerpt(spec.path)
  const found = await openInside(context.folder, spec.path)
  if (found.kind === 'bad_path') return broken(`${subject}: ${found.why}`)
  if (spec.exists === false) return await checkAbsence(spec, subject, found)
  if (found.kind === 'missing') return failed(`${subject}: it does not exist`)
  if (found.kind === 'refused') return failed(`${subject}: ${found.why}`)
  if (found.kind === 'folder') return asksForContent(spec) ? failed(`${subject}: it is a folder`) : passed(`${subject}: it exists`)
  const complaints = sizeComplaints(spec, found.size)
  if (spec.matches === undefined && spec.jsonSchema === undefined) {
    await found.handle.close()
    return judged(subject, complaints)
  }
  const content = await contentOf(found, maxFileBytes)
  if (!('text' in content)) return broken(`${subject}: ${content.why}`)
  const contents = contentComplaints(spec, content.text)
  return 'why' in contents ? broken(`${subject}: ${contents.why}`) : judged(subject, [...complaints, ...contents.complaints])
}

async function checkAbsence(spec: FileSpec, subject: string, found: Inside): Promise<CheckResult> {
  if (found.kind === 'file') await found.handle.close()
  if (asksForContent(spec))
    return broken(`${subject}: a file that must not exist cannot have a size or content; remove the other conditions`)
  return found.kind === 'missing' ? passed(`${subject}: it does not exist`) : failed(`${subject}: it exists, and must not`)
}

function asksForContent(spec: FileSpec): boolean {
  return [spec.matches, spec.jsonSchema, spec.minBytes, spec.maxBytes].some((condition) => condition !== undefined)
}

function sizeComplaints(spec: FileSpec, size: number): string[] {
  const complaints: string[] = []
  if (spec.minBytes !== undefined && size < spec.minBytes) complaints.push(`has ${size} bytes; at least ${spec.minBytes} are asked for`)
  if (spec.maxBytes !== undefined && size > spec.maxBytes) complaints.push(`has ${size} bytes; at most ${spec.maxBytes} are allowed`)
  return complaints
}

function contentComplaints(spec: FileSpec, text: string): { complaints: string[] } | { why: string } {
  const complaints: string[] = []
  if (spec.matches !== undefined) {
    const found = search(spec.matches, text)
    if (found.kind === 'not_found') complaints.push(`does not match ${excerpt(spec.matches)}`)
    else if (found.kind !== 'found') return { why: found.why }
  }
  if (spec.jsonSchema === undefined) return { complaints }
  const json = checkJson(spec.jsonSchema, text)
  return 'why' in json ? json : { complaints: [...complaints, ...json.complaints] }
}
