/** The public library API, listed by hand. */
export { canonicalJson, digestOf, type Json } from './contract/canonical.ts'
export { Case } from './contract/case.ts'
