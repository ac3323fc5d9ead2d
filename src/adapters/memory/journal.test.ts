import { journalAdapters } from '../../testing/journal-suite/adapters.ts'
import { journalSuite } from '../../testing/journal-suite/suite.ts'

journalSuite(journalAdapters.memory)
