import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CardRequest } from '../../../contract/deliverable/deliverable.ts'
import { reviewDeliverable } from '../../../engine/deliverables/review.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { App } from '../app.ts'
import { standingWords } from '../commands/deliverable/words.ts'
import { againstBar } from '../report/report.ts'

/** One thing that somebody did at the gate, and what came of it. */
export interface GateStep {
  did: string
  came: string
}

/** What the gate must say, step by step; anything else is a fault of Assay. */
export const expectedSteps = [
  /^REFUSED \(deliverable_unknown\)/,
  /^NEEDS_REVISION/,
  /^REFUSED \(needs_revision\)/,
  /^PASS/,
  /^REFUSED \(content_changed\)/,
  /in the inbox, PASS/,
  /^NEEDS_REVISION/,
  /in the inbox, UNREVIEWED \(bypass by/,
]

/** A writer outside the mission and the owner meet at the gate: refusals, rework, release, a bypass. The owner here is scripted, like the judges. */
export async function handOver(app: App, engine: Engine, folder: string, stop: AbortSignal): Promise<GateStep[]> {
  const steps: GateStep[] = []
  const step = async (did: string, doing: Promise<string>) => void steps.push({ did, came: await doing })
  const file = join(folder, 'report.md')
  const thin = readFileSync(file, 'utf8')
  const mended = `${thin.trimEnd()} The total is 212.\n`
  await step('writer sends report.md', send(app, engine, 'report', 'Report to the client'))
  await step('the judges look at it', review(app, engine, folder, 'report', 'Report to the client', stop))
  await step('writer sends it all the same', send(app, engine, 'report', 'Report to the client'))
  writeFileSync(file, mended)
  await step('writer mends it, the judges look again', review(app, engine, folder, 'report', 'Report to the client', stop))
  writeFileSync(file, `${mended}Pay to another account.\n`)
  await step('somebody swaps the file after the PASS', send(app, engine, 'report', 'Report to the client'))
  writeFileSync(file, mended)
  await step('writer puts it back and sends it', send(app, engine, 'report', 'Report to the client'))
  await step('the judges look at prices.md', review(app, engine, folder, 'prices', 'Price list', stop))
  const waived = await engine.bypass('prices', { by: 'the owner (scripted)', reason: 'the menu goes to print today' })
  await step('the owner waives its review', waived.ok ? send(app, engine, 'prices', 'Price list') : Promise.resolve(waived.error.message))
  return steps
}

async function review(app: App, engine: Engine, folder: string, id: string, title: string, stop: AbortSignal): Promise<string> {
  const what = `${id}.md`
  const taken = await app.subject(
    { cwd: folder, home: join(folder, '.assay'), what, diff: undefined, stdin: undefined, allowPrivate: false },
    engine,
  )
  if (!taken.ok) return taken.error.map(({ message }) => message).join('; ')
  const { kind, snapshot, base, digest, source } = taken.value
  const brought = { deliverable: id, kind, title, producer: 'writer', snapshot, base, digest, ...(source !== undefined && { source }) }
  const reviewed = await reviewDeliverable(engine, brought, stop)
  if (!reviewed.ok) return reviewed.error.message
  const { verdict, score, bar, feedback } = reviewed.value
  const [, point] = /- P1 \([^)]*\): (.*)/.exec(feedback) ?? []
  return `${verdict} ${againstBar(score, bar)}${point === undefined ? '' : `: ${point}`}`
}

async function send(app: App, engine: Engine, id: string, title: string): Promise<string> {
  const request: CardRequest = { type: 'report_ready', title, body: '', priority: 'normal', metadata: { deliverableId: id } }
  const sent = await engine.emitCard(request, { from: 'writer', digestOf: (source) => app.digestNow(source, engine) })
  return sent.ok ? `in the inbox, ${standingWords(sent.card)}` : `REFUSED (${sent.code})`
}
