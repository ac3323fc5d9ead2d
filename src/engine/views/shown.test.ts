import { expectTypeOf, it } from 'vitest'
import type { z } from 'zod'
import type { GateItem, MissionItem } from '../../contract/http/mission.ts'
import type { TaskItem } from '../../contract/http/task.ts'
import type { GateRow } from './gates.ts'
import type { MissionRow, TaskRow } from './tasks.ts'

/** What a row has and the schema of its answer does not know: a strict schema would refuse the whole answer. */
type Unknown<Row, Item extends z.ZodType> = Exclude<keyof Row, keyof z.infer<Item>>

it('rows that doors answer with have no field that the schema of the answer does not know', () => {
  expectTypeOf<Unknown<TaskRow, typeof TaskItem>>().toEqualTypeOf<never>()
  // The doors leave these out.
  expectTypeOf<Unknown<MissionRow, typeof MissionItem>>().toEqualTypeOf<'key'>()
  expectTypeOf<Unknown<GateRow, typeof GateItem>>().toEqualTypeOf<'state'>()
})
