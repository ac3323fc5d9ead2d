import { type Document, LineCounter, parseDocument } from 'yaml'
import type { Result } from '../errors.ts'
import { type Located, locator } from './locate.ts'
import { arrange, type Locate, type Place, type Problem } from './problem.ts'
import { readCleanJson } from './read-json.ts'
import { type ReadState, readNode } from './read-node.ts'
import { excerpt } from './shown.ts'

/** A YAML or JSON file as a value that remembers where each part of it stands. */
export interface SourceDocument {
  file: string
  value: unknown
  locate: Locate
}

export interface DocumentLimits {
  /** Longest text, in bytes of UTF-8. */
  maxBytes: number
}

const defaultLimits: DocumentLimits = { maxBytes: 1024 * 1024 }

/**
 * Reads one YAML 1.2 document, or JSON where the file's name ends in `.json`. Every syntax error is a problem with its place.
 * Refused: a key twice, several documents, tags that make anything but plain data, keys that are not text, too much of anything.
 */
export function readDocument(text: string, file: string, limits: DocumentLimits = defaultLimits): Result<SourceDocument, Problem[]> {
  const bytes = Buffer.byteLength(text)
  if (bytes > limits.maxBytes) {
    return refuseAtStart(file, `the file has ${bytes} bytes; at most ${limits.maxBytes} are read`, 'split it, or make it shorter')
  }
  const json = readCleanJson(text)
  if (!json) return readCarefully(text, file)
  let locate: Locate | undefined
  const locateLater: Locate = (path, at) => {
    locate ??= locator(parseTree(text, file))
    return locate(path, at)
  }
  return { ok: true, value: { file, value: json.value, locate: locateLater } }
}

interface Tree extends Located {
  document: Document.Parsed
}

function parseTree(text: string, file: string): Tree {
  const lines = new LineCounter()
  // Keys are compared in readNode, in linear time.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    // Never 'silent': that would also keep quiet about a second document.
    logLevel: 'error',
    schema: file.toLowerCase().endsWith('.json') ? 'json' : 'core',
  })
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  return { document, contents: document.contents, targets: new Map(), placeAt }
}

function readCarefully(text: string, file: string): Result<SourceDocument, Problem[]> {
  const { document, contents, placeAt } = parseTree(text, file)
  const problems: Problem[] = [...document.errors, ...document.warnings].map((error) => ({
    ...placeAt(error.pos[0]),
    path: '',
    ...syntaxWords(error.code, error.message),
  }))
  if (problems.length > 0) return refuse(problems)
  const version = document.directives?.yaml
  if (version?.explicit && version.version !== '1.2') {
    return refuseAtStart(file, `the file says %YAML ${excerpt(version.version)}`, 'files are read as YAML 1.2; leave the line out')
  }
  if (contents === null) return refuseAtStart(file, 'the file is empty', 'write it, or remove the file')
  const state: ReadState = { placeAt, problems, anchors: new Map(), targets: new Map(), aliased: 0, full: false }
  const value = readNode(state, contents, [], 0)
  if (problems.length > 0) return refuse(problems)
  return { ok: true, value: { file, value, locate: locator({ contents, targets: state.targets, placeAt }) } }
}

function refuseAtStart(file: string, message: string, fix: string): Result<SourceDocument, Problem[]> {
  return refuse([{ file, line: 1, column: 1, path: '', message, fix }])
}

function refuse(problems: Problem[]): Result<SourceDocument, Problem[]> {
  return { ok: false, error: arrange(problems) }
}

/** The parser's complaint, and what to do about the ones that people run into. */
function syntaxWords(code: string, message: string): { message: string; fix?: string } {
  if (code === 'RESOURCE_EXHAUSTION') return { message: 'nested too deeply' }
  if (code === 'MULTIPLE_DOCS')
    return { message: 'a second document begins here', fix: 'one file holds one document; remove the `---` line' }
  if (code === 'TAB_AS_INDENT') return { message: 'a tab is used to indent', fix: 'indent with spaces' }
  if (code === 'BLOCK_AS_IMPLICIT_KEY') {
    return { message: 'a mapping begins inside a plain value', fix: 'put text that contains `: ` in quotes, or begin a new line' }
  }
  const [first = message] = message.split('\n')
  return { message: excerpt(first.replace(/;? ?please use .*$/i, '')) }
}
