import { describe, expect, test } from 'vitest'
import { Line } from './line.ts'

/** Work that ends when the test says so. */
function works(line: Line) {
  const begun: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const go = (name: string, signal?: AbortSignal) =>
    line.through(() => {
      begun.push(name)
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => (error ? reject(error) : resolve(name)))
      })
    }, signal)
  const end = async (name: string, error?: Error) => {
    ends.get(name)!(error)
    for (let i = 0; i < 5; i++) await Promise.resolve()
  }
  return { begun, go, end }
}

const outcome = (work: Promise<unknown>) =>
  work.catch((error: { code?: string; message: string }) => error.code ?? error.message)

describe('the line in front of the pictures', () => {
  test('so many at a time, in the order in which they came', async () => {
    const line = new Line({ lanes: 2, waitingMax: 9 })
    const { begun, go, end } = works(line)
    const all = ['a', 'b', 'c', 'd'].map((name) => go(name))
    await Promise.resolve()
    expect([begun, line.waiting]).toEqual([['a', 'b'], 2])
    await end('b')
    expect([begun, line.waiting]).toEqual([['a', 'b', 'c'], 1])
    await end('a')
    await end('c')
    await end('d')
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'])
    void go('e')
    await Promise.resolve()
    expect(begun.at(-1)).toBe('e')
  })

  test('beyond the bound one is refused at once, and those in line are not disturbed', async () => {
    const { begun, go, end } = works(new Line({ lanes: 1, waitingMax: 1 }))
    const all = ['a', 'b', 'c'].map((name) => outcome(go(name)))
    expect(await all[2]).toBe('busy')
    await end('a')
    await end('b')
    expect([await Promise.all(all), begun]).toEqual([
      ['a', 'b', 'busy'],
      ['a', 'b'],
    ])
  })

  test('what fails gives its lane on', async () => {
    const { go, end } = works(new Line({ lanes: 1, waitingMax: 1 }))
    const [first, second] = [outcome(go('a')), outcome(go('b'))]
    await end('a', new Error('broken'))
    await end('b')
    expect([await first, await second]).toEqual(['broken', 'b'])
  })

  test('nobody slips into a lane that was promised to the first in line', async () => {
    const { begun, go, end } = works(new Line({ lanes: 1, waitingMax: 9 }))
    const gone = go('a').then(() => void go('late'))
    void go('waited')
    await end('a')
    await gone
    expect(begun).toEqual(['a', 'waited'])
  })

  test('whoever goes away leaves the line; what is at work is left to end, and keeps its lane', async () => {
    const line = new Line({ lanes: 1, waitingMax: 9 })
    const { begun, go, end } = works(line)
    const client = new AbortController()
    const working = outcome(go('a', client.signal))
    const waiting = outcome(go('b', client.signal))
    const other = go('c')
    await Promise.resolve()
    client.abort(new Error('gone away'))
    expect(await Promise.all([working, waiting])).toEqual(['gone away', 'gone away'])
    expect([begun, line.waiting]).toEqual([['a'], 1])
    await end('a')
    expect(begun).toEqual(['a', 'c'])
    await end('c')
    expect(await other).toBe('c')
    expect(await outcome(go('d', client.signal))).toBe('gone away')
  })

  test('cleared, all who wait are told', async () => {
    const line = new Line({ lanes: 1, waitingMax: 9 })
    const { go, end } = works(line)
    const [working, waiting] = [go('a'), outcome(go('b'))]
    await Promise.resolve()
    line.clear()
    expect(await waiting).toBe('busy')
    await end('a')
    expect(await working).toBe('a')
  })
})
