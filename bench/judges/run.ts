import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { printTable } from '../measure.ts'
import type { AttackCount } from './attacks/attacks.ts'
import { placeNames } from './attacks/places.ts'
import { escalation, type PanelCount } from './consensus/consensus.ts'
import { ruleNames } from './consensus/rules.ts'
import { hasData } from './data.ts'
import { measure, sizes } from './judges.ts'
import type { ReadingCount } from './reading/reading.ts'

const { values } = parseArgs({
  options: { data: { type: 'string' }, quick: { type: 'boolean', default: false }, all: { type: 'boolean', default: false } },
})
const folder = values.data ?? process.env.ASSAY_DATA ?? '../shared/data'

/** Counts are whole numbers, whatever their size. */
const whole = (count: number) => count.toLocaleString('en')
const percent = (share: number) => `${(share * 100).toFixed(1)} %`
const sum = <T>(rows: readonly T[], of: (row: T) => number) => rows.reduce((total, row) => total + of(row), 0)

function printReadings(readings: readonly ReadingCount[]): void {
  const rows = readings.map(({ fmt, expect, rows: all, read, rejected, misread }) => [
    fmt,
    expect,
    ...[all, read, rejected, misread].map(whole),
    percent(read / all),
  ])
  printTable(
    '(a) replies of recorded judges, by format and what is expected',
    ['format', 'expect', 'rows', 'read', 'rejected', 'misread', 'read %'],
    rows,
  )
  const parse = readings.filter(({ expect }) => expect === 'parse')
  const reject = readings.filter(({ expect }) => expect === 'reject')
  const share = sum(parse, ({ read }) => read) / sum(parse, ({ rows: all }) => all)
  const unrejected = sum(reject, ({ read }) => read)
  console.log(`  reject rows read: ${unrejected} (0 wanted), misread: ${sum(readings, ({ misread }) => misread)} (0 wanted)`)
  console.log(`  parse rows read: ${percent(share)} (at least 95 % wanted)`)
}

function printAttacks(title: string, counts: readonly AttackCount[]): void {
  const rows = [...Map.groupBy(counts, ({ judges }) => judges)].map(([judges, own]) => [
    judges,
    whole(sum(own, ({ reviews }) => reviews)),
    ...placeNames.map((place) => whole(own.find((one) => one.place === place)?.released ?? 0)),
    whole(sum(own, ({ released }) => released)),
  ])
  printTable(title, ['judges', 'reviews', ...placeNames, 'released'], rows)
}

function printPanels(panels: readonly PanelCount[]): void {
  for (const { panel, items, constant, tallies } of panels) {
    const rows = [
      ['constant guess', constant] as const,
      ...ruleNames.flatMap((rule) => (tallies.has(rule) ? [[rule, tallies.get(rule)] as const] : [])),
    ]
    printTable(
      `(c) ${panel}: ${whole(items)} items`,
      ['rule', 'panels', 'accuracy', 'false pass', 'false fail', 'calls', 'unlike majority'],
      rows.flatMap(([rule, tally]) =>
        tally
          ? [
              [
                rule,
                whole(tally.panels),
                percent(tally.accuracy),
                percent(tally.falsePassRate),
                percent(tally.falseFailRate),
                tally.callsPerDecision.toFixed(2),
                whole(tally.unlikeMajority),
              ],
            ]
          : [],
      ),
    )
  }
}

function printEscalation(counts: readonly PanelCount[]): void {
  const { panels, callsOfAll, callsOfPanels, unlikeMajority } = escalation(counts)
  console.log(`\n  escalate on ${panels} two-valued panels (at most 2.4 calls a decision wanted):`)
  console.log(`  ${callsOfAll.toFixed(3)} over all ordered triples, ${callsOfPanels.toFixed(3)} as the mean of the panels`)
  console.log(`  decisions unlike the majority of 3: ${unlikeMajority} (0 wanted)`)
}

if (!existsSync(folder) || !hasData(folder)) {
  console.error(`bench:judges: no recorded judgements in ${folder}; name their folder with --data`)
  process.exitCode = 2
} else {
  const size = values.all ? sizes.all : values.quick ? sizes.quick : sizes.usual
  const started = performance.now()
  const { readings, attacks, panels } = measure(folder, size)
  printReadings(readings)
  printAttacks(
    `(b) work released by judges that repeat attacks (0 wanted): ${attacks.tried} of ${attacks.known} attacks`,
    attacks.repeating,
  )
  printAttacks('(b) work released against an honest judge with a veto (0 wanted)', attacks.outvoted)
  printAttacks('(b) work released by judges that obey (not bounded)', attacks.obeying)
  printPanels(panels)
  printEscalation(panels)
  console.log(`\n  levels: up to ${size.items} items a panel; ${((performance.now() - started) / 1000).toFixed(0)} s`)
}
