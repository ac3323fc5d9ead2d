import type { TaskCommand } from '../../contract/commands/task.ts'
import type { RefusalCode } from '../../contract/errors.ts'
import type { AssayEvent, EventOf, EventType } from '../../contract/events/manifest.ts'
import { decide } from '../../core/task/decide.ts'
import type { Rules } from '../../core/task/draft.ts'
import { evolveAll } from '../../core/task/evolve/evolve.ts'
import type { MaybeTask, TaskState } from '../../core/task/state.ts'

/** A task's history in a test: commands go in one after the other, each must be decided unless the test expects a refusal. */
export class History {
  readonly rules: Rules
  /** The policy in force; another one where a changed policy was adopted. */
  inForce: Rules
  /** Every policy that was in force, from the event with this index on. */
  readonly eras: { from: number; rules: Rules }[]
  readonly events: AssayEvent[] = []
  /** Events of the latest command. */
  latest: AssayEvent[] = []
  maybe: MaybeTask

  constructor(rules: Rules) {
    this.rules = rules
    this.inForce = rules
    this.eras = [{ from: 0, rules }]
  }

  /** The policy under which the event with this index was decided. */
  rulesAt(index: number): Rules {
    return this.eras.findLast((era) => era.from <= index)?.rules ?? this.rules
  }

  get state(): TaskState {
    const state = this.maybe
    if (!state) throw new Error('the task does not exist yet')
    return state
  }

  /** Decides the command; a refusal is a failure of the test. */
  when(command: TaskCommand, rules: Rules = this.rules): this {
    const decided = decide(this.maybe, command, rules)
    if (!decided.ok) throw new Error(`refused: ${decided.error.code}: ${decided.error.message}`)
    if (command.type === 'adopt_policy') {
      this.eras.push({ from: this.events.length, rules })
      this.inForce = rules
    }
    this.latest = decided.value
    this.events.push(...decided.value)
    this.maybe = evolveAll(this.maybe, decided.value)
    return this
  }

  /** The code that the command is refused with; undefined where it is not. */
  refusal(command: TaskCommand, rules: Rules = this.rules): RefusalCode | undefined {
    const decided = decide(this.maybe, command, rules)
    return decided.ok ? undefined : decided.error.code
  }

  /** Types of the events of the latest command. */
  get emitted(): EventType[] {
    return this.latest.map((event) => event.type)
  }

  last<T extends EventType>(type: T): EventOf<T>['data'] {
    const found = this.events.findLast((event) => event.type === type)
    if (!found) throw new Error(`no ${type} in ${this.events.map((event) => event.type).join(', ')}`)
    return found.data as EventOf<T>['data']
  }

  count(type: EventType): number {
    return this.events.filter((event) => event.type === type).length
  }
}
