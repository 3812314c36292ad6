import type { Member } from '@garner/server/api'

/** The people of the fake API, as the design's pictures show them. */
export const PEOPLE = {
  alice: { id: 'alice', name: 'Alice' },
  bob: { id: 'bob', name: 'Bob' },
  mei: { id: 'mei', name: 'Mei' },
  ines: { id: 'ines', name: 'Ines' },
  tom: { id: 'tom', name: 'Tom' },
  carol: { id: 'carol', name: 'Carol' },
} satisfies Record<string, Member>

export type PersonId = keyof typeof PEOPLE

export function person(id: string): Member {
  return PEOPLE[id as PersonId] ?? { id, name: id }
}
