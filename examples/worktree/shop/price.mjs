export const priceOf = (pieces) => pieces * 250
