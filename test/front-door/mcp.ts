import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { assayCommand, plainEnv } from './assay.ts'
import type { Project } from './project.ts'

/** The revision without a handshake, and the ones before it. */
export const eras = { modern: { pin: '2026-07-28' }, legacy: 'legacy' } as const
export type Era = keyof typeof eras

/** What a tool answered: its structure, or the code and words of its refusal. */
export interface Said {
  refused: boolean
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every tool, and their schemas are checked by the client
  value: any
}

export interface McpClient {
  client: Client
  /** Process of the server, where it was started by the client. */
  pid: number | null
  stderr(): string
  say(tool: string, input?: Record<string, unknown>): Promise<Said>
  close(): Promise<void>
}

/** Starts `assay mcp` in the project as an agent's program would, and talks to it in one era of the protocol. */
export async function connect(
  project: Project,
  args: readonly string[],
  era: Era = 'modern',
  env: Record<string, string> = {},
): Promise<McpClient> {
  const [command = '', ...rest] = assayCommand(['mcp', ...args])
  const transport = new StdioClientTransport({
    command,
    args: rest,
    cwd: project.folder,
    env: { ...plainEnv(project.folder), ...env },
    stderr: 'pipe',
  })
  let stderr = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const client = await connected(transport, era)
  return { ...talking(client), pid: transport.pid, stderr: () => stderr }
}

export async function connected(transport: Parameters<Client['connect']>[0], era: Era): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: eras[era] } })
  onTestFinished(() => client.close())
  await client.connect(transport)
  return client
}

export function talking(client: Client): Pick<McpClient, 'client' | 'say' | 'close'> {
  return {
    client,
    say: async (name, input = {}) => {
      const { isError, structuredContent, content } = await client.callTool({ name, arguments: input }, { timeout: 120_000 })
      if (isError !== true) return { refused: false, value: structuredContent }
      const [first] = content as { text?: string }[]
      return { refused: true, value: readable(first?.text ?? '') }
    },
    close: () => client.close(),
  }
}

function readable(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return { code: 'said', message: text }
  }
}

/** The server without a client: bytes in, bytes out. */
export function startRaw(
  project: Project,
  args: readonly string[],
): { stdout(): string; write(text: string): void; end(): void; ended: Promise<number | null> } {
  const [command = '', ...rest] = assayCommand(['mcp', ...args])
  const child = spawn(command, rest, { cwd: project.folder, env: plainEnv(project.folder), stdio: ['pipe', 'pipe', 'ignore'] })
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await ended
  })
  return { stdout: () => stdout, write: (text) => void child.stdin.write(text), end: () => void child.stdin.end(), ended }
}
