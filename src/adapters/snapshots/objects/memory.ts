import { sha256Of } from '../folder/file.ts'
import { corrupt, type ObjectBatch, type Objects } from './objects.ts'

/** Objects that live as long as the process, for tests and one-off reviews. `kept` is open to tests that damage an object. */
export function memoryObjects(kept = new Map<string, Uint8Array>()): Objects {
  const load = (hex: string) => {
    const bytes = kept.get(hex)
    if (bytes && sha256Of(bytes) !== hex) throw corrupt(hex, 'memory', sha256Of(bytes))
    return bytes
  }
  return {
    begin: () => memoryBatch(kept),
    load: async (hex) => load(hex)?.slice(),
    async pour(hex, into) {
      const bytes = load(hex)
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
