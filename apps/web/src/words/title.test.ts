import { describe, expect, test } from 'vitest'
import { PEOPLE } from '../../testing/fake-people.ts'
import { linkOf, seenBy, studyGroup } from '../../testing/fake-state.ts'
import { attemptWords, reasonFor, titleState } from './title.ts'

const nowMs = Date.parse('2026-08-29T12:07:00Z')
const item = (parts: Parameters<typeof linkOf>[0] | object) =>
  seenBy(
    studyGroup(nowMs),
    linkOf({ id: 'x', url: 'https://example.org', owner: PEOPLE.bob, savedAtMs: nowMs, ...parts }),
    'alice',
  )

describe('the line under a link', () => {
  test('a title needs no line', () => {
    expect(titleState(item({ title: 'There' }))).toBeNull()
    // A refresh that failed does not take the title away, so it says nothing here either.
    expect(titleState(item({ title: 'There', title_error: 'timeout' }))).toBeNull()
  })

  test('pending is hatched, and says when it is tried again once that is known', () => {
    expect(titleState(item({}))).toMatchObject({ tone: 'accent', words: 'Title on its way', actions: [] })
    const next = { title_tries: 1, title_next_try_at: '2026-08-29T12:08:00Z' }
    expect(titleState(item({ ...next, title_error: 'timeout' }), 'Europe/Berlin')?.words).toBe(
      'Slow site. Second try at 14:08',
    )
    expect(titleState(item({ ...next, title_tries: 2, title_error: 'http_503' }), 'UTC')?.words).toBe(
      'Busy site. Third try at 12:08',
    )
    expect(titleState(item({ ...next, title_error: 'dns' }), 'UTC')?.words).toBe(
      'No title yet. Second try at 12:08',
    )
  })

  test.each([
    ['http_401', 'the site asks for a sign-in'],
    ['http_403', 'the site asks for a sign-in'],
    ['http_404', 'there is no such page'],
    ['http_410', 'there is no such page'],
    ['http_418', 'the site did not hand out the page'],
    ['http_500', 'the site has trouble of its own'],
    ['http_429', 'the site is too busy'],
    ['not_html', 'it is not a web page'],
    ['challenge', 'the site wants to see a person first'],
    ['dns', 'no site answers to that name'],
    ['blocked_address', 'private addresses are not fetched'],
    ['something_new', 'the site did not answer as expected'],
    [null, 'the site did not answer as expected'],
  ])('%s is told as "%s"', (error, words) => {
    expect(reasonFor(error)).toBe(words)
    expect(titleState(item({ title_status: 'failed', title_error: error }))?.words).toBe(
      `No title: ${words}.`,
    )
  })

  test('no words repeat a code, and every state offers what helps', () => {
    expect(titleState(item({ title_status: 'timeout' }))).toMatchObject({
      words: 'The site took too long to answer. The link is safe.',
      actions: ['again'],
    })
    expect(titleState(item({ title_status: 'failed', title_error: 'http_404' }))?.actions).toEqual([
      'write',
      'again',
    ])
    expect(titleState(item({ title_status: 'refused', title_error: 'blocked_address' }))?.actions).toEqual([
      'write',
    ])
    expect(titleState(item({ title_status: 'none' }))).toMatchObject({
      words: 'The page has no title.',
      actions: ['write'],
    })
    expect(titleState(item({ title_status: 'none', shown: 'annual-report.pdf' }))?.words).toBe(
      'No title: it is not a web page.',
    )
  })

  test('tries are told by how they ended', () => {
    expect(attemptWords({ outcome: 'retried', error: 'timeout', ms: 10_004 })).toBe('No answer in 10 s')
    expect(attemptWords({ outcome: 'retried', error: 'http_503', ms: 40 })).toBe('Busy (503)')
    expect(attemptWords({ outcome: 'succeeded', error: null, ms: 40 })).toBe('Title found')
    expect(attemptWords({ outcome: 'dead', error: 'http_404', ms: 40 })).toBe('There is no such page')
    expect(attemptWords({ outcome: 'lease_expired', error: null, ms: null })).toBe(
      'Broken off, to be done again',
    )
    expect(attemptWords({ outcome: null, error: null, ms: null })).toBe('Looking for the title')
  })
})
