import type { ServerResponse } from 'node:http'
import type { Journal } from '../../../ports/journal.ts'
import { refuse, type Refused } from '../answer/problem.ts'
import type { EventHub } from './hub.ts'
import { StreamReader } from './reader.ts'

/** Speaks the live stream on a connection until it ends. Resolves at once: with a refusal, or with nothing once the stream is open. */
export async function serveEvents(
  hub: EventHub,
  out: ServerResponse,
  after: number | undefined,
  journal: Pick<Journal, 'position'>,
): Promise<Refused | undefined> {
  const head = await journal.position()
  if (after !== undefined && after > head)
    return refuse('position_unknown', `the journal ends at ${head}, before ${after}: it is another one than you read. Begin with after=0`)
  const reader = new StreamReader(hub, out, after ?? head)
  if (!(await hub.join(reader))) return refuse('busy', 'too many readers of the live stream')
  out.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  })
  void reader.run().catch((error: unknown) => reader.cut(`the journal cannot be read: ${(error as Error).message}`))
  return undefined
}
