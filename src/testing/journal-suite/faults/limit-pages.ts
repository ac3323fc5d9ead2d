/** Loaded before a child: databases cannot grow past a number of pages, as on a full disk, until the process gets SIGUSR2. Needs no mount. */
import { DatabaseSync } from 'node:sqlite'

const limited = new Set<DatabaseSync>()
const prepare = DatabaseSync.prototype.prepare

DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
  if (!limited.has(this)) {
    limited.add(this)
    this.exec('PRAGMA max_page_count = 60')
  }
  return prepare.call(this, sql)
}

process.on('SIGUSR2', () => {
  for (const database of limited) if (database.isOpen) database.exec('PRAGMA max_page_count = 1000000')
  process.stdout.write('{"mayGrow":true}\n')
})
