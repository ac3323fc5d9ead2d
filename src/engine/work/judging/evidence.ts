import type { CheckReport } from '../../../contract/check.ts'
import type { EvidenceResolution } from '../../../contract/verdict.ts'
import type { Manifest, SnapshotStore } from '../../../ports/snapshots.ts'
import { lookThrough, type Seen } from './look-through.ts'

/** The work that pointers point into. */
export interface EvidenceSource {
  snapshots: SnapshotStore
  snapshot: string
  manifest: Pick<Manifest, 'files' | 'refused'> | undefined
  output: string
  reports: readonly CheckReport[]
  /**
   * What a pointer into something comes to that is there and that nobody can look into (a link, a device). True for a judge that rejects: what cannot be
   * looked into must not take the ground from under its veto. False for one that accepts: then every seat is asked.
   */
  unseenCounts: boolean
}

/** Characters of a quotation that are looked for; of a longer one, its beginning. */
const maxQuote = 4000

/** Where a pointer points, before anybody looked. */
type Place =
  | { kind: 'check'; id: string }
  | { kind: 'quote'; text: string }
  | { kind: 'file'; path: string }
  | { kind: 'nowhere'; path: string }
  | { kind: 'unseen'; path: string; why: string }
  | { kind: 'lines'; path: string; first: number; last: number; shown: string }
  | { kind: 'text'; path: string; text: string }

interface Located {
  resolved: boolean
  why: string
  unseen?: boolean
}

/** Looks pointers up in the snapshot, mechanically. What is not there (or is there, for `absent:`) does not resolve. */
export async function resolveEvidence(pointers: readonly string[], source: EvidenceSource): Promise<EvidenceResolution[]> {
  const files = new Set(source.manifest?.files.map(({ path }) => path))
  const refused = new Map(source.manifest?.refused.map(({ path, why }) => [path, why]))
  const asked = pointers.map((pointer) => {
    const trimmed = pointer.trim()
    const absent = trimmed.startsWith('absent:')
    return { pointer, absent, place: placeOf(absent ? trimmed.slice('absent:'.length).trim() : trimmed, files, refused) }
  })
  const seen = await look(
    asked.map(({ place }) => place),
    [...files],
    source,
  )
  return asked.map(({ pointer, absent, place }) => {
    const { resolved, why, unseen } = locate(place, seen, source)
    if (unseen) return { pointer, resolved: source.unseenCounts, why }
    if (!absent) return { pointer, resolved, why }
    return { pointer, resolved: !resolved, why: resolved ? `it is there: ${why}` : 'it is not there' }
  })
}

function placeOf(pointer: string, files: ReadonlySet<string>, refused: ReadonlyMap<string, string>): Place {
  if (pointer.startsWith('check:')) return { kind: 'check', id: pointer.slice('check:'.length) }
  const quoted = /^["“](.+)["”]$/s.exec(pointer)?.[1]
  if (quoted !== undefined) return { kind: 'quote', text: quoted.slice(0, maxQuote) }
  if (files.has(pointer) || refused.has(pointer)) return { kind: 'file', path: pointer }
  const [, path = pointer, rest = ''] = /^(.+?):([^:]+)$/s.exec(pointer) ?? []
  const why = refused.get(path)
  if (why !== undefined && rest !== '') return { kind: 'unseen', path, why }
  const within = rest.trim().slice(0, maxQuote)
  if (!files.has(path) || within === '') return { kind: 'nowhere', path }
  const lines = /^L?(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(rest)
  if (!lines) return { kind: 'text', path, text: within }
  return { kind: 'lines', path, first: Number(lines[1]), last: Number(lines[2] ?? lines[1]), shown: rest }
}

/** One look for all of them: a file is read once, however many pointers lead into it. */
async function look(places: readonly Place[], paths: readonly string[], source: EvidenceSource): Promise<Seen> {
  const within = new Map<string, Set<string>>()
  const anywhere = new Set<string>()
  for (const place of places) {
    if (place.kind === 'quote' && !source.output.includes(place.text)) anywhere.add(place.text)
    if (place.kind !== 'lines' && place.kind !== 'text') continue
    const texts = within.get(place.path) ?? new Set()
    within.set(place.path, texts)
    if (place.kind === 'text') texts.add(place.text)
  }
  return lookThrough(source.snapshots, source.snapshot, paths, { within, anywhere })
}

function locate(place: Place, seen: Seen, source: EvidenceSource): Located {
  switch (place.kind) {
    case 'check': {
      const known = source.reports.some((report) => report.id === place.id)
      return { resolved: known, why: known ? `check ${place.id} ran` : `no check ${place.id} ran` }
    }
    case 'quote': {
      const where = source.output.includes(place.text) ? 'the output' : seen.whereIs(place.text)
      return where === undefined ? { resolved: false, why: 'the quotation is nowhere' } : { resolved: true, why: `in ${where}` }
    }
    case 'file':
      return { resolved: true, why: 'the file is there' }
    case 'nowhere':
      return { resolved: false, why: `no file ${place.path}` }
    case 'unseen':
      return { resolved: false, why: `${place.path} is there and cannot be looked into: ${place.why}`, unseen: true }
    case 'lines': {
      const count = seen.lines.get(place.path) ?? 0
      const resolved = place.first >= 1 && place.last <= count
      return { resolved, why: resolved ? `line ${place.shown} of ${place.path}` : `${place.path} has ${count} lines` }
    }
    case 'text':
      return seen.has(place.path, place.text)
        ? { resolved: true, why: `in ${place.path}` }
        : { resolved: false, why: `${place.path} has no ${place.text}` }
  }
}
