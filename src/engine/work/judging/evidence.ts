import type { CheckReport } from '../../../contract/check.ts'
import type { EvidenceResolution } from '../../../contract/verdict.ts'

export interface EvidenceSource {
  /** Paths of the snapshot under review. */
  paths: readonly string[]
  /** Text of one of them; undefined where it is not there or no text. */
  text(path: string): Promise<string | undefined>
  output: string
  reports: readonly CheckReport[]
}

/** Longest quotation that is looked for. */
const maxQuote = 4000

/** Looks a pointer up in the snapshot, mechanically. What is not there (or is there, for `absent:`) does not resolve. */
export async function resolveEvidence(pointer: string, source: EvidenceSource): Promise<EvidenceResolution> {
  const trimmed = pointer.trim()
  if (trimmed.startsWith('absent:')) {
    const found = await locate(trimmed.slice('absent:'.length).trim(), source)
    return { pointer, resolved: !found.resolved, why: found.resolved ? `it is there: ${found.why}` : 'it is not there' }
  }
  return { pointer, ...(await locate(trimmed, source)) }
}

async function locate(pointer: string, source: EvidenceSource): Promise<{ resolved: boolean; why: string }> {
  if (pointer.startsWith('check:')) {
    const id = pointer.slice('check:'.length)
    const known = source.reports.some((report) => report.id === id)
    return { resolved: known, why: known ? `check ${id} ran` : `no check ${id} ran` }
  }
  const quoted = /^["“](.+)["”]$/s.exec(pointer)?.[1]
  if (quoted !== undefined) return locateQuote(quoted, source)
  if (source.paths.includes(pointer)) return { resolved: true, why: 'the file is there' }
  const split = /^(.+?):([^:]+)$/s.exec(pointer)
  const path = split?.[1] ?? pointer
  if (!split || !source.paths.includes(path)) return { resolved: false, why: `no file ${path}` }
  return locateInFile(path, split[2] ?? '', source)
}

async function locateQuote(quote: string, source: EvidenceSource): Promise<{ resolved: boolean; why: string }> {
  if (quote.length > maxQuote) return { resolved: false, why: `a quotation of more than ${maxQuote} characters is not looked for` }
  if (source.output.includes(quote)) return { resolved: true, why: 'in the output' }
  for (const path of source.paths) {
    if ((await source.text(path))?.includes(quote)) return { resolved: true, why: `in ${path}` }
  }
  return { resolved: false, why: 'the quotation is nowhere' }
}

async function locateInFile(path: string, place: string, source: EvidenceSource): Promise<{ resolved: boolean; why: string }> {
  const text = await source.text(path)
  if (text === undefined) return { resolved: false, why: `${path} is no text` }
  const lines = /^L?(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(place)
  if (!lines) {
    const symbol = place.trim()
    return text.includes(symbol) ? { resolved: true, why: `in ${path}` } : { resolved: false, why: `${path} has no ${symbol}` }
  }
  const count = text.endsWith('\n') ? text.split('\n').length - 1 : text.split('\n').length
  const last = Number(lines[2] ?? lines[1])
  const resolved = Number(lines[1]) >= 1 && last <= count
  return { resolved, why: resolved ? `line ${place} of ${path}` : `${path} has ${count} lines` }
}
