/** A room of `src/`: a folder (or a file) and what its files may import besides the room itself. */
export interface Room {
  name: string
  /** Each folder directly below is a room of its own: one adapter does not know another. */
  each?: true
  may: readonly string[]
  /** Modules of Node that may be imported; all of them where nothing is said. */
  node?: readonly string[]
}

const adaptersAndBelow = ['contract', 'core', 'ports', 'engine', 'adapters']
const everything = [...adaptersAndBelow, 'doors', 'testing', 'index.ts']

/** The import table. biome.json says the same in its own language, and a test holds the two together. */
export const rooms: readonly Room[] = [
  { name: 'contract', may: [], node: ['node:crypto', 'node:util'] },
  { name: 'core', may: ['contract'], node: [] },
  { name: 'ports', may: ['contract'], node: [] },
  { name: 'engine', may: ['contract', 'core', 'ports'] },
  { name: 'adapters', each: true, may: ['contract', 'ports', 'adapters/process'] },
  { name: 'doors', each: true, may: ['contract', 'ports', 'engine'] },
  { name: 'testing', may: adaptersAndBelow },
  { name: 'main.ts', may: [...everything, 'main'] },
  { name: 'main', may: everything },
  { name: 'index.ts', may: [...adaptersAndBelow, 'testing', 'main'] },
]

/** What a test may import besides its own room: everything but the doors, which only their own tests open. */
export const testsMay: readonly string[] = [...adaptersAndBelow, 'testing']

/** Budgets in lines, and in source files a folder. */
export const budget = { largest: 400, p95: 350, median: 100, filesInFolder: 12 }

/** Folders and files named for nothing collect everything. */
export const drawers = /(^|\/)(utils?|helpers?|common|misc|shared)(\/|\.ts$)|(^|\/)types\.ts$/
