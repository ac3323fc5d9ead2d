import type { BrainChoice } from './choice.ts'

/** The configuration: who works and who judges. What could not be found out stands in it as a comment that says what to fill in. */
export function configText(worker: BrainChoice | undefined, judge: BrainChoice | undefined): string {
  return [
    '# Who works, who judges, and what passes. Every knob with its default: assay config --explain',
    'version: 1',
    'brains:',
    ...(worker
      ? [`  worker: ${brainText(worker)}`]
      : [
          '  # No agent was found in PATH and no key in the environment. Name one of yours, e.g. { kind: agent, agent: claude }',
          '  # or { kind: command, argv: [./worker.sh] }. As it stands, tasks wait for a worker that comes by itself.',
          '  worker: { kind: outside }',
        ]),
    ...(judge
      ? [...modelNote(judge), `  critic: ${brainText(judge)}`]
      : [
          '  # Nobody judges yet. Take the # away from the next line and from the reviewers below, and fill in model and key:',
          '  # critic: { kind: model, provider: anthropic, model: <name>, apiKeyEnv: ANTHROPIC_API_KEY }',
        ]),
    'agents:',
    '  dev: { role: engineer, brain: worker }',
    ...reviewers.map((line) => (judge ? `  ${line}` : `  # ${line}`)),
    'review: { threshold: 60, maxAttempts: 2 }',
    '',
  ].join('\n')
}

/** Three that differ by what they look for: they are three principals, and none of them is the worker. */
const reviewers = [
  'ada: { role: reviewer, brain: critic, instructions: Check it against the criteria. }',
  'bob: { role: reviewer, brain: critic, instructions: Look for what is missing. }',
  'cyn: { role: reviewer, brain: critic, instructions: Try to break it. }',
]

function modelNote(brain: BrainChoice): string[] {
  return brain.kind === 'model' ? ['  # The model is a suggestion; `assay doctor --ping` asks whether it answers.'] : []
}

function brainText(brain: BrainChoice): string {
  if (brain.kind === 'agent') return `{ kind: agent, agent: ${brain.agent} }`
  const { provider, model, apiKeyEnv } = brain
  return `{ kind: model, provider: ${provider}, model: ${word(model)}, apiKeyEnv: ${apiKeyEnv} }`
}

/** A word as YAML takes it inside a flow: plain where it is harmless, in quotes elsewhere. */
export function word(text: string): string {
  return /^[A-Za-z][\w./@-]*$/.test(text) && !/^(true|false|null|yes|no|on|off)$/i.test(text) ? text : JSON.stringify(text)
}
