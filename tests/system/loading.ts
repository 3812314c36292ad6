/** Preloaded into a Garner process: writes to the file `LOADING` each module as it is loaded, and when it listens. */
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const file = process.env.LOADING ?? ''
registerHooks({
  load(url, context, next) {
    appendFileSync(file, `${url}\n`)
    return next(url, context)
  },
})
const write = process.stdout.write.bind(process.stdout)
process.stdout.write = ((text: string, ...rest: []) => {
  if (text.startsWith('Garner listening')) appendFileSync(file, 'listening\n')
  return write(text, ...rest)
}) as typeof process.stdout.write
