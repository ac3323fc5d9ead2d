import * as price from '../shop/price.mjs'
const total = Object.values(price)[0](3)
if (!Number.isInteger(total) || total !== 750) throw new Error(`3 pieces cost ${total}, not 750 cents`)
console.log('prices are right')
