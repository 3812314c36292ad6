import { expect, it, vi } from 'vitest'
import { world } from './fixture.ts'

const hashed = vi.hoisted(() => [] as string[])
vi.mock('better-auth/crypto', () => ({
  hashPassword: async (password: string) => {
    hashed.push(password)
    return 'a quick hash'
  },
}))

it('asking for too many accounts from one address is refused before the costly hashing', async () => {
  const here = await world()
  for (let n = 0; n < 20; n++) expect((await here.signUp(`x${n}`)).statusCode).toBe(200)
  const refused = await here.signUp('one-too-many')
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '30'])
  expect(hashed).toHaveLength(20)
  here.clock.advance(30_000)
  expect((await here.signUp('later')).statusCode).toBe(200)
  await here.close()
})
