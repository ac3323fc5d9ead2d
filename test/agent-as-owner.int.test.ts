import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../src/contract/canonical.ts'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import type { Project } from './front-door/project.ts'

const timeout = 120_000
useAssay()

const token = 'that of the account'
const mine = 'that of the agent'

/** A project whose account has its home in a folder of the test: as the system would name it, whatever the variables say. */
function ofAccount(files: Record<string, string> = {}): { project: Project; env: Record<string, string> } {
  const project = oneTask({ worker: 'echo x > a.txt' })
  const home = join(project.folder, 'account')
  project.write({
    'account.mjs': `import os from 'node:os'
import { syncBuiltinESMExports } from 'node:module'
const known = os.userInfo()
os.userInfo = () => ({ ...known, homedir: ${JSON.stringify(home)} })
syncBuiltinESMExports()
`,
    'agent/assay/owner-token': `${mine}\n`,
    ...files,
  })
  const redirected = { XDG_CONFIG_HOME: join(project.folder, 'agent'), ASSAY_OWNER_TOKEN: mine }
  return { project, env: { ...redirected, NODE_OPTIONS: `--import=${pathToFileURL(join(project.folder, 'account.mjs'))}` } }
}

const enrolled = async (project: Project) =>
  (await project.events()).filter(({ type }) => type === 'owner.enrolled').map(({ data }) => (data as { token: string }).token)

describe('an agent that names a folder of its own for the token', () => {
  it('does not become the owner: the token in the home of the account is enrolled', { timeout }, async () => {
    const { project, env } = ofAccount({ 'account/.config/assay/owner-token': `${token}\n` })
    const agent = { ...env, CLAUDECODE: '1' }
    const ended = await project.run(['run', 'm.yaml'], { env: agent })
    expect(ended.code, ended.stderr).toBe(0)
    expect(await enrolled(project)).toEqual([sha256Hex(token)])
    const overrule = ['overrule', 'm-1/a', 'fail', '--reason', 'as I like']
    const refused = await project.run(overrule, { env: agent })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/is not the owner's token/)
    expect(refused.stderr).not.toContain('owner-token')
    const alone = await project.run(overrule, { env: { ...env, GEMINI_CLI: '1', ASSAY_OWNER_TOKEN: '' } })
    expect(alone.code).toBe(2)
    expect((await project.run(overrule, { env: { ...agent, ASSAY_OWNER_TOKEN: token } })).code).toBe(0)
  })

  it('has one made in the home of the account where there is none, and is still not the owner', { timeout }, async () => {
    const { project, env } = ofAccount()
    const agent = { ...env, ASSAY_RUN_ID: 'x' }
    expect((await project.run(['run', 'm.yaml'], { env: agent })).code).toBe(0)
    expect(await enrolled(project)).toEqual([sha256Hex(project.read('account/.config/assay/owner-token').trim())])
    expect((await project.run(['mission', 'retry', 'm-1'], { env: agent })).code).toBe(2)
  })

  it('finds no owner enrolled where none can be made, and runs all the same', { timeout }, async () => {
    const { project, env } = ofAccount({ account: 'no folder\n' })
    const ended = await project.run(['run', 'm.yaml'], { env: { ...env, CLAUDECODE: '1' } })
    expect(ended.code, ended.stderr).toBe(0)
    expect(await enrolled(project)).toEqual([])
    const refused = await project.run(['mission', 'retry', 'm-1'], { env: { ...env, CLAUDECODE: '1' } })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/is not the owner's token/)
  })

  it('changes nothing for a person, whose variables count', { timeout }, async () => {
    const { project, env } = ofAccount({ 'account/.config/assay/owner-token': `${token}\n` })
    expect((await project.run(['run', 'm.yaml'], { env })).code).toBe(0)
    expect(await enrolled(project)).toEqual([sha256Hex(mine)])
  })
})
