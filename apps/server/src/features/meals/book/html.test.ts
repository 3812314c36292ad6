import fc from 'fast-check'
import { expect, test } from 'vitest'
import { html } from './html.ts'

test('texts are escaped, in text and in quoted attributes; pieces of HTML are taken as they are', () => {
  const name = `<img src=x onerror="alert('1')"> & co`
  const list = ['a<b', 'c'].map((one) => html`<li>${one}</li>`)
  expect(html`<p title="${name}">${name}</p><ul>${list}</ul>${null}${false}${0}`.text).toBe(
    '<p title="&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt; &amp; co">' +
      '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt; &amp; co</p><ul><li>a&lt;b</li><li>c</li></ul>0',
  )
})

test('no text whatever gets a sign of markup through', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(html`${text}`.text).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|#39);)/)
    }),
  )
})
