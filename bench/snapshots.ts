import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSnapshotStore } from '../src/adapters/snapshots/store.ts'

/**
 * How long a snapshot takes next to `sha256sum` over the same files, in the same run.
 * `again` is a snapshot of content that the store has, as every review after the first finds it: the ratio is held to 1.5.
 * `first` goes into an empty store: it also writes every object and waits for the disk, which sha256sum does not. It is printed beside it.
 * Of every figure the middle one of five rounds is taken; `cold` is the one take that a command makes, before anything of it is warm.
 *
 *   npx node bench/snapshots.ts --size small|full
 */
const size = process.argv[process.argv.indexOf('--size') + 1] === 'full' ? 'full' : 'small'
const rounds = 5
const shapes = {
  small: [
    { name: 'small files', files: 2000, bytes: 4 * 1024 },
    { name: 'large files', files: 4, bytes: 16 * 1024 * 1024 },
  ],
  full: [
    { name: 'small files', files: 20_000, bytes: 4 * 1024 },
    { name: 'medium files', files: 2000, bytes: 256 * 1024 },
    { name: 'large files', files: 4, bytes: 256 * 1024 * 1024 },
  ],
}[size]

function plant(folder: string, files: number, bytes: number): void {
  for (let n = 0; n < files; n++) {
    const inner = join(folder, `folder${n % 20}`)
    mkdirSync(inner, { recursive: true })
    writeFileSync(join(inner, `file${n}`), randomBytes(bytes))
  }
}

async function msOf(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** The middle one, so that a pause of the machine does not decide. */
function median(times: number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
}

function sha256sum(folder: string): void {
  const ran = spawnSync('sh', ['-c', 'find . -type f -print0 | xargs -0 sha256sum > /dev/null'], { cwd: folder })
  if (ran.status !== 0) throw new Error(`sha256sum did not run: ${ran.stderr}`)
}

async function measure(shape: { name: string; files: number; bytes: number }): Promise<number> {
  const ground = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  try {
    const root = join(ground, 'root')
    plant(root, shape.files, shape.bytes)
    const taker = (name: string) => {
      const store = openSnapshotStore({ folder: join(ground, name) })
      return async () => {
        const answer = await store.take(root)
        if (!answer.ok) throw new Error(answer.problem.message)
      }
    }
    sha256sum(root)
    const known = taker('objects')
    const cold = await msOf(known)
    const reference: number[] = []
    const firsts: number[] = []
    const again: number[] = []
    for (let round = 0; round < rounds; round++) {
      reference.push(await msOf(() => sha256sum(root)))
      again.push(await msOf(known))
      firsts.push(await msOf(taker(`empty-${round}`)))
      rmSync(join(ground, `empty-${round}`), { recursive: true })
    }
    const megabytes = (shape.files * shape.bytes) / 1e6
    const rate = (ms: number) => `${((megabytes / ms) * 1000).toFixed(0)} MB/s`.padStart(10)
    const ratio = median(again) / median(reference)
    const firstRatio = median(firsts) / median(reference)
    console.log(
      `${shape.name.padEnd(12)} ${String(shape.files).padStart(6)} × ${String(shape.bytes).padStart(9)} B` +
        `  sha256sum ${rate(median(reference))}  again ${rate(median(again))} (ratio ${ratio.toFixed(2)})` +
        `  first ${rate(median(firsts))} (ratio ${firstRatio.toFixed(2)})` +
        `  first and only once, cold ${rate(cold)} (ratio ${(cold / median(reference)).toFixed(2)})`,
    )
    return ratio
  } finally {
    rmSync(ground, { recursive: true, force: true })
  }
}

let worst = 0
for (const shape of shapes) worst = Math.max(worst, await measure(shape))
console.log(`worst ratio of a snapshot of known content to sha256sum: ${worst.toFixed(2)} (target: at most 1.5)`)
process.exitCode = worst <= 1.5 ? 0 : 1
