import type { Transaction } from '@garner/db'

/**
 * Who belongs to a group is changed by one at a time: two last members who leave at once would leave nobody, and someone
 * added to a group that ends would be added to nothing.
 */
export async function takeTurnOnGroup(tx: Transaction, groupId: string): Promise<void> {
  await tx.takeTurn(`group ${groupId}`)
}
