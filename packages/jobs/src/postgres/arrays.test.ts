import pg from 'pg'
import { expect, test } from 'vitest'
import { describeOnPostgres, temporaryPostgres } from '../../../db/testing/postgres.ts'
import { lines, numberArray, numbersOf, orNone, orOne, textArray } from './arrays.ts'

test('a column that says the same of all rows is one value, one that says nothing is none', () => {
  expect(orOne(['a', 'a', 'a'])).toEqual(['a'])
  expect(orOne(['a', 'b', 'a'])).toEqual(['a', 'b', 'a'])
  expect(orOne([])).toEqual([])
  expect(orNone([null, null])).toEqual([])
  expect(orNone([null, 1])).toEqual([null, 1])
})

test('numbers come back from their text', () => {
  expect(numbersOf('{1000,-2,9007199254740991}')).toEqual([1_000, -2, Number.MAX_SAFE_INTEGER])
  expect(numbersOf('{}')).toEqual([])
})

describeOnPostgres('arrays', () => {
  test('the database reads what was written, whatever is in it', async () => {
    const client = new pg.Client({ connectionString: await temporaryPostgres() })
    await client.connect()
    const texts = [
      '',
      'plain',
      'a "quote"',
      'back\\slash',
      '{brace}',
      'a,b',
      'NULL',
      null,
      "it's",
      'ü €𝄞\n\t',
      ' ',
    ]
    const payloads = [null, '\u0000\n"\\', { a: ['\u2028', 1.5, -1e21] }, 'NULL', ''].map((one) =>
      JSON.stringify(one),
    )
    const { rows } = await client.query(
      "SELECT $1::text::text[] AS texts, $2::text::bigint[] AS numbers, string_to_array($3, E'\\n') AS payloads",
      [textArray(texts), numberArray([1, null, -5]), lines(payloads)],
    )
    expect(rows).toEqual([{ texts, numbers: ['1', null, '-5'], payloads }])
    await client.end()
  })
})
