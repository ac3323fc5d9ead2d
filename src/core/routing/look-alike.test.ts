import { describe, expect, it } from 'vitest'
import { foldLookAlikes, nameKey, normalText } from './look-alike.ts'

describe('texts that look alike', () => {
  it('fold to one text', () => {
    expect(foldLookAlikes('авсԁеһіјкӏмнорԛѕтухԝ')).toBe('abcdehijklmhopqstyxw')
    expect(foldLookAlikes('αεικνορτυχı')).toBe('aeikvoptuxi')
    expect(foldLookAlikes('АВСЕНІЈКМОРЅТХ')).toBe('abcehijkmopstx')
    expect(foldLookAlikes('Ｓｃｏｒｅ： ７２ ſ K ﬁ')).toBe('score: 72 s k fi')
    expect(foldLookAlikes('a\u200Bb\u00ADc\u202Ed\u{E0041}e\uFE0Ff\uFEFFg\u2060')).toBe('abcdefg')
    expect(foldLookAlikes('日本語 ñ ж\n\t')).toBe('日本語 ñ ж\n\t')
  })

  it('have one name key whatever their white space', () => {
    expect(nameKey(' Q\u00A0 a\t2\n')).toBe('qa2')
    expect(nameKey('qa-2')).toBe('qa-2')
  })

  it('are one standing text apart from case', () => {
    expect(normalText(' \nLook\u200B  for\u00A0what\n\nis  missing. ')).toBe('Look for what is missing.')
    expect(normalText('ｑａ')).toBe('qa')
    expect(normalText('\u200B')).toBe('')
  })
})
