import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openNotifier } from '../../../adapters/notify/open.ts'
import { answering, startHttpReceiver } from '../../../adapters/notify/testing/http-receiver.ts'
import type { Channel } from '../../../contract/config/notify.ts'
import { Output } from '../output.ts'
import { notifyTestCommand } from './notify.ts'

const timeout = 60_000
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-notify-test-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function testChannel(name: string, channels: object, env: Record<string, string> = {}, json = false) {
  writeFileSync(join(folder, 'assay.yaml'), JSON.stringify({ notify: { channels } }))
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const output = new Output({ stdout, stderr, env, cwd: folder }, json)
  const app = { openNotifier: (channel: Channel) => openNotifier(channel, { env, stderr, timeoutMs: 20_000 }) }
  const code = await notifyTestCommand(app, output, name, {})
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') }
}

describe('assay notify test', () => {
  it('delivers a test message and says so', { timeout }, async () => {
    await using receiver = await startHttpReceiver()
    expect(await testChannel('alerts', { alerts: { kind: 'slack', urlEnv: 'S' } }, { S: receiver.url })).toEqual({
      code: 0,
      stdout: 'alerts (slack): delivered\n',
      stderr: '',
    })
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ text: expect.stringContaining('Assay test: alerts') })
  })

  it('says what went wrong and what a run would do, without the address', { timeout }, async () => {
    await using receiver = await startHttpReceiver(answering(503))
    const url = `${receiver.url}/CANARY`
    const failed = await testChannel('alerts', { alerts: { kind: 'slack', urlEnv: 'S' } }, { S: url })
    expect(failed).toMatchObject({ code: 1, stdout: 'alerts (slack): NOT delivered: it answered 503. In a run it would be tried again.\n' })
    const json = await testChannel('alerts', { alerts: { kind: 'slack', urlEnv: 'S' } }, { S: url }, true)
    expect(JSON.parse(json.stdout)).toMatchObject({ kind: 'notification_tested', channel: 'alerts', ok: false, retry: true })
    expect(JSON.stringify([failed, json])).not.toContain('CANARY')
    expect(receiver.received).toHaveLength(2)
    const unset = await testChannel('alerts', { alerts: { kind: 'slack', urlEnv: 'S' } })
    expect(unset.stdout).toBe('alerts (slack): NOT delivered: the environment variable S is not set\n')
  })

  it('refuses a channel that is not declared and names those that are', { timeout }, async () => {
    expect(await testChannel('alert', { desk: { kind: 'stderr' } })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'assay: there is no channel alert; there are: desk\n',
    })
    expect((await testChannel('constructor', {})).stderr).toContain('notify.channels declares none')
  })
})
