import { beforeAll, expect, test } from 'vitest'
import { apiPage } from '../../scripts/api.ts'
import { markdownOf } from '../../scripts/api-declared.ts'

let text: string
const section = (name: string) =>
  text.split(/^(?=#{2,3} )/m).find((one) => one.startsWith(`### ${name}\n`)) ?? ''

beforeAll(async () => {
  text = (await apiPage()).text
}, 60_000)

test('a method is shown with its signature and what its docstring says', () => {
  expect(section('JobStore')).toContain('  nextDueInMs(kinds: string[]): Promise<number | null>\n')
  expect(section('JobStore')).toMatch(/^- `publish`: Ends a claim/m)
})

test('a class is shown without what is private to it, a constant with its type', () => {
  expect(section('Worker')).toContain('class Worker<Tx> {')
  expect(section('Worker')).not.toMatch(/private|^ {2}#/m)
  expect(section('PENDING_STATES')).toContain('const PENDING_STATES: readonly JobState[]')
})

test('a name that two entries export is documented once and pointed at from the other', () => {
  expect(text.match(/^### StoreUnavailable$/gm)).toHaveLength(1)
  expect(text).toMatch(/^`StoreUnavailable` is that of `@garner\/jobs`\.$/m)
})

test('every link of the contents leads to a heading', () => {
  const links = [...text.matchAll(/\(#([\w-]+)\)/g)].map(([, anchor]) => anchor)
  const headings = new Set([...text.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading!.toLowerCase()))
  expect(links.filter((anchor) => !headings.has(anchor!))).toEqual([])
})

test.each([
  ['/** One line. */', 'One line.'],
  ['/**\n     * Two\n     * lines.\n     */', 'Two\nlines.'],
  ['/**\n * - a list\n *   goes on\n */', '- a list\n  goes on'],
  ['/**\n * @param ms how long\n * @returns the end\n */', '- `ms`: how long\nAnswers the end'],
])('the comment %j is the Markdown %j', (comment, markdown) => {
  expect(markdownOf(comment)).toBe(markdown)
})
