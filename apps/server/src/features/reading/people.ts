import type { Queryable } from '@garner/db'
import type { Principal } from '../../principal.ts'

/** What reading has to know of people and groups. Accounts answers; main.ts hands the answers in. */
export interface People {
  /** The same person as the database has them now; null when what they have shown does not say who they are any more. */
  confirmed(query: Queryable, who: Principal): Promise<Principal | null>
  /** The membership as it is in the database now; null for no member and for no such group alike. */
  membership(query: Queryable, userId: string, groupId: string): Promise<{ showReads: boolean } | null>
  /** Where a save without `group` goes; null for someone in no group. */
  defaultGroup(query: Queryable, userId: string): Promise<string | null>
  /** Names by id, for the ids that exist. */
  namesOf(query: Queryable, userIds: string[]): Promise<Map<string, string>>
  /** Whether this person's account is approved now (J9). */
  isApproved(query: Queryable, userId: string): Promise<boolean>
}
