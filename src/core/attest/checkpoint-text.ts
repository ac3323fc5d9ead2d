import { Checkpoint, type StreamMark } from '../../contract/attest/checkpoint.ts'
import { sha256Hex } from '../../contract/canonical.ts'
import type { Result } from '../../contract/errors.ts'

const title = 'assay checkpoint 1'
/** Most streams that a checkpoint may list. */
const maxStreams = 5_000_000

/** By code unit, so that the order is the same everywhere. */
export function sortedMarks(marks: Iterable<StreamMark>): StreamMark[] {
  return [...marks].sort((a, b) => (a.stream < b.stream ? -1 : a.stream > b.stream ? 1 : 0))
}

const markLine = ({ stream, version, hash }: StreamMark): string => `${version} ${hash} ${stream}`

/** One hash for all heads. Names hold no line break, so that no two lists share a text. */
export function rootOf(sorted: readonly StreamMark[]): string {
  return sha256Hex(`assay heads 1\n${sorted.map(({ stream, version, hash }) => `${stream} ${version} ${hash}\n`).join('')}`)
}

/** The text that is signed; the signature follows it on a line of its own. */
export function checkpointText(checkpoint: Checkpoint): string {
  return [
    title,
    `at ${checkpoint.at}`,
    `position ${checkpoint.position}`,
    `events ${checkpoint.events}`,
    `place ${checkpoint.place}`,
    `root ${checkpoint.root}`,
    `key ${checkpoint.key}`,
    `streams ${checkpoint.streams.length}`,
    ...checkpoint.streams.map(markLine),
    '',
  ].join('\n')
}

export interface SignedCheckpoint {
  checkpoint: Checkpoint
  /** Exactly what was signed. */
  text: string
  /** Base64. */
  signature: string
}

export function signedText(text: string, signature: string): string {
  return `${text}signature ${signature}\n`
}

/** Takes a checkpoint apart. Whether its signature is good is the caller's question, and its first. */
export function readCheckpoint(whole: string): Result<SignedCheckpoint, string> {
  const bad = (why: string) => ({ ok: false as const, error: `this is no checkpoint: ${why}` })
  const lines = whole.replace(/\n$/, '').split('\n')
  if (lines[0] !== title) return bad(`it does not begin with "${title}"`)
  const last = lines.at(-1) ?? ''
  if (!/^signature [A-Za-z0-9+/]+={0,2}$/.test(last)) return bad('its last line is no signature')
  const names = ['at', 'position', 'events', 'place', 'root', 'key', 'streams']
  const fields = new Map<string, string>()
  for (const [index, name] of names.entries()) {
    const line = lines[index + 1] ?? ''
    if (!line.startsWith(`${name} `)) return bad(`line ${index + 2} should say "${name}"`)
    fields.set(name, line.slice(name.length + 1))
  }
  const marks = lines.slice(names.length + 1, -1)
  if (marks.length !== Number(fields.get('streams')) || marks.length > maxStreams)
    return bad(`it lists ${marks.length} streams and says ${fields.get('streams')}`)
  const parsed = Checkpoint.safeParse({
    at: fields.get('at'),
    position: Number(fields.get('position')),
    events: Number(fields.get('events')),
    place: fields.get('place'),
    root: fields.get('root'),
    key: fields.get('key'),
    streams: marks.map(readMark),
  })
  if (!parsed.success) return bad(parsed.error.issues[0]?.message ?? 'a field cannot be read')
  const text = checkpointText(parsed.data)
  if (signedText(text, last.slice('signature '.length)) !== `${lines.join('\n')}\n`) return bad('it is not written as checkpoints are')
  if (rootOf(sortedMarks(parsed.data.streams)) !== parsed.data.root) return bad('its root is not that of its streams')
  return { ok: true, value: { checkpoint: parsed.data, text, signature: last.slice('signature '.length) } }
}

function readMark(line: string): { stream: string; version: number; hash: string } {
  const [version = '', hash = ''] = line.split(' ', 2)
  return { version: Number(version), hash, stream: line.slice(version.length + hash.length + 2) }
}
