import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, type ProcessIdentity, readProcess, sendSignal, signalProcess } from './census/identity.ts'
import { membersOf, type RunRoot } from './census/members.ts'
import { CappedOutput } from './output.ts'
import type { ProcessEnding, Ran, RunRequest } from './process.ts'
import { statusFd } from './sandbox.ts'

export interface StartedProcess {
  child: ChildProcess
  root: RunRoot
  sandboxed: boolean
}

/** How long to wait for what SIGKILL was sent to; longer only for a process stuck in the kernel. */
const killLimitMs = 5_000
/** How long output that was already written may take to arrive once nobody is left who could write more. */
const drainLimitMs = 2_000
const longestTimer = 2 ** 31 - 1

/** Watches one started process: reads it dry, ends it on time, and ends whatever it leaves behind. */
export class Supervisor {
  readonly #child: ChildProcess
  readonly #request: RunRequest
  readonly #root: RunRoot
  readonly #sandboxed: boolean
  readonly #startedAt = performance.now()
  readonly #stdout: CappedOutput
  readonly #stderr: CappedOutput
  readonly #status = new CappedOutput(4096)
  readonly #outputClosed: Promise<unknown>
  readonly #statusClosed: Promise<unknown>
  readonly #exit = Promise.withResolvers<{ code: number | null; signal: string | null }>()
  #endedBy: 'timed_out' | 'stopped' | undefined
  #killTimer: NodeJS.Timeout | undefined
  #giveUpTimer: NodeJS.Timeout | undefined
  /** Seen while their parents lived; afterwards those that hide their origin could not be found. */
  #seen: ProcessIdentity[] = []

  constructor({ child, root, sandboxed }: StartedProcess, request: RunRequest) {
    this.#child = child
    this.#request = request
    this.#root = root
    this.#sandboxed = sandboxed
    this.#stdout = new CappedOutput(request.maxOutputBytes)
    this.#stderr = new CappedOutput(request.maxOutputBytes)
    this.#outputClosed = Promise.all([keep(child.stdout, this.#stdout), keep(child.stderr, this.#stderr)])
    this.#statusClosed = sandboxed ? keep(child.stdio[statusFd] as Readable, this.#status) : Promise.resolve()
    child.once('exit', (code, signal) => this.#exit.resolve({ code, signal }))
  }

  async ending(): Promise<ProcessEnding> {
    const deadline = setTimeout(() => this.#end('timed_out'), Math.min(this.#request.timeoutMs, longestTimer))
    const stop = (): void => this.#end('stopped')
    this.#request.signal?.addEventListener('abort', stop, { once: true })
    if (this.#request.signal?.aborted) stop()
    const exit = await this.#exit.promise
    clearTimeout(deadline)
    clearTimeout(this.#killTimer)
    clearTimeout(this.#giveUpTimer)
    this.#request.signal?.removeEventListener('abort', stop)
    const durationMs = performance.now() - this.#startedAt
    const survivors = await this.#endLeftovers()
    await within(drainLimitMs, this.#outputClosed)
    for (const stream of this.#child.stdio) stream?.destroy()
    this.#child.unref()
    return this.#describe(exit, {
      stdout: this.#stdout.text(),
      stderr: this.#stderr.text(),
      stdoutCut: this.#stdout.cut,
      stderrCut: this.#stderr.cut,
      durationMs,
      sandboxed: this.#sandboxed,
      survivors,
    })
  }

  #describe({ code, signal }: { code: number | null; signal: string | null }, ran: Ran): ProcessEnding {
    if (this.#endedBy === 'timed_out') return { kind: 'timed_out', timeoutMs: this.#request.timeoutMs, ...ran }
    if (this.#endedBy === 'stopped') return { kind: 'stopped', ...ran }
    if (code === null) return { kind: 'signalled', signal: signal ?? 'unknown', ...ran }
    if (!this.#sandboxed) return { kind: 'exited', code, ...ran }
    // The sandbox tells the command's exit code; it does not where it never got as far as running it.
    if (!/"exit-code"/.test(this.#status.text())) return { kind: 'not_started', code: 'ESANDBOX', message: ran.stderr.trim() }
    const name = code > 128 ? Object.entries(constants.signals).find(([, number]) => code === 128 + number)?.[0] : undefined
    return name === undefined ? { kind: 'exited', code, ...ran } : { kind: 'signalled', signal: name, ...ran }
  }

  /** SIGTERM to all, SIGKILL to what is left after the grace, and no waiting for ever even then. */
  #end(cause: 'timed_out' | 'stopped'): void {
    if (this.#endedBy !== undefined) return
    this.#endedBy = cause
    this.#seen = membersOf(this.#root)
    if (this.#sandboxed) {
      // The sandbox itself must outlive the grace: everything in it dies with it.
      for (const member of this.#seen) if (member.pid !== this.#root.pid) signalProcess(member, 'SIGTERM')
    } else {
      sendSignal(-this.#root.pid, 'SIGTERM')
    }
    this.#killTimer = setTimeout(() => {
      this.#seen.push(...membersOf(this.#root))
      sendSignal(-this.#root.pid, 'SIGKILL')
      for (const member of this.#seen) signalProcess(member, 'SIGKILL')
      this.#giveUpTimer = setTimeout(() => this.#exit.resolve({ code: null, signal: 'SIGKILL' }), killLimitMs)
    }, this.#request.killGraceMs)
  }

  /** Ends what the process left running. Returns how many could not be ended. */
  async #endLeftovers(): Promise<number> {
    // Still safe by number: the group's number is free for others only since the exit that was just seen.
    sendSignal(-this.#root.pid, 'SIGKILL')
    await within(drainLimitMs, this.#statusClosed)
    const limit = performance.now() + killLimitMs
    for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
      const first = this.#left()
      // Looked at twice: a process that replaces itself all the time can slip through one look. A sandbox's first process cannot be replaced.
      const left = first.length > 0 || this.#sandboxed ? first : this.#left()
      for (const member of left) signalProcess(member, 'SIGKILL')
      if (left.length === 0 || performance.now() > limit) return left.length
      await sleep(pause)
    }
  }

  /** A sandbox is gone when its first process is: the kernel ends all the others before that one. */
  #left(): ProcessIdentity[] {
    if (!this.#sandboxed) return [...membersOf(this.#root), ...this.#seen.filter((member) => isAlive(member))]
    const first = Number(/"child-pid": (\d+)/.exec(this.#status.text())?.[1])
    const entry = Number.isNaN(first) ? undefined : readProcess(first)
    return entry !== undefined && !entry.zombie && entry.start >= this.#root.start ? [entry] : []
  }
}

/** Reads a stream to its end whether or not the bytes are kept: a process that prints is never blocked by us. */
function keep(stream: Readable | null, output: CappedOutput): Promise<void> {
  return new Promise((resolve) => {
    stream?.on('data', (chunk: Buffer) => output.push(chunk))
    // A reset on a stream of a killed process says nothing that its exit does not say.
    stream?.on('error', () => resolve())
    stream?.once('close', () => resolve())
  })
}

/** Waits for something that should come at once, and not for ever if it does not. */
async function within(limitMs: number, done: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, limitMs)
  await Promise.race([done, over.promise])
  clearTimeout(timer)
}
