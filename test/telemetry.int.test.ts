import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { trace } from '@opentelemetry/api'
import { logs } from '@opentelemetry/api-logs'
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { expect, it, onTestFinished } from 'vitest'
import { openAssay } from '../src/index.ts'

it('tells an OpenTelemetry SDK of attempts, checks and judges, and of what each review came to', { timeout: 120_000 }, async () => {
  const spans = new InMemorySpanExporter()
  const records = new InMemoryLogRecordExporter()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
  logs.setGlobalLoggerProvider(new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter: records })] }))
  const folder = mkdtempSync(join(tmpdir(), 'assay-telemetry-'))
  onTestFinished(() => {
    trace.disable()
    logs.disable()
    rmSync(folder, { recursive: true, force: true })
  })
  const answers = [
    { accept: false, scores: 2, concern: 'Too thin.', next_step: 'Write more.' },
    { accept: true, scores: 4 },
  ]
  writeFileSync(
    join(folder, 'brain.yaml'),
    JSON.stringify({ workers: { '*': [{ print: 'a' }, { print: 'b' }] }, judges: { '*': answers } }),
  )
  const config = {
    brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
    agents: { dev: { role: 'engineer', brain: 'canned' }, qa: { role: 'reviewer', brain: 'canned' } },
    review: { panel: { size: 1, quorum: 1 } },
  }
  const assay = await openAssay({ folder, config })
  const end = await assay.run({ name: 'M', tasks: [{ title: 'build', assignTo: 'dev', description: 'b' }] })
  await assay.close()
  expect(end).toMatchObject({ ok: true, value: { exitCode: 0 } })
  const names = spans.getFinishedSpans().map(({ name }) => name)
  expect(names.sort()).toEqual(
    [
      'execute_tool checks',
      'execute_tool checks',
      'invoke_agent judge',
      'invoke_agent judge',
      'invoke_agent worker',
      'invoke_agent worker',
    ].sort(),
  )
  const results = records.getFinishedLogRecords()
  expect(results.map(({ eventName }) => eventName)).toEqual(['gen_ai.evaluation.result', 'gen_ai.evaluation.result'])
  expect(results.map(({ attributes }) => attributes)).toMatchObject([
    { 'gen_ai.evaluation.name': 'assay.review', 'gen_ai.evaluation.score.value': 2, 'gen_ai.evaluation.score.label': 'needs_revision' },
    { 'gen_ai.evaluation.score.value': 4, 'gen_ai.evaluation.score.label': 'pass', 'assay.task': 'm-1/build' },
  ])
})
