import { closeSync, fdatasyncSync, openSync, statfsSync, writeSync } from 'node:fs'
import type { Limits } from '../lib/peer.ts'
import { freshFile, place } from '../lib/place.ts'
import { perSecond } from './steps.ts'

/** The disk alone, for scale: a page is appended and synced, again and again. */
export const diskLimits: Limits = {
  name: 'disk',
  server: 'none',
  configs: { best: { about: 'A file that is appended to and synced' } },
  async describe() {
    return {
      version: `file system 0x${statfsSync(place().folder).type.toString(16)}`,
      backend: 'file',
      durability: 'fdatasync after each write',
      isSynced: true,
    }
  },
  limits: [
    {
      case: 'limits',
      measure: 'append 4 KiB and sync',
      unit: '/s',
      async run(_config, ms) {
        const file = openSync(freshFile('disk.bin'), 'w')
        const page = Buffer.alloc(4096)
        const rate = perSecond(ms, () => {
          writeSync(file, page)
          fdatasyncSync(file)
          return 1
        })
        closeSync(file)
        return rate
      },
    },
  ],
}
