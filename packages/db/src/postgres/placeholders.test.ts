import { expect, test } from 'vitest'
import { numbered } from './placeholders.ts'

test.each([
  ['no placeholder', 'SELECT 1', 'SELECT 1'],
  ['in order', 'SELECT ? FROM t WHERE a = ? AND b = ?', 'SELECT $1 FROM t WHERE a = $2 AND b = $3'],
  ['numbers written by hand', 'SELECT $2, $1', 'SELECT $2, $1'],
  ['a cast', 'SELECT ?::text::bigint[]', 'SELECT $1::text::bigint[]'],
  ['a string', "SELECT 'why?' || ?", "SELECT 'why?' || $1"],
  ['a quote in a string', "SELECT 'it''s?', ?", "SELECT 'it''s?', $1"],
  ['a backslash in a string', "SELECT 'a\\', ?", "SELECT 'a\\', $1"],
  ['a string with escapes', "SELECT E'a\\'?', ?", "SELECT E'a\\'?', $1"],
  ['a name', 'SELECT "odd?" = ?', 'SELECT "odd?" = $1'],
  ['a comment to the end of the line', 'SELECT 1 -- really?\n+ ?', 'SELECT 1 -- really?\n+ $1'],
  ['a comment in a block', 'SELECT /* really? */ ?', 'SELECT /* really? */ $1'],
  ['a function body', 'DO $$ SELECT ? $$; SELECT ?', 'DO $$ SELECT ? $$; SELECT $1'],
  ['a tagged body', 'DO $a$ $$ ? $$ $a$; SELECT ?', 'DO $a$ $$ ? $$ $a$; SELECT $1'],
  ['an operator of jsonb', 'SELECT a ?? ?, b ??| ?', 'SELECT a ? $1, b ?| $2'],
])('%s', (_name, sql, expected) => {
  expect(numbered(sql)).toBe(expected)
})
