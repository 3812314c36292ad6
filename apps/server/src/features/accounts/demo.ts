import type { Clock, Database } from '@garner/db'

/** The people that one can be in demo mode, and the group that Alice and Bob share. Ids are part of the contract. */
export const DEMO_PEOPLE = [
  { id: 'alice', name: 'Alice', role: 'member', groupRole: 'owner' },
  { id: 'bob', name: 'Bob', role: 'member', groupRole: 'member' },
  { id: 'carol', name: 'Carol', role: 'member', groupRole: null },
  { id: 'admin', name: 'Admin', role: 'admin', groupRole: null },
] as const

export const DEMO_GROUP = { id: 'study', name: 'Study group' } as const

/**
 * Puts the demo people in place. Safe to repeat: a person's membership comes with their row, so one who was taken
 * out of the group is still out after a restart, and one who deleted their account is back as new.
 * They have no e-mail and no password, so outside demo mode nobody can be them.
 */
export async function seedDemo(db: Database, clock: Clock): Promise<void> {
  const nowMs = clock.nowMs()
  const now = new Date(nowMs).toISOString()
  await db.transaction(async (tx) => {
    await tx.run(
      'INSERT INTO groups (id, name, created_at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      DEMO_GROUP.id,
      DEMO_GROUP.name,
      nowMs,
    )
    for (const [place, { id, name, role, groupRole }] of DEMO_PEOPLE.entries()) {
      const { changes } = await tx.run(
        `INSERT INTO users (id, name, role, status, demo, created_at, updated_at)
         VALUES (?, ?, ?, 'approved', 1, ?, ?) ON CONFLICT DO NOTHING`,
        id,
        name,
        role,
        now,
        now,
      )
      if (changes === 0 || groupRole === null) continue
      await tx.run(
        `INSERT INTO memberships (group_id, user_id, role, show_reads, joined_at_ms) VALUES (?, ?, ?, 1, ?)
         ON CONFLICT DO NOTHING`,
        DEMO_GROUP.id,
        id,
        groupRole,
        // A little apart and in the past: the order of members is fixed, and before anyone who joins now.
        nowMs - DEMO_PEOPLE.length + place,
      )
    }
  })
}
