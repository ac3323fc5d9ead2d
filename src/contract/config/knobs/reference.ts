import { MissionFile } from '../../mission/mission.ts'
import { defaultWords, explainConfig, otherNames, typeWords } from './explain.ts'
import { type Knob, knobsOf } from './knobs.ts'

const printed = '<!-- Printed from the schemas by scripts/print-reference.ts. Change the schema, then print again. -->'

/** `docs/reference/configuration.md`: every knob of `assay.yaml`, and every key of a mission file. */
export function referenceMarkdown(): string {
  return [
    '# Configuration',
    '',
    printed,
    '',
    'Everything that can be written in `assay.yaml`. A flag wins over the environment, the environment over the file, the file over the default.',
    'Unknown keys are errors. `assay config --explain` prints the same table with the values in force and where each came from.',
    '',
    ...sections(explainConfig()),
    '# Mission files',
    '',
    'Everything that can be written in a mission file, YAML or JSON. The keys of a check and of a dimension are those of `checks` and `review.dimensions` above.',
    '',
    ...table(knobsOf(MissionFile).filter((knob) => !/^tasks\[\]\.(checks|dimensions)\[\]/.test(knob.path))),
    '',
  ].join('\n')
}

/** One heading for each key at the top that has others below it; those without come first. */
function sections(knobs: readonly Knob[]): string[] {
  const groups = Map.groupBy(knobs, (knob) => knob.path.split(/[.[]/)[0] ?? '')
  const alone = [...groups.values()].filter((group) => group.length === 1).flat()
  const headed = [...groups].filter(([, group]) => group.length > 1)
  return [
    ...['## Top level', '', ...table(alone), ''],
    ...headed.flatMap(([name, [head, ...rest]]) => [`## ${name}`, '', describe(head), '', ...table(rest), '']),
  ]
}

function describe(head: Knob | undefined): string {
  if (head === undefined) return ''
  const others = otherNames(head)
  return `${head.description}${others.length > 0 ? ` Also accepted as ${others.map(code).join(', ')}.` : ''}`
}

function table(knobs: readonly Knob[]): string[] {
  return [
    '| key | type | default | env, flag, other names | |',
    '|---|---|---|---|---|',
    ...knobs.map((knob) => {
      const when = knob.when === undefined ? '' : `(${knob.when}) `
      const fallback = defaultWords(knob)
      const cells = [
        code(knob.path),
        knob.choices === undefined ? typeWords(knob) : knob.choices.map(code).join(', '),
        fallback === 'required' || fallback === 'none' || fallback === '' ? fallback : code(fallback),
        otherNames(knob).map(code).join(', '),
        `${when}${knob.description}`,
      ]
      return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
    }),
  ]
}

function code(text: string): string {
  return `\`${text}\``
}
