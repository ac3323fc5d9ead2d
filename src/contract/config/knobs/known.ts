import { Config } from '../config.ts'
import { type Knob, knobsOf } from './knobs.ts'

let known: Knob[] | undefined

/** Every knob of `assay.yaml`. The published command line has the list inside: to work it out would take a tenth of a short command. */
export function configKnobs(): Knob[] {
  known ??= knobsOf(Config)
  return known
}
