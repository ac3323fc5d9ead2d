#!/usr/bin/env node
// Starts Assay on a Node that is new enough. Plain JavaScript that old Nodes can read, no dependencies.
// A Node whose SQLite is recent runs the entry in this process; any other hands over to the Node that came along in node_modules.
// Nothing is imported up front: what the hand-over needs would make up most of the time of a short command.

// Older versions can lose committed writes when several processes share one write-ahead log.
const leastSqlite = [3, 51, 3]
const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']
// Ctrl-C reaches launcher and child, and the launcher passes its own on: the child hears one signal twice within this time.
const echoMs = 250
const usageError = 2

function isRecentEnough(version) {
  if (!version) return false
  const parts = version.split('.').map(Number)
  for (let i = 0; i < leastSqlite.length; i++) {
    if (parts[i] !== leastSqlite[i]) return parts[i] > leastSqlite[i]
  }
  return true
}

/** The Node that npm installed for this platform, looked for in the package and above it, as modules are. */
async function bundledNode() {
  const { existsSync } = await import('node:fs')
  const { dirname, join } = await import('node:path')
  const { fileURLToPath } = await import('node:url')
  const root = fileURLToPath(new URL('..', import.meta.url))
  const system = process.platform === 'win32' ? 'win' : process.platform
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  for (let folder = root; ; folder = dirname(folder)) {
    for (const name of [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`]) {
      const path = join(folder, 'node_modules', name, 'bin', file)
      if (existsSync(path)) return path
    }
    if (folder === dirname(folder)) return undefined
  }
}

function refuse() {
  const sqlite = process.versions.sqlite ? `SQLite ${process.versions.sqlite}` : 'no SQLite'
  const reason = `needs Node ^22.23 or >=24.15 (this is ${process.version} with ${sqlite}). Install one from https://nodejs.org and run again.`
  const agent = hookedAgent()
  if (agent !== undefined) {
    letGo(agent, reason)
    return
  }
  console.error(`assay: ${reason}`)
  process.exitCode = usageError
}

/** The agent whose hook is to be answered, empty where it is not named; undefined for every other command. */
function hookedAgent() {
  const [command, ...rest] = process.argv.slice(2)
  if (command !== 'hook' || rest.includes('install') || rest.includes('remove')) return undefined
  const at = rest.findIndex((word) => word === '--agent' || word.startsWith('--agent='))
  if (at === -1) return ''
  return rest[at] === '--agent' ? (rest[at + 1] ?? '') : rest[at].slice('--agent='.length)
}

/** An agent takes other exit codes for a block, so it is let go with one object, in which those that have a field for it are told why. */
function letGo(agent, reason) {
  const message = `Assay: UNREVIEWED: ${reason}`
  console.error(message)
  console.log(JSON.stringify(agent === 'copilot' || agent === 'cursor' ? {} : { systemMessage: message }))
  process.exitCode = 0
  // Whoever still writes its question is heard out.
  if (!process.stdin.isTTY) process.stdin.on('error', () => undefined).resume()
}

/** Runs the bundled Node on this file: signals go down, exit code or signal come back up. */
async function handOver(node) {
  const { spawn } = await import('node:child_process')
  const { constants } = await import('node:os')
  const { fileURLToPath } = await import('node:url')
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ASSAY_LAUNCHED: '1' },
  })
  const forward = (signal) => child.kill(signal)
  for (const signal of passedOn) process.on(signal, forward)
  child.on('error', refuse)
  child.on('exit', (code, signal) => {
    for (const name of passedOn) process.removeListener(name, forward)
    if (signal === null) {
      process.exitCode = code
      return
    }
    // Die of what the child died of; the code is for systems where a process cannot.
    setTimeout(() => process.exit(128 + constants.signals[signal]), 1000)
    process.kill(process.pid, signal)
  })
}

/** Drops warnings that a feature is experimental, and the echo of a signal that reached this process both directly and through its launcher. */
function filterEvents(launched) {
  const emit = process.emit
  const heard = new Map()
  process.emit = function (name, ...details) {
    if (name === 'warning' && details[0]?.name === 'ExperimentalWarning') return false
    if (launched && passedOn.includes(name)) {
      const now = performance.now()
      if (now - (heard.get(name) ?? Number.NEGATIVE_INFINITY) < echoMs) return false
      heard.set(name, now)
    }
    return emit.call(this, name, ...details)
  }
}

/** Ends this process when its launcher is gone, however it went. The channel alone does not keep it alive. */
function endWithLauncher() {
  process.on('disconnect', () => process.exit(1))
  process.channel.unref()
}

async function runHere(launched) {
  filterEvents(launched)
  if (launched) endWithLauncher()
  try {
    const { main } = await import(entry().href)
    process.exitCode = await main(process.argv.slice(2))
  } catch (error) {
    const agent = hookedAgent()
    if (agent === undefined) throw error
    letGo(agent, error instanceof Error ? error.message : String(error))
  }
}

/** The compiled command line, or its source where that is what there is. What compiling came to is kept, where the folder can be written. */
function entry() {
  const compiled = new URL('../cli/main.js', import.meta.url)
  const isCompiled = process.getBuiltinModule('node:fs').existsSync(compiled)
  const kept = new URL(isCompiled ? '../.cache' : '../node_modules/.cache/assay', import.meta.url)
  process.getBuiltinModule('node:module').enableCompileCache(process.getBuiltinModule('node:url').fileURLToPath(kept))
  return isCompiled ? compiled : new URL('../src/main.ts', import.meta.url)
}

// Set by hand the variable means nothing: a launched process has a channel to its launcher.
const launched = process.env.ASSAY_LAUNCHED === '1' && process.channel !== undefined
delete process.env.ASSAY_LAUNCHED

if (isRecentEnough(process.versions.sqlite)) {
  await runHere(launched)
} else {
  const node = launched ? undefined : await bundledNode()
  if (node) await handOver(node)
  else refuse()
}
