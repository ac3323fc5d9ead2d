import type { GateSpec } from '../../contract/events/gate.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import type { Result } from '../../contract/errors.ts'
import type { NewWork } from '../../contract/work.ts'
import type { StreamAppend } from '../../ports/journal.ts'
import { decideGate, evolveGate, type GateCommand, type GateState, isOpen, type MaybeGate } from '../../core/gate/gate.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { gateStream } from '../streams.ts'
import { asNew } from '../task/task-store.ts'
import type { GateRow } from '../views/gates.ts'
import { loadGate } from './open-again.ts'

/** How often a command is decided anew because another writer was first. */
const maxTries = 25
/** Gates created in one transaction. */
const batch = 500

/** Creates the gates of a run that do not exist yet. Before its tasks: one that ends finds the gates that look at it. */
export async function createGates(parts: EngineParts, mission: string, gates: readonly GateSpec[]): Promise<void> {
  const { journal, clock } = parts
  for (let start = 0; start < gates.length; start += batch) {
    const streams = []
    for (const gate of gates.slice(start, start + batch)) {
      const stream = gateStream(mission, gate.name)
      if ((await journal.head(stream)) > 0) continue
      const decided = decideGate(undefined, { type: 'create_gate', mission, gate })
      if (decided.ok) streams.push({ stream, expected: 0, events: decided.value.map(asNew) })
    }
    if (streams.length === 0) continue
    const appended = await journal.append({ streams, meta: { at: new Date(clock.now()).toISOString(), actor: 'runtime' } })
    if (!appended.ok) return createGates(parts, mission, gates)
  }
}

/** What else belongs to the same decision on a gate. */
export interface Alongside {
  /** Events of other streams. */
  streams?: StreamAppend[]
  /** Work that it calls for. */
  enqueue?: NewWork[]
  /** What the command was made of: where that has moved since, it is refused as `inputs_incomplete`, and whoever gave it looks again. */
  unmoved?: StreamAppend[]
}

/** Load, decide, append; again if another process was first. */
export async function handleGate(
  parts: EngineParts,
  gate: { mission: string; name: string },
  command: GateCommand,
  actor: string,
  alongside: (events: readonly AssayEvent[], version: number) => Promise<Alongside> = async () => ({}),
): Promise<Result<{ state: GateState; events: AssayEvent[] }>> {
  const stream = gateStream(gate.mission, gate.name)
  for (let tries = 0; tries < maxTries; tries += 1) {
    const { state, version } = await loadGate(parts.journal, gate.mission, gate.name)
    const decided = decideGate(state, command)
    if (!decided.ok) return decided
    if (state && decided.value.length === 0) return { ok: true, value: { state, events: [] } }
    const meta = { at: new Date(parts.clock.now()).toISOString(), actor }
    const after = decided.value.reduce<MaybeGate>(evolveGate, state)
    const more = await alongside(decided.value, version)
    const { unmoved = [] } = more
    const streams = [{ stream, expected: version, events: decided.value.map(asNew) }, ...(more.streams ?? []), ...unmoved]
    const enqueue = [...notificationsOf(streams, meta.at, parts.config, after?.spec.notifyChannels), ...(more.enqueue ?? [])]
    const appended = await parts.journal.append({ streams, meta, enqueue })
    if (appended.ok && after) return { ok: true, value: { state: after, events: decided.value } }
    const conflict = !appended.ok && appended.code === 'version_conflict' ? appended.stream : undefined
    if (unmoved.some((one) => one.stream === conflict))
      return { ok: false, error: { code: 'inputs_incomplete', message: `${conflict} has moved since it was looked at` } }
  }
  return { ok: false, error: { code: 'wrong_status', message: `other writers were first ${maxTries} times in a row` } }
}

/** What was seen of the gates that a task waits for. */
export interface GatesSeen {
  /** The first that does not let it through; undefined where all do. */
  shut?: string
  /** Appended with whatever rests on the look: it fails where a gate has moved since. */
  unmoved: StreamAppend[]
}

export async function lookAtGates({ journal }: EngineParts, mission: string, gates: readonly string[]): Promise<GatesSeen> {
  const unmoved: StreamAppend[] = []
  for (const gate of gates) {
    const stream = gateStream(mission, gate)
    // Before the row is looked at: a gate that moves in between is found to have moved.
    unmoved.push({ stream, expected: await journal.head(stream), events: [] })
    const row = (await journal.viewRow('gates', stream)) as GateRow | undefined
    if (!row || !isOpen(row)) return { shut: gate, unmoved }
  }
  return { unmoved }
}

/** The first of these gates that the owner stopped for good. */
export async function stoppedGate({ journal }: EngineParts, mission: string, gates: readonly string[]): Promise<string | undefined> {
  for (const gate of gates) {
    const row = (await journal.viewRow('gates', gateStream(mission, gate))) as GateRow | undefined
    if (row?.status === 'stopped') return gate
  }
  return undefined
}
