import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { World } from './worlds.ts'

interface Violation {
  id: string
  impact: string
  help: string
  /** Selectors of the first elements. */
  targets: string[]
  count: number
}

const mostTargets = 5

/** Frames are looked at one by one; what is asked of a whole page is asked of the page alone. */
const ofWholePages = ['document-title', 'html-has-lang', 'bypass']

let source: Promise<string> | undefined

/** The text of axe-core, as its package ships it. */
async function axeSource(): Promise<string> {
  source ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  return await source
}

/** Serious and critical violations of accessibility rules in one frame. */
export async function axeComplaints(world: World): Promise<string[]> {
  // Timers of a frozen page never ring; axe only uses them to run later, which a microtask does as well.
  const later = 'globalThis.setTimeout = (run, _ms, ...given) => { queueMicrotask(() => run(...given)); return 0 };'
  await world.evaluate(`${later}${await axeSource()};undefined`)
  const violations = await world.evaluate<Violation[]>(runExpression(world.main))
  return violations.map(({ id, impact, help, targets, count }) => {
    const more = count > targets.length ? ` and ${count - targets.length} more` : ''
    return `axe: ${id} (${impact}): ${help}: ${targets.join(', ')}${more}`
  })
}

type SerializedNode = AxeResults['violations'][number]['nodes'][number]

function runExpression(main: boolean): string {
  const off = main ? ['frame-tested'] : ['frame-tested', ...ofWholePages]
  const options: RunOptions = {
    iframes: false,
    preload: false,
    resultTypes: ['violations'],
    rules: Object.fromEntries(off.map((rule) => [rule, { enabled: false }])),
  }
  const target: keyof SerializedNode = 'target'
  return `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, help, nodes }) => ({
      id, impact, help, count: nodes.length,
      targets: nodes.slice(0, ${mostTargets}).map(({ ${target} }) => target.flat().join(' ').slice(0, 100)),
    })))`
}
