import { z } from 'zod'
import { Digest } from '../../../contract/canonical.ts'
import { readRecord, writeRecord } from '../durable-record.ts'
import { WorkspaceFault } from '../fault.ts'

/** Packages by their path in the folder, each with a digest of how its files stand. */
const Packages = z.record(z.string(), z.string())
export type Packages = z.infer<typeof Packages>

/**
 * Where a task stands with the folder that it shares. `held`: it has it; `found` is what was there when it took it. `aside`: its work was put back and
 * waits in `content`; it is what changed from `from` to `left`. `onto` is there while it is being brought back: what the folder held before.
 * `kept`: its work stayed in the folder. `beside` is what lay in the folder that is in no snapshot; `installed`, `contents` and `suspect` are its packages
 * when the task took it: a hold forgets none of them.
 */
const SharedRecord = z.discriminatedUnion('state', [
  z.strictObject({
    version: z.literal(1),
    task: z.string(),
    state: z.literal('held'),
    found: Digest,
    installed: Digest,
    suspect: Packages,
    contents: Digest.optional(),
    beside: Digest.optional(),
  }),
  z.strictObject({
    version: z.literal(1),
    task: z.string(),
    state: z.literal('aside'),
    content: Digest,
    left: Digest,
    from: Digest,
    onto: Digest.optional(),
    installed: Digest.optional(),
    suspect: Packages.optional(),
    contents: Digest.optional(),
    beside: Digest.optional(),
  }),
  z.strictObject({ version: z.literal(1), task: z.string(), state: z.literal('kept') }),
])
export type SharedRecord = z.infer<typeof SharedRecord>
export type Held = Extract<SharedRecord, { state: 'held' }>
export type Aside = Extract<SharedRecord, { state: 'aside' }>

/** Undefined where the task never had the folder. */
export function readShared(file: string, task: string): SharedRecord | undefined {
  const record = readRecord(file)
  if (record === undefined) return undefined
  const parsed = SharedRecord.safeParse(record)
  if (!parsed.success || parsed.data.task !== task) {
    throw new WorkspaceFault('bad_record', `${file} does not say what became of the shared folder of task ${task}; it is left as it is`)
  }
  return parsed.data
}

/** Durable when it returns; there is a whole record or none. */
export function writeShared(file: string, record: SharedRecord): void {
  writeRecord(file, record)
}

const SuspectRecord = z.strictObject({ version: z.literal(1), folder: z.string(), packages: Packages, trusted: Packages.optional() })

export interface Suspects {
  /** As the work left them. */
  packages: Packages
  /** What they contained before; empty where they were not there. */
  trusted: Packages
}

/** Packages that work which was not accepted has changed and that nobody has replaced since. */
export function readSuspects(file: string, folder: string): Suspects {
  const record = readRecord(file)
  if (record === undefined) return { packages: {}, trusted: {} }
  const parsed = SuspectRecord.safeParse(record)
  if (!parsed.success || parsed.data.folder !== folder) {
    throw new WorkspaceFault('bad_record', `${file} does not say which packages of ${folder} are suspect; it is left as it is`)
  }
  return { packages: parsed.data.packages, trusted: parsed.data.trusted ?? {} }
}

/** What the names of such records end in. */
export const suspectsEnding = '.suspects'

/** The folder that a record of suspect packages is about; undefined where it names none. */
export function suspectFolder(file: string): string | undefined {
  const record = readRecord(file)
  if (record === undefined) return undefined
  const parsed = SuspectRecord.safeParse(record)
  if (!parsed.success) throw new WorkspaceFault('bad_record', `${file} does not say which packages are suspect; it is left as it is`)
  return Object.keys(parsed.data.packages).length > 0 ? parsed.data.folder : undefined
}

export function writeSuspects(file: string, folder: string, { packages, trusted }: Suspects): void {
  writeRecord(file, { version: 1, folder, packages, trusted })
}

const KnownRecord = z.strictObject({ version: z.literal(1), folder: z.string(), contents: Packages })

/** What packages contained when they were last read, by their path and how they stood. A record that cannot be read saves no work, and is written again. */
export function readKnown(file: string, folder: string): Packages {
  const parsed = KnownRecord.safeParse(readRecord(file))
  return parsed.success && parsed.data.folder === folder ? parsed.data.contents : {}
}

export function writeKnown(file: string, folder: string, contents: Packages): void {
  writeRecord(file, { version: 1, folder, contents })
}
