import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, it, onTestFinished } from 'vitest'
import { generateReviewed } from '../examples/library/ai-sdk.ts'
import { assayGuardrail } from '../examples/library/openai-agents.ts'
import { openAssay } from '../src/index.ts'

const timeout = 120_000

async function gate(answers: object[]) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-example-'))
  writeFileSync(join(folder, 'brain.yaml'), JSON.stringify({ judges: { '*': answers } }))
  const config = {
    brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
    agents: { qa: { role: 'reviewer', brain: 'canned' } },
    review: { panel: { size: 1, quorum: 1 } },
  }
  const assay = await openAssay({ folder, config })
  onTestFinished(async () => {
    await assay.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return assay
}

/** A model that answers with its text, and keeps what it was asked. */
function model(text: string, asked: string[]) {
  const provider = createOpenAICompatible({
    name: 'loopback',
    baseURL: 'http://127.0.0.1:9/v1',
    fetch: async (_url, init) => {
      asked.push(String(init?.body))
      const message = { role: 'assistant', content: text }
      return Response.json({
        id: '1',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      })
    },
  })
  return provider('m')
}

describe('examples of the library', () => {
  it('run.ts shows a refusal, a release and a delegation', { timeout }, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['examples/library/run.ts'])
    expect(stdout.split('\n').slice(0, -1)).toEqual([
      'first version: NEEDS_REVISION',
      'sent too early: refused (needs_revision)',
      'second version: PASS',
      'sent again: in the inbox, pass',
      'delegated: completed PASS',
      'audit: intact',
    ])
  })

  it('the AI SDK call goes on with the feedback, and says how it ended', { timeout }, async () => {
    const reject = { accept: false, scores: 2, concern: 'No source.', next_step: 'Name the source.' }
    const asked: string[] = []
    const ended = await generateReviewed(await gate([reject]), {
      model: model('42', asked),
      prompt: 'How many?',
      criteria: ['names its source'],
      rounds: 2,
    })
    expect(ended).toEqual({ text: '42', verdict: 'FAIL', rounds: 2 })
    expect(asked).toHaveLength(2)
    expect(asked[1]).toContain('Name the source.')
    expect(
      await generateReviewed(await gate([{ accept: true, scores: 5 }]), { model: model('42', []), prompt: 'How many?', criteria: [] }),
    ).toMatchObject({
      verdict: 'PASS',
      rounds: 1,
    })
  })

  it('the guardrail trips on a rejection, and where nobody could judge', { timeout }, async () => {
    const trips = async (answer: object) =>
      (await assayGuardrail(await gate([answer]), ['it is whole']).execute({ agentOutput: { answer: 42 } })).tripwireTriggered
    expect(await trips({ accept: true, scores: 4 })).toBe(false)
    expect(await trips({ accept: false, scores: 2, next_step: 'Mend it.' })).toBe(true)
    expect(await trips({ raw: 'no verdict' })).toBe(true)
  })
})
