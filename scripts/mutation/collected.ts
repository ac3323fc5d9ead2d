/** Stands in for `vitest` while test files are loaded: tests are collected, to be run again for every mutant without loading anything anew. */
export { expect } from 'vitest'

type Body = (...args: unknown[]) => unknown

export interface Collected {
  /** File and name: what the coverage of a mutant is written down by. */
  id: string
  name: string
  file: string
  run: () => Promise<void>
}

export const collected: Collected[] = []
const seen = new Set<string>()
let file = ''
/** Names of the suites around. */
let suite: readonly string[] = []

/** The tests are loaded, again perhaps. */
export function start(): void {
  collected.length = 0
  seen.clear()
}

/** The tests of one file follow. */
export function startFile(path: string): void {
  file = path
  suite = []
}

function addSuite(name: string, body: Body, args: readonly unknown[]): void {
  const outer = suite
  suite = [...outer, name]
  body(...args)
  suite = outer
}

function addTest(name: string, body: Body, args: readonly unknown[]): void {
  const full = [...suite, name].join(' > ')
  let id = `${file}#${full}`
  for (let again = 2; seen.has(id); again += 1) id = `${file}#${full} (${again})`
  seen.add(id)
  collected.push({ id, name: full, file, run: async () => void (await body(...args)) })
}

type Add = (name: string, body: Body, args: readonly unknown[]) => void

/** What stands for `it` and `describe`: called as they are, or once for each row of a table. */
function adder(add: Add) {
  const bodyOf = (given: readonly unknown[]) => given.find((value): value is Body => typeof value === 'function') as Body
  const plain = (name: string, ...rest: unknown[]) => add(name, bodyOf(rest), [])
  const each =
    (rows: readonly unknown[]) =>
    (name: string, ...rest: unknown[]) => {
      for (const row of rows) add(name, bodyOf(rest), Array.isArray(row) ? row : [row])
    }
  return Object.assign(plain, { each })
}

const skip = adder(() => undefined)
const tests = adder(addTest)
const suites = adder(addSuite)

export const it = Object.assign(tests, { skipIf: (condition: unknown) => (condition ? skip : tests) })
export const describe = Object.assign(suites, { skipIf: (condition: unknown) => (condition ? skip : suites) })
