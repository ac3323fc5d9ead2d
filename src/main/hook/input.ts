/** Bytes of an agent's question; more is no question. */
const maxBytes = 16 * 1024 * 1024

let read: Promise<string> | undefined

/** What the agent wrote to standard input, which can be read once. */
export function hookInput(): Promise<string> {
  read ??= readInput()
  return read
}

async function readInput(): Promise<string> {
  if (process.stdin.isTTY) return ''
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
