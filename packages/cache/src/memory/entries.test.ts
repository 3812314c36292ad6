import { ManualClock } from '@garner/db'
import { describeSharedEntries } from '../../testing/shared-entries.suite.ts'
import { createMemoryEntries } from './entries.ts'

describeSharedEntries({
  name: 'memory',
  async open() {
    const clock = new ManualClock()
    const entries = createMemoryEntries({ clock })
    return {
      entries,
      second: entries,
      pass: async (ms) => clock.advance(ms),
      settle: async () => {},
      close: async () => {},
    }
  },
})
