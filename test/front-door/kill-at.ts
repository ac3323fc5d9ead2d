import { appendFileSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

/*
 * Loaded before Assay (`node --import`). Ends the process by SIGKILL at one exact moment, told by KILL_AT:
 *   after:n    right after the commit that made the n-th event durable
 *   before:n   right before that commit
 *   commit:n   right after the n-th commit of this process, whatever it wrote (leases too)
 * With KILL_LOG the number of stored events is written there after every commit.
 */
const [moment = '', number = ''] = (process.env.KILL_AT ?? '').split(':')
const at = Number(number)
const log = process.env.KILL_LOG
let commits = 0

const { prepare } = DatabaseSync.prototype
DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string): StatementSync {
  const statement = prepare.call(this, sql)
  if (sql !== 'COMMIT') return statement
  const count = prepare.call(this, 'SELECT count(*) AS n FROM events')
  const stored = () => Number((count.get() as { n: number }).n)
  const commit = statement.run.bind(statement)
  statement.run = () => {
    if (moment === 'before' && stored() >= at) die()
    const result = commit()
    commits += 1
    if (log !== undefined) appendFileSync(log, `${stored()}\n`)
    if (moment === 'after' && stored() >= at) die()
    if (moment === 'commit' && commits >= at) die()
    return result
  }
  return statement
}

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal ends the process on the way back from the call; nothing after it runs.
  for (;;);
}
