/**
 * The key by which two saved addresses are the same page. Only for finding duplicates: the stored address keeps
 * its own form, and a member can save the "duplicate" anyway, so a wrong match costs a click, never a link.
 *
 * The same: http and https, default ports, a final slash, the order of parameters, tracking parameters, anchors,
 * percent-encoding of what needs none, "+" and "%20" in a query.
 * Different: path and query case, encoded reserved characters, other hosts (also www.), fragments that are routes.
 */

/** Says who sent the reader, never which page. Lower case; whole names. */
const TRACKING = new Set(
  (
    'fbclid gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid msclkid yclid ysclid twclid ttclid ' +
    'li_fat_id rdt_cid epik srsltid igshid igsh mc_cid mc_eid mkt_tok _ga _gl _hsenc _hsmi __hssc __hstc __hsfp ' +
    'hsctatracking oly_anon_id oly_enc_id vero_id vero_conv wickedid rb_clickid s_cid ml_subscriber ' +
    'ml_subscriber_hash _openstat fb_action_ids fb_action_types fb_ref fb_source'
  ).split(' '),
)
const TRACKING_PREFIX = /^(utm|mtm|pk|piwik|matomo)_/

/**
 * Never throws; a text that is no web address is its own key. `pageKey(pageKey(x)) === pageKey(x)`.
 * Shape: an https address, percent-encoded ASCII, up to nine times as long as the address.
 */
export function pageKey(address: string): string {
  // Twice is almost always enough; "%2%65" needs a third time: it becomes "%2e", and that a dot in a path.
  for (let key = address, rounds = 0; ; rounds++) {
    const next = normalised(key)
    if (next === key || rounds === ROUNDS_MAX) return next
    key = next
  }
}

/** Each round after the first only takes encoding layers off, and 2048 characters hold no more than these. */
const ROUNDS_MAX = 1024

function normalised(address: string): string {
  const url = URL.parse(address)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return address
  const host = url.hostname.replace(/(?<=.)\.$/, '')
  const port = url.port === '' || url.port === '443' ? '' : `:${url.port}`
  const path = plain(url.pathname).replace(/\/+$/, '')
  return `https://${host}${port}${path || '/'}${queryKey(url.search)}${routeKey(url.hash)}`
}

function queryKey(search: string): string {
  if (search === '') return ''
  const kept = search
    .slice(1)
    .split('&')
    .map((one) => plain(one.replaceAll('+', '%20')))
    .map((one) => ({ one, name: one.split('=')[0]! }))
    .filter(({ one, name }) => one !== '' && !isTracking(name.toLowerCase()))
  // By name alone, and stable: "a=1&a=2" is a list, and its order may mean something.
  kept.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return kept.length === 0 ? '' : `?${kept.map(({ one }) => one).join('&')}`
}

function isTracking(name: string): boolean {
  return TRACKING.has(name) || TRACKING_PREFIX.test(name)
}

/** Single-page sites keep the whole address behind the #. Any other fragment is a place on the same page. */
function routeKey(hash: string): string {
  if (hash === '') return ''
  const fragment = plain(hash.split(':~:')[0]!)
  return /^#!?\//.test(fragment) ? fragment : ''
}

/**
 * Percent-encoding in one spelling: unreserved characters plain, hexadecimal digits in capitals. Again until
 * nothing changes: "%4%31" becomes "%41", and that is "A".
 */
function plain(text: string): string {
  if (!text.includes('%')) return text
  for (let before = text; ; ) {
    const after = before.replace(/%[0-9a-f]{2}/gi, (encoded) => {
      const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
      return /[A-Za-z0-9._~-]/.test(character) ? character : encoded.toUpperCase()
    })
    if (after === before) return after
    before = after
  }
}
