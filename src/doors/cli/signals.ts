import type { Output } from './output.ts'

const workStops = 'stopping: open attempts may finish within the grace time; again to end at once'

/** Turns Ctrl-C and SIGTERM into a clean stop; a second one ends the process at once. `said` is what the first one is answered with. */
export function stopOnSignals(output: Output, said: string | null = workStops): { stop: AbortSignal; dispose(): void } {
  const controller = new AbortController()
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(130)
    if (said !== null) output.note(said)
    controller.abort()
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return {
    stop: controller.signal,
    dispose() {
      process.off('SIGINT', onSignal)
      process.off('SIGTERM', onSignal)
    },
  }
}
