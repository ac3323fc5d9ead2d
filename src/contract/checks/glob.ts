import picomatch from 'picomatch'

/** Whether a `/`-separated relative path matches one of the globs. Names that begin with a dot are names like others. */
export function globMatcher(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs.map((glob) => picomatch(glob, { dot: true, flags: 's' }))
  return (path) => matchers.some((matches) => matches(path))
}

/** The same for what is to be protected: a folder's name means all that is in it, and a leading `/` or `./` is where paths begin anyway. */
export function protectMatcher(globs: readonly string[]): (path: string) => boolean {
  return globMatcher(
    globs.flatMap((glob) => {
      const plain = glob.replace(/^(\.?\/)+/, '').replace(/\/+$/, '')
      return plain === '' ? [] : [plain, `${plain}/**`]
    }),
  )
}
