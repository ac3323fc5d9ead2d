import type { Result } from '../../../contract/errors.ts'
import { readDocument } from '../../../contract/source/document.ts'
import { parseWith } from '../../../contract/source/issues.ts'
import {
  type Finding,
  formatPath,
  formatPlace,
  type Locate,
  type Path,
  placeFindings,
  type Problem,
} from '../../../contract/source/problem.ts'
import { shown } from '../../../contract/source/shown.ts'
import { type Answer, type AnswerForm, answerForms, ScriptFile, WorkStep } from './script.ts'

/** A part of the script and where it stands, for messages while it is played. */
export interface Placed<T> {
  value: T
  place: string
}

/** Everybody's lines: by name, `*` for everybody else; the last of a list goes on for ever. A judge's rounds are those of one review. */
export interface Script {
  workers: Map<string, Placed<WorkStep>[]>
  judges: Map<string, Map<string, Placed<Answer[]>[]>>
}

/** Reads a script file; what is wrong with it is said with line and column. */
export function readScript(text: string, file: string): Result<Script, Problem[]> {
  const document = readDocument(text, file)
  if (!document.ok) return document
  const { locate } = document.value
  const outline = parseWith(ScriptFile, document.value.value)
  if (!outline.ok) return { ok: false, error: placeFindings(outline.error, locate) }
  const reader = new ScriptReader(locate)
  const script: Script = { workers: new Map(), judges: new Map() }
  for (const [task, steps] of Object.entries(outline.value.workers)) script.workers.set(task, reader.steps(steps, ['workers', task]))
  for (const [judge, answers] of Object.entries(outline.value.judges)) {
    const byTask = Array.isArray(answers)
      ? [['*', answers, ['judges', judge]] as const]
      : Object.entries(answers).map(([task, list]) => [task, list, ['judges', judge, task]] as const)
    script.judges.set(judge, new Map(byTask.map(([task, list, path]) => [task, reader.reviews(list, path)])))
  }
  return reader.findings.length > 0 ? { ok: false, error: placeFindings(reader.findings, locate) } : { ok: true, value: script }
}

class ScriptReader {
  readonly findings: Finding[] = []
  readonly #locate: Locate

  constructor(locate: Locate) {
    this.#locate = locate
  }

  steps(values: readonly unknown[], path: Path): Placed<WorkStep>[] {
    return values.flatMap((value, index) => {
      const step = this.#take(parseWith(WorkStep, value), [...path, index])
      return step === undefined ? [] : [{ value: step, place: this.#placeOf([...path, index]) }]
    })
  }

  /** One entry per review; each is one answer, or several under `rounds` for a judge that is asked again. */
  reviews(values: readonly unknown[], path: Path): Placed<Answer[]>[] {
    return values.map((value, index) => {
      const here = [...path, index]
      const rounds = roundsOf(value)
      const answers =
        rounds === undefined ? [this.#answer(value, here)] : rounds.map((round, nth) => this.#answer(round, [...here, 'rounds', nth]))
      return { value: answers.filter((answer) => answer !== undefined), place: this.#placeOf(here) }
    })
  }

  /** The word that an answer is known by decides which others it may have. */
  #answer(value: unknown, path: Path): Answer | undefined {
    const known = Object.keys(answerForms) as AnswerForm[]
    const present = typeof value === 'object' && value !== null ? known.filter((form) => Object.hasOwn(value, form)) : []
    const [form, second] = present
    if (form === undefined || second !== undefined) {
      const what =
        form === undefined
          ? `expected an answer with one of ${[...known, 'rounds'].join(', ')}; got ${shown(value)}`
          : `${present.join(' and ')} are two answers`
      this.findings.push({ path, message: `\`${formatPath(path)}\`: ${what}` })
      return undefined
    }
    const words = this.#take(parseWith(answerForms[form], value), path)
    return words === undefined ? undefined : ({ form, words } as Answer)
  }

  #take<T>(result: Result<T, Finding[]>, path: Path): T | undefined {
    if (result.ok) return result.value
    this.findings.push(...result.error.map((finding) => ({ ...finding, path: [...path, ...finding.path] })))
    return undefined
  }

  #placeOf(path: Path): string {
    return formatPlace(this.#locate(path))
  }
}

function roundsOf(value: unknown): unknown[] | undefined {
  const rounds =
    typeof value === 'object' && value !== null && Object.keys(value).length === 1 ? (value as { rounds?: unknown }).rounds : undefined
  return Array.isArray(rounds) && rounds.length > 0 ? rounds : undefined
}
