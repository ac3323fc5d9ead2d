/** Bytes of an agent's question; more is no question. */
const maxBytes = 16 * 1024 * 1024

/** How long an input may stay open and unfinished before it is looked up how long the hook may take at all. */
const patienceMs = 1000

let read: Promise<string> | undefined

/** What the agent wrote to standard input, which can be read once. It ends with the question, whether the agent closes it or not, or when the hook's time is up. */
export function hookInput(): Promise<string> {
  read ??= process.stdin.isTTY ? Promise.resolve('') : readInput()
  return read
}

function readInput(): Promise<string> {
  const { stdin } = process
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve) => {
    let isOver = false
    let timer = setTimeout(async () => {
      const { leftMs } = await import('./deadline.ts')
      if (!isOver) timer = setTimeout(() => end(''), leftMs(process.cwd(), process.env))
    }, patienceMs)
    const end = (text: string) => {
      isOver = true
      clearTimeout(timer)
      stdin.removeAllListeners('data').removeAllListeners('end')
      stdin.destroy()
      resolve(text)
    }
    stdin.on('error', () => end(''))
    stdin.on('end', () => end(Buffer.concat(chunks).toString('utf8')))
    stdin.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > maxBytes) return end('')
      if (!/\}\s*$/.test(chunk.subarray(-16).toString('latin1'))) return
      const text = Buffer.concat(chunks).toString('utf8')
      if (isWhole(text)) end(text)
    })
  })
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // More is to come, or nothing that can be read: the end of the input tells.
    return false
  }
}
