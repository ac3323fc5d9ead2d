import type { Output } from './output.ts'

/** Turns Ctrl-C and SIGTERM into a clean stop; a second one ends the process at once. */
export function stopOnSignals(output: Output): { stop: AbortSignal; dispose(): void } {
  const controller = new AbortController()
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(130)
    output.note('stopping: open attempts may finish within the grace time; again to end at once')
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
