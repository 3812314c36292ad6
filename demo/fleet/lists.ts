import type { Instance } from './instance.ts'

/** Makes `count` lists of five links that alice and bob share. Answers their ids. */
export async function makeLists(instance: Instance, count: number): Promise<string[]> {
  const groups: string[] = []
  for (let from = 0; from < count; from += AT_ONCE)
    groups.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, n) => makeList(instance, from + n)),
      )),
    )
  return groups
}

/** They share commits. */
const AT_ONCE = 20

async function makeList(instance: Instance, number: number): Promise<string> {
  const { id } = await created(instance, '/api/groups', { name: `List ${number}` })
  await created(instance, `/api/groups/${id}/members`, { user: 'bob' })
  for (let n = 0; n < 5; n++)
    await created(instance, '/api/bookmarks', {
      group: id,
      url: `https://example.com/${number}/${n}`,
      force: true,
    })
  return id
}

async function created(instance: Instance, path: string, body: object): Promise<{ id: string }> {
  const answer = await instance.ask(path, { method: 'POST', body })
  if (answer.status !== 201) throw new Error(`${path} was answered ${answer.status}: ${answer.body}`)
  return JSON.parse(answer.body)
}
