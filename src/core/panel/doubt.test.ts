import { describe, expect, it } from 'vitest'
import type { PanelSettings } from '../../contract/config/review.ts'
import { leavesDoubt } from './doubt.ts'
import { answerOf, dimension, grades, panelOf, type Reply, rulesOf } from '../../testing/panel/panel-kit.ts'
import { openingSeats } from './seating.ts'
import { evolvePanel } from './state.ts'
import type { PanelRules } from './state.ts'

/** Two seats that answered so. */
function doubt(
  a: Reply,
  b: Reply,
  settings: Partial<PanelSettings> = {},
  rest: Partial<PanelRules> = {},
  roster = ['a', 'b', 'c'],
): boolean {
  const rules = rulesOf(settings, rest)
  let panel = panelOf(roster, rules)
  for (const data of openingSeats(panel, rules)) panel = evolvePanel(panel, { type: 'seat.asked', data })
  for (const [index, reply] of [a, b].entries()) panel = evolvePanel(panel, answerOf(panel, panel.seats[index]!, reply, rules))
  return leavesDoubt(panel, rules)
}
const text = (score100: string): Reply => ({ kind: 'text', score100 })
const two = { dimensions: [dimension('craft'), dimension('care')] }

describe('two seats leave no doubt', () => {
  it.each<[string, Reply, Reply]>([
    ['when both accept clearly', grades(4), grades(5)],
    ['when both reject clearly', grades(1), grades(2)],
    ['when one could not be reached', grades(4), { kind: 'down' }],
    ['when nobody could be reached', { kind: 'down' }, { kind: 'down' }],
  ])('%s', (_, a, b) => {
    expect(doubt(a, b)).toBe(false)
  })
})

describe('two seats leave doubt', () => {
  it.each<[string, Reply, Reply]>([
    ['when they disagree', grades(4), grades(2)],
    ['when one abstains', grades(4), { kind: 'abstains' }],
    ['when one contradicts its own scores', grades(4), grades(2, true)],
    ['when one rejects against its own scores', grades(1), grades(4, false)],
    ['when one leans on evidence that is not there', grades(4), grades(4, true, { words: { leansOnUnresolved: true } })],
    ['when one sits at the bar', grades(3), grades(4)],
  ])('%s', (_, a, b) => {
    expect(doubt(a, b)).toBe(true)
    expect(doubt(b, a)).toBe(true)
  })

  it('when they disagree though each is clear and consistent', () => {
    expect(doubt(grades(4), grades(3), {}, { bar: 3.5 })).toBe(true)
    expect(doubt(grades(4), grades(4), {}, { bar: 3.5 })).toBe(false)
    expect(doubt(grades(3), grades(3), {}, { bar: 3.5 })).toBe(false)
  })

  it('when one of them is near the bar though the merged score is not', () => {
    expect(doubt(text('57'), text('40'), {}, {}, ['a~', 'b~', 'c'])).toBe(true)
    expect(doubt(text('54'), text('40'), {}, {}, ['a~', 'b~', 'c'])).toBe(false)
  })

  it('when they differ by more than the distance on any one dimension', () => {
    expect(doubt(grades([5, 5]), grades([5, 3]), {}, two)).toBe(true)
    expect(doubt(grades([5, 5]), grades([4, 4]), {}, two)).toBe(false)
    expect(doubt(grades([5, 5]), grades([5, 3]), { outlierDistance: 2 }, two)).toBe(false)
    expect(doubt(grades([5, 5]), grades([5, 3]), { outlierDistance: 1.99 }, two)).toBe(true)
    expect(doubt(text('100'), text('70'), {}, {}, ['a~', 'b~', 'c'])).toBe(false)
    expect(doubt(text('100'), text('69.99'), {}, {}, ['a~', 'b~', 'c'])).toBe(true)
  })

  it('within a quarter of the bar, the edge included', () => {
    const texts = (score: string) => doubt(text(score), text(score), {}, {}, ['a~', 'b~', 'c'])
    expect(texts('65')).toBe(true)
    expect(texts('65.01')).toBe(false)
    expect(texts('55')).toBe(true)
    expect(texts('54.99')).toBe(false)
    expect(doubt(text('65'), text('90'), {}, {}, ['a~', 'b~', 'c'])).toBe(true)
    expect(doubt(text('65.01'), text('90'), {}, {}, ['a~', 'b~', 'c'])).toBe(false)
  })

  it('when the merged score is near the bar though no seat is', () => {
    const far = { dimensions: [dimension('craft'), dimension('care')], bar: 3.25 }
    expect(doubt(grades([4, 3]), grades([3, 4]), {}, far)).toBe(true)
    const own = { ...far, bar: 3.2 }
    expect(doubt(grades([4, 3]), grades([3, 4]), {}, own)).toBe(true)
    expect(doubt(grades([4, 3]), grades([4, 3]), {}, own)).toBe(false)
  })

  it('when a seat is void', () => {
    const rules = rulesOf()
    let panel = panelOf(['a', 'b'], rules)
    for (const data of openingSeats(panel, rules)) panel = evolvePanel(panel, { type: 'seat.asked', data })
    panel = evolvePanel(panel, answerOf(panel, panel.seats[0]!, grades(4), rules))
    panel = evolvePanel(panel, answerOf(panel, panel.seats[1]!, { kind: 'garbles' }, rules))
    expect(leavesDoubt(panel, rules)).toBe(false)
    panel = evolvePanel(panel, { type: 'seat.voided', data: { review: 7, seat: 2, judge: 'b' } })
    expect(leavesDoubt(panel, rules)).toBe(true)
  })
})
