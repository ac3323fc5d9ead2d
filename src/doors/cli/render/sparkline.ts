const blocks = '▁▂▃▄▅▆▇█'
/** Where a terminal shows no blocks: the same eight levels, by how much ink they have. */
const plain = '_.-~=+*#'

/** One mark per score, lowest at 1 and highest at 5, so that two agents' lines can be compared. */
export function sparkline(scores: readonly number[], ascii = false): string {
  const marks = ascii ? plain : blocks
  const last = marks.length - 1
  return scores
    .map((score) => {
      const level = Math.round(((score - 1) / 4) * last)
      return marks[Math.min(last, Math.max(0, level))]
    })
    .join('')
}

/** Whether a terminal can only be trusted with ASCII: it says that it is dumb, or its locale that it knows no UTF-8. */
export function wantsAscii(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.TERM === 'dumb') return true
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG
  return locale === 'C' || locale === 'POSIX'
}
