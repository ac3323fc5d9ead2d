import { type Alias, isAlias, isMap, isScalar, isSeq, type Node } from 'yaml'
import type { Locate, Path, Place } from './problem.ts'

/** What finding places needs: the tree, what its aliases stand for, and where each offset is. */
export interface Located {
  contents: Node | null
  targets: ReadonlyMap<Alias, Node>
  placeAt: (offset: number) => Place
}

/** Finds the place of a path by walking the tree; a path that leads nowhere is placed at the last thing that exists on its way. */
export function locator({ contents, targets, placeAt }: Located): Locate {
  return (path: Path, at?: 'key') => {
    let node = contents
    let offset = node?.range?.[0] ?? 0
    for (const [index, step] of path.entries()) {
      if (isAlias(node)) node = targets.get(node) ?? null
      if (isMap(node)) {
        const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step))
        if (!pair) break
        const key = pair.key as Node
        const value = pair.value as Node | null
        const empty = value?.range == null || value.range[0] === value.range[1]
        const wanted = empty || (at === 'key' && index === path.length - 1) ? key : value
        offset = wanted.range?.[0] ?? offset
        node = value
      } else if (isSeq(node) && typeof step === 'number') {
        const item = node.items[step] as Node | undefined
        if (!item?.range) break
        offset = item.range[0]
        node = item
      } else break
    }
    return placeAt(offset)
  }
}
