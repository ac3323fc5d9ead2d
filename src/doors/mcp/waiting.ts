import type { Engine } from '../../engine/engine.ts'
import { untilOver as lookUntilOver } from '../../engine/wait.ts'
import type { McpWorld } from './world.ts'

/** Looks until it is over, the seconds have passed, the client gave up or the server stops. */
export function untilOver<T>(
  { engine, world, stop }: { engine: Engine; world: McpWorld; stop: AbortSignal },
  seconds: number,
  look: () => Promise<T>,
  isOver: (found: T) => boolean,
): Promise<T> {
  return lookUntilOver(engine, { seconds, stop: AbortSignal.any([stop, world.stop]) }, look, isOver)
}
