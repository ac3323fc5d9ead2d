import type { Journal } from '../../ports/journal.ts'

/** The journal of a process that dies right after `type` is durable: nothing that it does afterwards is stored. */
export function dyingAfter(journal: Journal, type: string): { journal: Journal; died: Promise<void> } {
  let dead = false
  let die: () => void = () => undefined
  const died = new Promise<void>((resolve) => {
    die = resolve
  })
  const silent = new Promise<never>(() => undefined)
  const dying = new Proxy(journal, {
    get: (target, key: keyof Journal) => {
      const method = target[key] as unknown
      if (typeof method !== 'function') return method
      return async (...args: unknown[]) => {
        if (dead) return silent
        const result = await method.apply(target, args)
        const [wanted] = args as [{ streams?: { events: { type: string }[] }[] } | undefined]
        if (key !== 'append' || !wanted?.streams?.some(({ events }) => events.some((event) => event.type === type))) return result
        dead = true
        die()
        return silent
      }
    },
  })
  return { journal: dying, died }
}
