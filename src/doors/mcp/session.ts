import { durationMs } from '../../contract/config/duration.ts'
import type { Result } from '../../contract/errors.ts'
import type { DeliverableReview } from '../../engine/deliverables/review.ts'
import type { Engine } from '../../engine/engine.ts'
import { Jobs } from './jobs.ts'
import type { Role } from './role.ts'
import type { McpWorld } from './world.ts'

/** One agent at this door, in one role, over all its calls. */
export class Session {
  readonly world: McpWorld
  readonly role: Role
  /** In whose name everything is done. */
  readonly agent: string
  /** Reviews of deliverables that are under way, by deliverable. */
  readonly reviews = new Jobs<Result<DeliverableReview>>()
  /** Open attempts of this agent, and when each last gave a sign. */
  readonly #taken = new Map<string, number>()

  constructor(world: McpWorld, role: Role, agent: string) {
    this.world = world
    this.role = role
    this.agent = agent
  }

  /** The agent works on this task: its calls are signs of life from here on. */
  took(task: string): void {
    this.#taken.set(task, performance.now())
  }

  /** Any call shows that the worker is there. A sign is written down at most four times in the length of a lease. */
  async alive(engine: Engine): Promise<void> {
    const every = durationMs(engine.parts.config.limits.outsideLease) / 4
    for (const [task, last] of this.#taken) {
      if (performance.now() - last < every) continue
      const beat = await engine.outside.beat(task, this.agent)
      if (beat.ok) this.#taken.set(task, performance.now())
      else this.#taken.delete(task)
    }
  }

  /** The mission of a task is worked on from here on. */
  workOnTask(task: string): void {
    this.world.workOn(task.split('/')[0] ?? task)
  }
}
