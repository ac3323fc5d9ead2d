import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AgentName, logins, notedIn, noting, openStage, type Stage } from '../../../testing/agents/stand-in.ts'
import { sampleCase } from '../../../testing/model-server/model-worker.ts'
import { sandboxState } from '../../process/sandbox.ts'
import { knownAgents } from './brain.ts'

const sandbox = await sandboxState()
if (!sandbox.usable) console.warn(`logins of sandboxed agents are not tested: ${sandbox.reason}; install bubblewrap`)
const fencedCase = `\`\`\`json\n${sampleCase}\n\`\`\``
const evil = '{"http://evil":{"type":"wellknown","key":"OPENCODE_CONFIG_CONTENT","token":"{}"}}'

let stage: Stage
beforeEach(() => {
  stage = openStage()
})
afterEach(() => stage.remove())

const homeOf = (file: string) => join(stage.home, file)

/** Every file of the user's that the agent's table lets a run write, by its place. */
function writableFiles(agent: AgentName): string[] {
  const { keeps, copies = [] } = knownAgents[agent]
  const kept = keeps.flatMap(({ at, login = {}, copies: own = [] }) => [...Object.keys(login), ...own].map((name) => join(at, name)))
  return [...kept, ...copies].map(homeOf)
}

describe.skipIf(!sandbox.usable).each(['claude', 'codex', 'gemini', 'opencode'] as const)('what a worker on %s writes', (agent) => {
  it('into files of its own reaches neither the user nor a judge', async () => {
    const files = writableFiles(agent)
    for (const file of files) {
      mkdirSync(dirname(file), { recursive: true })
      if (file !== homeOf(logins[agent])) writeFileSync(file, '{"mine":{"type":"api","key":"k"}}')
    }
    const before = files.map((file) => readFileSync(file, 'utf8'))
    const plant = files.map((file) => `printf '%s' '${evil}' > '${file}' && echo x >> planted.txt`).join('\n')
    stage.cast(agent, { prints: `${agent}/worked.out`, says: fencedCase, does: plant })
    expect(await stage.work(agent)).toMatchObject({ kind: 'finished' })
    expect(readFileSync(join(stage.workspace, 'planted.txt'), 'utf8'), 'it could write all of them').toBe('x\n'.repeat(files.length))
    expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(before)
    stage.cast(agent, { does: noting(agent, homeOf(logins[agent]), `cat '${files.join("' '")}'`) })
    await stage.judge(agent)
    const seen = notedIn(homeOf(logins[agent]))
    expect(seen, 'the judge looked').toContain('"mine"')
    expect(seen).not.toContain('evil')
    const folders = new Set(files.map(dirname))
    expect([...folders].flatMap((folder) => readdirSync(folder)).filter((name) => name.endsWith('.assay'))).toEqual([])
  })

  it('as a renewed token comes back, while it still runs, to a file with the same rights behind the same link', async () => {
    const login = homeOf(logins[agent])
    const elsewhere = join(stage.home, 'dotfile')
    writeFileSync(elsewhere, readFileSync(login))
    chmodSync(elsewhere, 0o640)
    rmSync(login)
    symlinkSync(elsewhere, login)
    stage.cast(agent, { prints: `${agent}/worked.out`, says: fencedCase, does: 'until test -e go; do sleep 0.1; done' })
    const ending = stage.work(agent)
    let over = false
    void ending.then(() => {
      over = true
    })
    while (notedIn(login) === '' && !over) await sleep(20)
    expect(over, 'it still runs').toBe(false)
    writeFileSync(join(stage.workspace, 'go'), '')
    expect(await ending).toMatchObject({ kind: 'finished' })
    expect(notedIn(elsewhere)).toContain('Write core.txt.')
    expect(statSync(elsewhere).mode & 0o777).toBe(0o640)
  })
})

it.skipIf(!sandbox.usable)('a token that somebody else renews reaches a run that goes on, and nothing else of theirs does', async () => {
  const login = homeOf(logins.opencode)
  const does = `until grep -q renewed-by-others '${login}'; do sleep 0.1; done; cat '${login}' > seen.txt`
  stage.cast('opencode', { prints: 'opencode/worked.out', says: fencedCase, does })
  const ending = stage.work('opencode')
  while (notedIn(login) === '') await sleep(20)
  const theirs = readFileSync(login, 'utf8').replace(/"r"/, '"renewed-by-others"').replace('{', '{"new":{"type":"api","key":"k"},')
  writeFileSync(login, theirs)
  expect(await ending).toMatchObject({ kind: 'finished' })
  const seen = readFileSync(join(stage.workspace, 'seen.txt'), 'utf8')
  expect(JSON.parse(seen)).toEqual({ anthropic: (JSON.parse(theirs) as { anthropic: object }).anthropic })
  expect(readFileSync(login, 'utf8')).toBe(theirs)
})

it.skipIf(!sandbox.usable)('a renewed login that cannot be kept is told once, and the work is not lost', async () => {
  const notices: string[] = []
  const login = homeOf(logins.codex)
  stage.cast('codex', { prints: 'codex/worked.out', says: fencedCase, does: `test -e '${login}' && touch seen` })
  const loses = { notice: (message: string) => void notices.push(message) }
  const place = `${login}.${process.pid}.assay`
  // A folder where the new file is to be written first.
  mkdirSync(place)
  expect(await stage.work('codex', loses)).toMatchObject({ kind: 'finished', raw: sampleCase })
  expect(existsSync(join(stage.workspace, 'seen'))).toBe(true)
  expect(notices).toEqual([expect.stringMatching(/^codex has renewed its login, which cannot be kept in .*auth\.json: .*EISDIR/)])
  expect(notedIn(login)).toBe('')
})
