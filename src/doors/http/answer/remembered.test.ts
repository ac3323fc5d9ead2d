import { describe, expect, it } from 'vitest'
import { RememberedAnswers } from './remembered.ts'
import type { Reply } from './reply.ts'

const reply = (body: string, status = 200): Reply => ({ status, headers: {}, body })

describe('RememberedAnswers', () => {
  it('works once for one key, also while the first is under way', async () => {
    const answers = new RememberedAnswers({ entries: 10, bytes: 1000 })
    let worked = 0
    const work = async () => reply(String(++worked))
    const [one, two] = await Promise.all([answers.answer(['a', 'k'], 'x', work), answers.answer(['a', 'k'], 'x', work)])
    expect([one.body, two.body, (await answers.answer(['a', 'k'], 'x', work)).body]).toEqual(['1', '1', '1'])
    expect((await answers.answer(['b', 'k'], 'x', work)).body).toBe('2')
    expect((await answers.answer(['a', 'k'], 'other', work)).status).toBe(422)
  })

  it('forgets what had no effect: what was refused, what failed for want of the server, and what threw', async () => {
    const answers = new RememberedAnswers({ entries: 10, bytes: 1000 })
    for (const status of [400, 403, 409, 422, 429, 503])
      expect((await answers.answer(['k'], String(status), async () => reply('', status))).status).toBe(status)
    await expect(answers.answer(['k'], '', () => Promise.reject(new Error('bug')))).rejects.toThrow('bug')
    expect((await answers.answer(['k'], '', async () => reply('fine'))).body).toBe('fine')
  })

  it('forgets the oldest beyond its bounds of number and size', async () => {
    const answers = new RememberedAnswers({ entries: 2, bytes: 100 })
    let worked = 0
    const ask = (key: string, size = 1) => answers.answer([key], '', async () => reply(`${++worked}`.padEnd(size)))
    for (const key of ['a', 'b', 'c', 'a']) await ask(key)
    expect(worked).toBe(4)
    await ask('c')
    expect(worked).toBe(4)
    await ask('big', 100)
    await ask('c')
    expect(worked).toBe(6)
  })

  it('leaves alone what took the place of one that was forgotten while it was under way', async () => {
    const answers = new RememberedAnswers({ entries: 1, bytes: 100 })
    const held = Promise.withResolvers<Reply>()
    const first = answers.answer(['k'], '', () => held.promise)
    await answers.answer(['other'], '', async () => reply('other'))
    expect((await answers.answer(['k'], '', async () => reply('second'))).body).toBe('second')
    held.resolve(reply('late', 503))
    expect((await first).status).toBe(503)
    expect((await answers.answer(['k'], '', async () => reply('third'))).body).toBe('second')
  })
})
