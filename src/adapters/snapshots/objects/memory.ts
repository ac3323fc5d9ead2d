import type { ObjectBatch, Objects } from './objects.ts'

/** Objects that live as long as the process, for tests and one-off reviews. */
export function memoryObjects(): Objects {
  const kept = new Map<string, Uint8Array>()
  return {
    begin: () => memoryBatch(kept),
    load: async (hex) => kept.get(hex)?.slice(),
    async pour(hex, into) {
      const bytes = kept.get(hex)
      if (bytes) await into(bytes)
      return bytes !== undefined
    },
  }
}

function memoryBatch(kept: Map<string, Uint8Array>): ObjectBatch {
  return {
    has: (hex, size) => kept.get(hex)?.length === size,
    async put(hex, bytes) {
      kept.set(hex, Uint8Array.from(bytes))
    },
    writer() {
      const chunks: Uint8Array[] = []
      return {
        async write(chunk) {
          chunks.push(Uint8Array.from(chunk))
        },
        async finish(hex) {
          kept.set(hex, Buffer.concat(chunks))
        },
        async discard() {
          chunks.length = 0
        },
      }
    },
    commit: async () => undefined,
    settle: async () => undefined,
  }
}
