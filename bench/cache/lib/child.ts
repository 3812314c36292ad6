import { PEERS } from '../peers/index.ts'
import { CASES, measure } from './cases.ts'

/** One measurement in a process of its own: `child.ts PEER CASE URL MS WARM_MS` prints calls per second. */
const [peer = '', name = '', url = '', ms = '0', warmMs = '0'] = process.argv.slice(2)
console.log(await measure(PEERS[peer]!, CASES[name]!, { url, ms: Number(ms), warmMs: Number(warmMs) }))
process.exit(0)
