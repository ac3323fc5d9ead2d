import { describe } from 'vitest'
import type { JournalAdapter } from './adapters.ts'
import { appending } from './contract/appending.ts'
import { diskFaults } from './faults/disk.ts'
import { modelled } from './contract/model.ts'
import { severalProcesses } from './faults/processes.ts'
import { reading } from './contract/reading.ts'
import { views } from './contract/views.ts'
import { work } from './contract/work.ts'

/** What every journal must do. An adapter is done when it passes; parts that need several processes or a disk run where there are such. */
export function journalSuite(adapter: JournalAdapter): void {
  describe(`journal contract: ${adapter.name}`, () => {
    appending(adapter)
    reading(adapter)
    views(adapter)
    work(adapter)
    modelled(adapter)
    if (adapter.shared) severalProcesses(adapter)
    if (adapter.onDisk) diskFaults(adapter)
  })
}
