import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Switchboard } from './switchboard.ts'

it('every request goes through its own fetch, however many are under way', async () => {
  const board = new Switchboard()
  const ask = (name: string) =>
    board.through(
      async () => new Response(name),
      async () => {
        await sleep(1)
        return (await board.fetch('http://x')).text()
      },
    )
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`)
  expect(await Promise.all(names.map(ask))).toEqual(names)
})

it('nothing is sent outside of a request', () => {
  expect(() => new Switchboard().fetch('http://x')).toThrow('nobody asked for')
})
