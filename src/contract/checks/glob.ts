import picomatch from 'picomatch'

/** Whether a `/`-separated relative path matches one of the globs. Names that begin with a dot are names like others. */
export function globMatcher(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs.map((glob) => picomatch(glob, { dot: true, flags: 's' }))
  return (path) => matchers.some((matches) => matches(path))
}
