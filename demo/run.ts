import { hotKey } from './hot-key/index.ts'
import { underLoad } from './under-load/index.ts'

/** `npm run demo -- NAME [OPTIONS]`: things Garner promises, to be watched happening. */
const DEMOS: Record<string, { about: string; run: (args: string[]) => Promise<number> }> = {
  'under-load': {
    about:
      'ten servers on one database, more readers than it may be asked for, and one thing after another that breaks [--seconds 60] [--without-shared SECONDS] [--instances 10] [--rate 1000] [--lists 200] [--budget 100]',
    run: underLoad,
  },
  'hot-key': {
    about:
      'one list whose copies have expired everywhere, and everybody wants it at once, with a shared cache and without [--instances 10] [--readers 200] [--rounds 3] [--budget 100]',
    run: hotKey,
  },
}

const [name = '', ...args] = process.argv.slice(2)
const demo = DEMOS[name]
if (demo) process.exitCode = await demo.run(args)
else {
  console.error('npm run demo -- NAME [OPTIONS]')
  for (const [one, { about }] of Object.entries(DEMOS)) console.error(`  ${one}: ${about}`)
  process.exitCode = 2
}
