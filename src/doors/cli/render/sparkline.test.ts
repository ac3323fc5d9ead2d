import { describe, expect, it } from 'vitest'
import { sparkline, wantsAscii } from './sparkline.ts'

describe('a sparkline', () => {
  it('goes from the lowest mark at 1 to the highest at 5', () => {
    expect(sparkline([1, 2, 3, 4, 5])).toBe('▁▃▅▆█')
    expect(sparkline([1, 2, 3, 4, 5], true)).toBe('_-=+#')
  })

  it('keeps to its marks whatever the score, and is empty for none', () => {
    expect(sparkline([0, -3, 9])).toBe('▁▁█')
    expect(sparkline([])).toBe('')
  })

  it('uses all eight marks', () => {
    const scores = Array.from({ length: 8 }, (_, level) => 1 + (level * 4) / 7)
    expect(sparkline(scores)).toBe('▁▂▃▄▅▆▇█')
  })

  it('is plain on a dumb terminal and in a locale without UTF-8', () => {
    for (const env of [{ TERM: 'dumb' }, { TERM: 'xterm', LC_ALL: 'C' }, { LANG: 'POSIX' }]) expect(wantsAscii(env)).toBe(true)
    for (const env of [{}, { TERM: 'xterm' }, { LC_ALL: 'C.UTF-8', LANG: 'C' }, { LANG: 'en_GB.UTF-8' }])
      expect(wantsAscii(env)).toBe(false)
  })
})
