import { globMatcher } from '../../../contract/checks/glob.ts'

/** Whether a path of the work is meant by one of the globs, `./` in front or not. A line break in a name is a character like others. */
export function pathMatcher(globs: readonly string[]): (path: string) => boolean {
  const matches = globMatcher(globs.map((glob) => glob.replace(/^(?:\.\/)+/, '')).filter((glob) => glob !== ''))
  return (path) => matches(path) || matches(path.replace(/[\n\r\u2028\u2029]/g, '_'))
}
