import fc from 'fast-check'

/** Ordinary runs try the same cases every time, so that a red run can be repeated; `npm run fuzz` looks for new ones. */
fc.configureGlobal({ seed: 20261115 })
/** Random histories of a task in one property; more with `npm run fuzz`. */
process.env.ASSAY_PROPERTY_RUNS ??= '120'
