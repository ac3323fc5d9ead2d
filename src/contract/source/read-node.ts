import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml'
import { formatPath, type Path, type Place, type Problem } from './problem.ts'
import { excerpt, named } from './shown.ts'

/** Deeper than any file that means something; keeps every later walk over the value safe. */
export const deepest = 64
/** Values that `*alias` may bring in again, in all: a few hundred bytes of nested anchors can stand for billions. */
const mostAliased = 10_000

/** What reading one document keeps: where things are, what is wrong, and how much was taken. */
export interface ReadState {
  placeAt: (offset: number) => Place
  problems: Problem[]
  anchors: Map<string, Node>
  targets: Map<Alias, Node>
  aliased: number
  /** The limit on aliases was passed; nothing more is expanded. */
  full: boolean
}

/** The plain value of a node: mappings with text keys, lists, text, numbers, true, false, null. What cannot be one is a problem. */
export function readNode(state: ReadState, node: Node | null, path: Path, depth: number, inAlias = false): unknown {
  if (node === null) return null
  if (inAlias && ++state.aliased > mostAliased) return refuseAliases(state, node, path)
  if (depth > deepest) return complain(state, node, path, `nested more than ${deepest} levels deep`)
  if (isAlias(node)) {
    const target = state.anchors.get(node.source)
    if (!target) return complain(state, node, path, `the alias *${excerpt(node.source)} names nothing before it`)
    state.targets.set(node, target)
    return readNode(state, target, path, depth + 1, true)
  }
  const { anchor, tag } = node as { anchor?: string; tag?: string }
  if (anchor !== undefined && !inAlias) state.anchors.set(anchor, node)
  if (tag !== undefined && !/^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/.test(tag)) {
    return complain(state, node, path, `the tag ${excerpt(tag)} is not plain data`, 'remove the tag')
  }
  if (isScalar(node)) return node.value
  if (isSeq(node)) return node.items.map((item, index) => readNode(state, item as Node | null, [...path, index], depth + 1, inAlias))
  if (isMap(node)) return readMap(state, node, path, depth, inAlias)
  return complain(state, node, path, 'this is not plain data')
}

function readMap(state: ReadState, map: YAMLMap, path: Path, depth: number, inAlias: boolean): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const pair of map.items as Pair<Node, Node | null>[]) {
    const scalar = isScalar(pair.key) ? pair.key.value : undefined
    if (typeof scalar !== 'string' && typeof scalar !== 'number') {
      complain(state, pair.key ?? map, path, 'a key is a word, a text in quotes or a number')
      continue
    }
    const key = String(scalar)
    if (key === '__proto__') complain(state, pair.key, path, `the key ${named(key)} cannot be used`)
    else if (Object.hasOwn(value, key))
      complain(state, pair.key, [...path, key], `the key ${named(key)} is there twice`, 'keep one of the two')
    else value[key] = readNode(state, pair.value, [...path, key], depth + 1, inAlias)
  }
  return value
}

function complain(state: ReadState, node: Node, path: Path, message: string, fix?: string): undefined {
  state.problems.push({ ...state.placeAt(node.range?.[0] ?? 0), path: formatPath(path), message, ...(fix === undefined ? {} : { fix }) })
}

function refuseAliases(state: ReadState, node: Node, path: Path): undefined {
  if (!state.full) complain(state, node, path, `aliases bring in more than ${mostAliased} values`, 'write the values out')
  state.full = true
}
