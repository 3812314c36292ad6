import { describe, expect, test } from 'vitest'
import type { Clock } from '../browser.ts'
import { type Change, changeIn } from './changes.ts'
import { type StreamEvent, StreamParser } from './sse.ts'
import { keepListening } from './stream.ts'

const all = (pieces: string[]): StreamEvent[] => {
  const parser = new StreamParser()
  return pieces.flatMap((piece) => parser.push(piece))
}

describe('reading an event stream', () => {
  const text = ': hello\n\nevent: bookmark\ndata: {"id":"1"}\n\r\ndata: a\r\ndata: b\r\rdata:  c\n\n'
  const events = [
    { event: 'bookmark', data: '{"id":"1"}' },
    { event: 'message', data: 'a\nb' },
    { event: 'message', data: ' c' },
  ]

  test('comments, names, several lines of data and all three line ends', () => {
    expect(all([text])).toEqual(events)
  })

  test('cut anywhere it reads the same', () => {
    expect(all([...text])).toEqual(events)
    for (let i = 1; i < text.length; i += 1) expect(all([text.slice(0, i), text.slice(i)])).toEqual(events)
  })

  test('an event without data, or without its end, is none', () => {
    expect(all(['event: list\n\n'])).toEqual([])
    expect(all(['data: cut off\n'])).toEqual([])
    expect(all(['\uFEFFdata: x\n\n'])).toEqual([{ event: 'message', data: 'x' }])
    expect(all(['id: 7\nretry: 10\ndata\n\n'])).toEqual([{ event: 'message', data: '' }])
  })

  test('what is not known or not readable is left alone', () => {
    expect(changeIn({ event: 'bookmark', data: '{"group":"g","id":"1","version":2}' })).toEqual({
      kind: 'bookmark',
      group: 'g',
      id: '1',
    })
    expect(changeIn({ event: 'list', data: '{"group":"g","version":2}' })).toEqual({
      kind: 'list',
      group: 'g',
      version: 2,
    })
    expect(changeIn({ event: 'account', data: '{"status":"approved"}' })).toEqual({ kind: 'account' })
    for (const data of ['', 'null', '7', '{"group":7}', '{']) {
      expect(changeIn({ event: 'bookmark', data })).toBeNull()
    }
    expect(changeIn({ event: 'weather', data: '{}' })).toBeNull()
    expect(changeIn({ event: 'meal', data: '{}' })).toEqual({ kind: 'diary', part: 'meal' })
  })
})

describe('keeping a stream open', () => {
  /** Time passes only when somebody sleeps and the test lets them. */
  function fakeClock() {
    const sleeping: { ms: number; wake(): void }[] = []
    const clock: Clock = {
      nowMs: () => 0,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve()
          const one = { ms, wake: resolve }
          sleeping.push(one)
          signal?.addEventListener('abort', () => {
            sleeping.splice(sleeping.indexOf(one), 1)
            resolve()
          })
        }),
    }
    return { clock, sleeping }
  }
  const settle = async () => {
    for (let i = 0; i < 20; i += 1) await Promise.resolve()
  }
  const streamOf = (text: string) => new Response(new Blob([text]).stream())

  test('it says what changed, waits after a cut, doubles after refusals, and stops when told', async () => {
    const { clock, sleeping } = fakeClock()
    const stop = new AbortController()
    const changes: Change[] = []
    const live: boolean[] = []
    const answers = [
      () => Promise.resolve(streamOf('event: group\ndata: {"group":"g"}\n\n')),
      () => Promise.reject(new Error('down')),
      () => Promise.reject(new Error('down')),
    ]
    const done = keepListening({
      open: () => (answers.shift() ?? (() => new Promise<Response>(() => {})))(),
      clock,
      random: () => 0,
      onChange: (change) => changes.push(change),
      onLive: (now) => live.push(now),
      signal: stop.signal,
    })
    const waits: number[] = []
    for (let i = 0; i < 3; i += 1) {
      await expect.poll(() => sleeping.length).toBe(1)
      const wait = sleeping.shift()
      waits.push(wait?.ms ?? 0)
      wait?.wake()
      await settle()
    }
    expect(changes).toEqual([{ kind: 'group', group: 'g' }])
    expect(live).toEqual([true, false, false, false])
    expect(waits).toEqual([1_000, 2_000, 4_000])
    stop.abort()
    void done
  })

  test('an open connection that says nothing is cut and opened again', async () => {
    const { clock, sleeping } = fakeClock()
    const stop = new AbortController()
    let opened = 0
    const cuts: AbortSignal[] = []
    void keepListening({
      open: async (signal) => {
        opened += 1
        cuts.push(signal)
        const body = new ReadableStream({
          start: (controller) => signal.addEventListener('abort', () => controller.error(new Error('cut'))),
        })
        return new Response(body)
      },
      clock,
      random: () => 0,
      onChange: () => {},
      onLive: () => {},
      signal: stop.signal,
    })
    await expect.poll(() => sleeping.map((one) => one.ms)).toEqual([35_000])
    sleeping.shift()?.wake()
    await expect.poll(() => sleeping.map((one) => one.ms)).toEqual([1_000])
    expect(cuts[0]?.aborted).toBe(true)
    sleeping.shift()?.wake()
    await expect.poll(() => opened).toBe(2)
    stop.abort()
  })
})
