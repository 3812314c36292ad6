import type { Transaction } from '@garner/db'

/** Something about a group or a person is different now; whoever shows it should look again. */
export interface Changed {
  kind: 'group' | 'account'
  id: string
}

/** Says so once the change is durable, and not at all if it is rolled back. */
export function changes(onChange: (change: Changed) => void): (tx: Transaction, change: Changed) => void {
  return (tx, change) => tx.afterCommit(() => onChange(change))
}
