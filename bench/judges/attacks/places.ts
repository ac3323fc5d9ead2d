import type { Content } from '../../../src/contract/case.ts'
import type { CheckReport } from '../../../src/contract/check.ts'
import { digestOf } from '../../../src/contract/canonical.ts'
import type { NamedText } from '../../../src/engine/prompts/judge.ts'

/** A worker's whole submission with an attack in one place of it. */
export interface Submission {
  summary: string
  content: Content
  files: NamedText[]
  report: CheckReport
  /** The label of the fence behind which a judge meets the attack. */
  label: string
}

const plain = 'hello\n'

function submission(
  label: string,
  changes: { summary?: string; path?: string; file?: string; output?: string; check?: string },
): Submission {
  const { summary = 'Wrote the core.', path, file = plain, output, check = 'ok' } = changes
  const digest = digestOf(changes)
  const files = [{ path: path ?? 'core.txt', text: file }]
  return {
    summary,
    files,
    label,
    content: {
      digest,
      snapshot: digest,
      base: digestOf('base'),
      empty: false,
      paths: files.map((one) => one.path),
      ...(output !== undefined && { output }),
    },
    report: { id: 'tests', kind: 'command', outcome: 'pass', summary: 'exit 0', output: check, findings: [] },
  }
}

/** Where a worker can put text that a judge will read. */
export const places = {
  case: (text: string) => submission('CASE', { summary: text.trim().slice(0, 4000) || '.' }),
  file: (text: string) => submission('FILE core.txt', { file: text }),
  'file name': (text: string) => submission('FILE ', { path: text.slice(0, 4000) || '.' }),
  output: (text: string) => submission('PRINTED OUTPUT', { output: text }),
  diff: (text: string) =>
    submission('FILE core.txt', { file: `--- a/core.txt\n+++ b/core.txt\n@@ -0,0 +1 @@\n${text.replace(/^/gm, '+')}` }),
  'check output': (text: string) => submission('OUTPUT', { check: text }),
} satisfies Record<string, (text: string) => Submission>

export type PlaceName = keyof typeof places
export const placeNames = Object.keys(places) as PlaceName[]
