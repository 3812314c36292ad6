import { describeBudgetLedger } from '../../testing/budget-ledger.suite.ts'
import { createMemoryLedger } from './ledger.ts'

describeBudgetLedger({
  name: 'memory',
  async open(clock) {
    let timeline = 'a'
    return {
      ledger: createMemoryLedger({ clock, timeline: () => timeline }),
      clock,
      changeHistory: () => {
        timeline = 'b'
      },
      close: async () => {},
    }
  },
})
