import { describe, expect, test } from 'vitest'
import { findJson } from './find-json.ts'

const OBJECT = '{"description":"a {plate} \\" of","items":[{"food":"rice"}]}'
const VALUE = { description: 'a {plate} " of', items: [{ food: 'rice' }] }
const FENCE = '```'

describe('the JSON in what a model wrote', () => {
  test.for([
    ['alone', OBJECT],
    ['in a fence', `${FENCE}json\n${OBJECT}\n${FENCE}`],
    ['in a fence without a language', `${FENCE}\n${OBJECT}\n${FENCE}\n`],
    ['in a fence between sentences', `Sure!\n${FENCE}json\n${OBJECT}\n${FENCE}\nEnjoy {it}`],
    ['between sentences', `Here is {the} estimate: ${OBJECT} Let me know if you need {more}!`],
    ['after thoughts', `<think>Is it {"description": 1}? {maybe}</think>\n${OBJECT}`],
    ['after thoughts whose beginning is missing', `so I answer {x}</think>${OBJECT}`],
    ['after another object', `{"thought": true} ${OBJECT}`],
  ])('%s', ([, text]) => {
    expect(findJson(text!)).toEqual({ value: VALUE, hasNotFinite: false })
  })

  test.for([
    ['nothing', ''],
    ['sentences', 'I cannot see any food.'],
    ['half an object', OBJECT.slice(0, 30)],
    ['a list', `[${OBJECT}]`],
    ['a list between sentences', `Here: [${OBJECT}] done`],
    ['a text', '"rice"'],
    ['null', 'null'],
    ['thoughts that never end', `<think>It may be ${OBJECT}`],
  ])('is not found in %s', ([, text]) => {
    expect(findJson(text!)).toBeNull()
  })

  test('NaN and Infinity are read as null, and told; in words they are words', () => {
    const text = '{"description":"NaN bread","items":[{"energy_kcal":NaN,"fat_g":-Infinity,"grams":5}]}'
    expect(findJson(text)).toEqual({
      value: { description: 'NaN bread', items: [{ energy_kcal: null, fat_g: null, grams: 5 }] },
      hasNotFinite: true,
    })
  })

  test('an answer made of nothing but brackets is given up, not searched for ever', () => {
    expect(findJson('{'.repeat(1_000_000))).toBeNull()
    expect(findJson('[{"'.repeat(300_000))).toBeNull()
  })
})
