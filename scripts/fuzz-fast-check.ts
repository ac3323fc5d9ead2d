import * as real from 'fast-check'

export * from 'fast-check'

const factor = Number(process.env.FUZZ_FACTOR ?? 100)
if (!Number.isSafeInteger(factor) || factor < 1)
  throw new Error(`FUZZ_FACTOR must be a positive whole number, not ${process.env.FUZZ_FACTOR}`)
const usualRuns = 100

/** `assert` as the tests call it, with so many times more runs. */
export const assert = ((property: real.IRawProperty<unknown>, parameters: real.Parameters<unknown> = {}) =>
  real.assert(property, { ...parameters, numRuns: (parameters.numRuns ?? usualRuns) * factor })) as typeof real.assert

export default { ...real, assert }
