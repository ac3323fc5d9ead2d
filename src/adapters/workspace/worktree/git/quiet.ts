/** Settings that win over every configuration file: nothing that somebody configured is run, asked or waited for. */
export const quietSettings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.pager=cat',
  'core.fsync=committed',
  'core.filesRefLockTimeout=1000',
  'core.packedRefsTimeout=1000',
  'commit.gpgsign=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.allow=never',
  'worktree.useRelativePaths=false',
].flatMap((setting) => ['-c', setting])

export const quietSurroundings = {
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_PAGER: 'cat',
}

/** Files that git knows or would add. What is ignored, files of the repository say; what only this clone says, an agent can write unseen. */
export const listingArguments = ['ls-files', '-z', '--cached', '--others', '--exclude-per-directory=.gitignore']
