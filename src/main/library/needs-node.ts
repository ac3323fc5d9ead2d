/**
 * Imported before everything else, so that a Node which is too old is told so in a line, not by the first module that it lacks. As for the
 * launcher, what counts is SQLite: before 3.51.3, processes that share a journal can lose committed writes.
 */
const [major = 0, minor = 0, patch = 0] = (process.versions.sqlite ?? '').split('.').map(Number)
if (major * 1_000_000 + minor * 1_000 + patch < 3_051_003) {
  throw new Error(`assay needs Node ^22.23 or >=24.15; this is ${process.version} with SQLite ${process.versions.sqlite ?? '(none)'}`)
}

export {}
