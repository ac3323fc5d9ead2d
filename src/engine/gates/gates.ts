import type { GateSpec } from '../../contract/events/gate.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import { readEvent } from '../../contract/events/read.ts'
import type { Result } from '../../contract/errors.ts'
import type { NewWork } from '../../contract/work.ts'
import type { StreamAppend } from '../../ports/journal.ts'
import { decideGate, evolveGate, type GateCommand, type GateState, isOpen, type MaybeGate } from '../../core/gate/gate.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { gateStream } from '../streams.ts'
import { asNew } from '../task/task-store.ts'
import { gateInputKey, type GateRow } from '../views/gates.ts'

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

export async function loadGate({ journal }: EngineParts, mission: string, name: string): Promise<{ state: MaybeGate; version: number }> {
  const events = await journal.readStream(gateStream(mission, name))
  return { state: events.map(readEvent).reduce<MaybeGate>(evolveGate, undefined), version: events.length }
}

/** Load, decide, append; again if another process was first. */
export async function handleGate(
  parts: EngineParts,
  gate: { mission: string; name: string },
  command: GateCommand,
  actor: string,
  /** What else belongs to the same decision: events of other streams, and work that it calls for. */
  alongside: (events: readonly AssayEvent[], version: number) => Promise<{ streams: StreamAppend[]; enqueue: NewWork[] }> = async () => ({
    streams: [],
    enqueue: [],
  }),
): Promise<Result<{ state: GateState; events: AssayEvent[] }>> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const { state, version } = await loadGate(parts, gate.mission, gate.name)
    const decided = decideGate(state, command)
    if (!decided.ok) return decided
    if (state && decided.value.length === 0) return { ok: true, value: { state, events: [] } }
    const meta = { at: new Date(parts.clock.now()).toISOString(), actor }
    const stream = gateStream(gate.mission, gate.name)
    const after = decided.value.reduce<MaybeGate>(evolveGate, state)
    const more = await alongside(decided.value, version)
    const streams = [{ stream, expected: version, events: decided.value.map(asNew) }, ...more.streams]
    const enqueue = [...notificationsOf(streams, meta.at, parts.config, after?.spec.notifyChannels), ...more.enqueue]
    const appended = await parts.journal.append({ streams, meta, enqueue })
    if (appended.ok && after) return { ok: true, value: { state: after, events: decided.value } }
  }
  return { ok: false, error: { code: 'wrong_status', message: `other writers were first ${maxTries} times in a row` } }
}

/** Names of the gates that look at a task. */
export async function gatesAfter({ journal }: EngineParts, task: string): Promise<string[]> {
  const rows = await journal.viewRows('gate_inputs', { prefix: gateInputKey(task, '') })
  return rows.map(({ row }) => (row as { gate: string }).gate)
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
