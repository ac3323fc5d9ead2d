import type { Refusal, RefusalCode, Result } from '../../contract/errors.ts'
import type { AssayEvent, EventData, EventType } from '../../contract/events/manifest.ts'
import type { Policy } from '../../contract/policy.ts'
import { evolve, evolveAll } from './evolve/evolve.ts'
import type { TaskState } from './state.ts'

/** The policy that a decision is made under, with its digest. */
export interface Rules {
  policy: Policy
  digest: string
}

export type Decided = Result<AssayEvent[]>

export function refuse(code: RefusalCode, message: string): { ok: false; error: Refusal } {
  return { ok: false, error: { code, message } }
}

/** Events of one decision in the making. Each emitted event is applied at once, so that the next step decides on what is already true. */
export class Draft {
  state: TaskState
  readonly events: AssayEvent[] = []

  /** `sofar` has been decided already. */
  constructor(state: TaskState, sofar: readonly AssayEvent[] = []) {
    this.state = evolveAll(state, sofar) ?? state
    this.events.push(...sofar)
  }

  emit<T extends EventType>(type: T, data: EventData<T>): this {
    const event = { type, data } as unknown as AssayEvent
    this.events.push(event)
    this.state = evolve(this.state, event) ?? this.state
    return this
  }

  done(): Decided {
    return { ok: true, value: this.events }
  }
}
