/** Milliseconds that a piece of work takes. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Also the time that the processor spent on it: what remains comparable on a machine that does other things. */
export async function timedWithCpu(work: () => unknown): Promise<{ ms: number; cpuMs: number }> {
  const before = process.cpuUsage()
  const ms = await timed(work)
  const { user, system } = process.cpuUsage(before)
  return { ms, cpuMs: (user + system) / 1000 }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted[(sorted.length - 1) >> 1]
  if (middle === undefined) throw new RangeError('the median of nothing')
  return middle
}

/** Runs the contenders in turns, so that a slow spell of the machine hits all of them, and gives each one's median. */
export async function inTurns<Contenders extends Record<string, (() => Promise<number>) | undefined>>(
  rounds: number,
  contenders: Contenders,
): Promise<{ [Name in keyof Contenders]: number }> {
  const results = Object.entries(contenders).map(([name, run]) => ({ name, run, times: [] as number[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { run, times } of results) if (run) times.push(await run())
  }
  return Object.fromEntries(results.map(({ name, times }) => [name, median(times)])) as { [Name in keyof Contenders]: number }
}

/** Rows under a heading, columns aligned; numbers to the right. */
export function printTable(title: string, columns: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const texts = [columns, ...rows].map((row) => row.map((cell) => (typeof cell === 'number' ? rounded(cell) : cell)))
  const widths = columns.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)))
  console.log(`\n${title}`)
  for (const row of texts) {
    console.log(
      `  ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')}`,
    )
  }
}

/** Three digits are as many as a measurement deserves. */
export function rounded(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return value.toPrecision(3)
}

export function ratio(value: number, floor: number): string {
  return `${(value / floor).toFixed(2)} ×`
}

export function residentMegabytes(): number {
  return process.memoryUsage.rss() / 1024 / 1024
}
