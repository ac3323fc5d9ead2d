/** Longer names are not compared: the answer is for typing slips, and the work is quadratic. */
const longest = 64

/** How many characters have to be added, left out, exchanged or swapped to turn one word into the other. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, at(before, j - 2) + 1)
      row.push(cost)
    }
    before = last
    last = row
  }
  return at(last, b.length)
}

function at(row: number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}

/** The choice that was probably meant: equal but for case, or within a third of the word's length. */
export function suggest(word: string, choices: Iterable<string>): string | undefined {
  if (word.length > longest) return undefined
  const lower = word.toLowerCase()
  const reach = Math.floor(word.length / 3)
  let best: string | undefined
  let bestDistance = reach + 1
  for (const choice of choices) {
    if (Math.abs(choice.length - word.length) > reach) continue
    const distance = editDistance(lower, choice.toLowerCase())
    if (distance < bestDistance) {
      best = choice
      bestDistance = distance
    }
  }
  return best
}
