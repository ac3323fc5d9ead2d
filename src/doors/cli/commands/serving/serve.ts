import { formatProblem } from '../../../../contract/source/problem.ts'
import type { App, ExitCode } from '../../app.ts'
import type { Output } from '../../output.ts'
import { type ConfigFlags, findProject } from '../../project.ts'
import { stopOnSignals } from '../../signals.ts'
import { isBroken, refuse } from '../run.ts'

export interface ServeFlags extends ConfigFlags {
  host: string
  port: string
  allowHost?: string[]
  worker?: string[]
  workerTokenEnv?: string[]
}

const stops = 'stopping: no new requests; open attempts may finish within the grace time; again to end at once'

/** `assay serve`: the HTTP API, and the work on every open mission. */
export async function serveCommand(app: App, output: Output, flags: ServeFlags): Promise<ExitCode> {
  const port = /^\d{1,5}$/.test(flags.port) ? Number(flags.port) : 65_536
  if (port > 65_535) return say(output, `${flags.port} is no port; 0 takes a free one`)
  const found = findProject(output.terminal, flags)
  if (!found.ok) return refuse(output, found.error)
  const { folder, project } = found.value
  const problems = await app.problems(found.value)
  if (problems.length > 0) return refuse(output, problems)
  for (const notice of project.parsed.notices) output.note(`note: ${formatProblem(notice)}`)
  const engine = await app.open({ folder, project, create: true, serves: true })
  if (!engine) throw new Error('.assay/ could not be made')
  const signals = stopOnSignals(output, stops)
  try {
    if (await isBroken(engine, output)) return 3
    const serving = await app.serve(
      {
        folder,
        project,
        version: app.version,
        host: flags.host,
        port,
        allowHosts: flags.allowHost ?? [],
        workers: flags.worker ?? [],
        workerTokenEnv: flags.workerTokenEnv ?? [],
        env: output.terminal.env,
        log: (line) => output.note(`assay: ${line}`),
        stop: signals.stop,
      },
      engine,
    )
    if (!serving.ok) return refuse(output, serving.error)
    const { url, workers } = serving.value
    if (output.json) output.jsonLine({ kind: 'serving', url, port: serving.value.port, workers })
    else {
      output.data(`serving ${folder} at ${url}`)
      for (const given of workers)
        output.data(`token of ${given.agent}: ${'file' in given ? given.file : `the owner prints it with ${given.printedBy}`}`)
    }
    if (!isLoopback(flags.host)) output.note(`note: ${flags.host} is reachable from other machines, and nothing here is encrypted`)
    await serving.value.ended
    return 0
  } finally {
    signals.dispose()
    await engine.close()
  }
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127\./.test(host)

function say(output: Output, message: string): ExitCode {
  output.note(`assay: ${message}`)
  return 2
}
