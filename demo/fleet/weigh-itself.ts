/**
 * Loaded into each server before Garner: at SIGUSR2 it collects its garbage, and writes down what is left, in bytes. What
 * the kernel counts as resident is mostly what the runtime has not collected yet; this tells whether anything is kept.
 */
import { writeFileSync } from 'node:fs'

const file = process.env.WEIGHT_FILE ?? ''
process.on('SIGUSR2', () => {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  writeFileSync(file, String(heapUsed + external))
})
