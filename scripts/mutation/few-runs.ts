import * as real from 'fast-check'

export * from 'fast-check'

/** Runs of a property for one mutant: what it does not see in so few, the examples beside it must. */
const fewer = (runs = 100) => Math.max(10, Math.ceil(runs / 20))

/** `assert` as the tests call it, with few runs and no search for a smaller counterexample. */
export const assert = ((property: real.IRawProperty<unknown>, parameters: real.Parameters<unknown> = {}) =>
  real.assert(property, {
    ...parameters,
    numRuns: fewer(parameters.numRuns),
    endOnFailure: true,
  })) as typeof real.assert

export default { ...real, assert }
