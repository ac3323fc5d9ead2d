import { createHash } from 'node:crypto'
import { createReadStream, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { outputSubject, type Statement } from '../../contract/attest/statement.ts'

export interface SubjectReport {
  /** Files that are exactly what was attested. */
  matching: number
  problems: string[]
  /** What lies in the folder and is never part of what is reviewed: not looked into. */
  beside?: string[]
}

/** Of the folder itself, and of it alone: version control and Assay's own state. Deeper down they are files as any other. */
const neverReviewed = new Set(['.git', '.assay'])
const maxFiles = 200_000
const maxProblems = 50

/** Holds a file, or a folder with everything in it, against what an attestation is about. Links are not followed. */
export async function compareSubject(statement: Statement, path: string): Promise<SubjectReport> {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return { matching: 0, problems: [`there is no ${path}`] }
  if (stat.isFile()) return compareFile(statement, path)
  if (stat.isDirectory()) return compareFolder(statement, path)
  return { matching: 0, problems: [`${path} is neither a file nor a folder`] }
}

async function compareFile({ subject }: Statement, path: string): Promise<SubjectReport> {
  const hex = await sha256Of(path)
  if (subject.some(({ digest }) => digest?.sha256 === hex)) return { matching: 1, problems: [] }
  return { matching: 0, problems: [`${path} (sha256 ${hex}) is none of the ${subject.length} things that were attested`] }
}

async function compareFolder({ subject, predicate }: Statement, root: string): Promise<SubjectReport> {
  const files = subject.filter(({ name }) => name !== undefined && name !== outputSubject)
  const attested = new Map(files.map(({ name, digest }) => [name ?? '', digest?.sha256]))
  const refused = new Set(predicate.assay?.refused.map(({ path }) => path))
  const problems: string[] = attested.size === 0 ? ['the attestation is about no files'] : []
  const found = new Set<string>()
  let matching = 0
  const beside: string[] = []
  for (const { path, plain } of walk(root, '', beside)) {
    if (problems.length >= maxProblems || found.size >= maxFiles) {
      problems.push(`not everything in ${root} was looked at`)
      break
    }
    found.add(path)
    const problem = await problemOf(path, plain, attested, refused, root)
    if (problem !== undefined) problems.push(problem)
    else if (plain) matching += 1
  }
  for (const path of attested.keys()) if (!found.has(path) && problems.length < maxProblems) problems.push(`${path} is missing`)
  return { matching, problems, ...(beside.length > 0 && { beside }) }
}

async function problemOf(
  path: string,
  plain: boolean,
  attested: ReadonlyMap<string, string | undefined>,
  refused: ReadonlySet<string>,
  root: string,
): Promise<string | undefined> {
  if (!plain) return refused.has(path) ? undefined : `${path} is no plain file`
  if (!attested.has(path)) return `${path} was not attested`
  return (await sha256Of(join(root, path))) === attested.get(path) ? undefined : `${path} is not what was attested: its bytes are different`
}

function* walk(root: string, folder: string, beside: string[]): Generator<{ path: string; plain: boolean }> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (neverReviewed.has(path)) beside.push(path)
    else if (entry.isDirectory()) yield* walk(root, path, beside)
    else yield { path, plain: entry.isFile() }
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
