import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Delivery } from './answers.ts'

export interface Parcel {
  status: number
  headers: Record<string, string>
  body: Buffer
  delivery: Delivery | undefined
}

const blanks = Buffer.alloc(64 * 1024, ' ')

/** Puts an answer on the wire, in the way that it asks for, while somebody listens. */
export async function deliver(response: ServerResponse, parcel: Parcel, count: (bytes: number) => void): Promise<void> {
  const { delivery, body } = parcel
  const gone = new Promise<void>((resolve) => response.once('close', resolve))
  const write = async (bytes: Buffer) => {
    count(bytes.length)
    if (!response.write(bytes)) await Promise.race([new Promise((resolve) => response.once('drain', resolve)), gone])
  }
  if (delivery?.how === 'hang' && delivery.before === 'headers') return await gone
  if (delivery?.how === 'late') await sleep(delivery.afterMs)
  response.writeHead(parcel.status, parcel.headers)
  response.flushHeaders()
  if (delivery?.how === 'hang') return await gone
  if (delivery?.how === 'flood') {
    for (let left = delivery.bytes; left > 0 && !response.destroyed; left -= blanks.length) await write(blanks.subarray(0, left))
  }
  if (delivery?.how === 'trickle') {
    for (let at = 0; at < body.length && !response.destroyed; at += 1) {
      await write(body.subarray(at, at + 1))
      await sleep(delivery.everyMs)
    }
  }
  if (delivery?.how === 'cut') {
    await write(body.subarray(0, delivery.after))
    if (delivery.by === 'reset') response.socket?.resetAndDestroy()
  }
  const rest = delivery?.how === 'trickle' || delivery?.how === 'cut' ? Buffer.alloc(0) : body
  count(rest.length)
  response.end(rest)
}
