import picomatch from 'picomatch'

/** A folder's name means all that is in it; a leading `/` or `./` is where paths begin anyway. */
function meant(glob: string): string[] {
  const plain = glob.replace(/^(\.?\/)+/, '').replace(/\/+$/, '')
  return plain === '' ? ['**'] : [plain, `${plain}/**`]
}

/** Whether a `/`-separated relative path matches one of the globs. Names that begin with a dot are names like others. */
export function globMatcher(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs.flatMap(meant).map((glob) => picomatch(glob, { dot: true, flags: 's' }))
  return (path) => matchers.some((matches) => matches(path))
}
