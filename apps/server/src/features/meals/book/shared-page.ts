import { hash } from 'node:crypto'
import { Html, html } from './html.ts'
import type { Nutrient, SharedDiary, SharedMeal } from './schemas.ts'

/**
 * A share as a page: whole in itself, without a script and without anything from elsewhere, for browsers of any age
 * and for paper. Texts are other people's and come through `html`, which escapes them; `dir="auto"` keeps one that
 * is written from right to left inside its own line.
 */
const STYLE = `
:root{color-scheme:light dark;--paper:#f7f4f6;--surface:#fff;--sunken:#f0ebee;--line:#e4dce1;--ink:#241a22;--ink-2:#5a4e58;--ink-3:#6d616a;--accent:#7a2a60}
@media (prefers-color-scheme:dark){:root{--paper:#151115;--surface:#1f1a1f;--sunken:#2a242a;--line:#3a323a;--ink:#f4eff3;--ink-2:#c6bbc3;--ink-3:#a89ba4;--accent:#eba9d6}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.45 "Atkinson Hyperlegible Next",system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
main{max-width:45rem;margin:0 auto;padding:2rem 1rem 4rem}
header{margin-bottom:2rem}
h1{margin:0;font-size:1.75rem;line-height:1.2;letter-spacing:-.015em}
h2{margin:0;font-size:1.375rem;line-height:1.2}
h3{margin:0;font-size:1.125rem;line-height:1.3}
p{margin:.25rem 0}
.brand{display:flex;align-items:center;gap:.5rem;margin-bottom:1.5rem;color:var(--ink-2);font-weight:600}
.brand svg{width:1.5rem;height:1.5rem;color:var(--accent)}
.quiet{color:var(--ink-2)}
.small{font-size:.875rem}
.day{margin-top:2.5rem}
.meal{margin-top:1rem;background:var(--surface);border:1px solid var(--line);border-radius:16px;overflow:hidden;break-inside:avoid}
.meal img{display:block;width:100%;max-height:24rem;object-fit:cover;background:var(--sunken)}
.words{padding:1rem}
.tag{display:inline-block;margin-left:.5rem;padding:.0625rem .5rem;border-radius:999px;background:var(--sunken);color:var(--ink-2);font-size:.8125rem}
dl{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:.5rem 0 0}
dl div{display:flex;gap:.375rem}
dt{color:var(--ink-3)}
dd{margin:0;font-weight:600;font-variant-numeric:tabular-nums}
ul{margin:.75rem 0 0;padding:.75rem 0 0;border-top:1px solid var(--line);list-style:none;font-size:.875rem;color:var(--ink-2)}
li{display:flex;justify-content:space-between;gap:1rem;padding:.125rem 0}
a{color:var(--accent)}
a:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
.more{display:inline-block;margin-top:2rem;padding:.625rem 0}
`

const MARK = html`<svg viewBox="0 0 32 32" aria-hidden="true"><rect x="9" y="2.5" width="14" height="4.5" rx="2" fill="currentColor"/><rect x="5.2" y="9" width="21.6" height="20.5" rx="6" fill="none" stroke="currentColor" stroke-width="2.4"/><path d="M5 20h22v4a6 6 0 0 1-6 6H11a6 6 0 0 1-6-6z" fill="currentColor"/></svg>`

/** The style by its hash, pictures from here, and nothing else: no script, no form, no frame around it. */
export const PAGE_SECURITY =
  `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; img-src 'self'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function sharedPage(diary: SharedDiary): string {
  const { owner, from, to, expires_at, days, before } = diary
  return page(
    `Meals of ${owner}`,
    html`<header><p class="brand">${MARK} Garner</p>
<h1 dir="auto">Meals of ${owner}</h1>
<p class="quiet">${rangeInWords(from, to)} Read only. This link ends on ${dayInWords(expires_at.slice(0, 10))}.</p></header>
${days.length === 0 && html`<p>There are no meals in these days.</p>`}
${days.map((day) => daySection(day, diary))}
${before !== null && html`<p><a class="more" href="?before=${before}" rel="noreferrer">Show the days before</a></p>`}`,
  )
}

/** The answer to every token that opens nothing, whatever the reason. */
export const NO_SUCH_PAGE = page(
  'Nothing to show',
  html`<header><p class="brand">${MARK} Garner</p>
<h1>This link shows nothing</h1>
<p class="quiet">It may have ended, or part of the address is missing. Ask the person who gave it to you for a new one.</p></header>`,
)

function page(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow"><meta name="referrer" content="no-referrer">
<title>${title}</title><style>${new Html(STYLE)}</style></head>
<body><main>${body}</main></body></html>
`.text
}

function daySection({ date, meals, totals }: SharedDiary['days'][number], diary: SharedDiary): Html {
  const { uncounted } = totals
  return html`<section class="day"><h2><time datetime="${date}">${dayInWords(date)}</time></h2>
${!isUnknown(totals) && amounts(totals, diary)}
${uncounted > 0 && html`<p class="quiet small">${uncounted === 1 ? '1 meal is' : `${uncounted} meals are`} not counted, since ${uncounted === 1 ? 'its' : 'their'} energy is not known.</p>`}
${meals.map((meal) => mealCard(meal, diary))}</section>`
}

function mealCard(meal: SharedMeal, diary: SharedDiary): Html {
  return html`<article class="meal">${
    meal.photo_url !== null &&
    html`<a href="${meal.photo_url}"><img src="${meal.photo_url}" alt="Photo of this meal, at ${meal.time}" loading="lazy"></a>`
  }<div class="words"><p class="quiet"><time datetime="${meal.date}T${meal.time}">${meal.time}</time>${
    meal.is_time_guess && html`<span class="tag">time is a guess</span>`
  }${meal.estimate === 'estimated' && html`<span class="tag">estimated</span>`}</p>
<h3 dir="auto">${meal.description}</h3>
${amounts(meal.nutrients, diary)}
${
  meal.items.length > 0 &&
  html`<ul>${meal.items.map((item) => html`<li><span dir="auto">${item.food}</span><span dir="auto">${portion(item)}</span></li>`)}</ul>`
}</div></article>`
}

const NAMES: [Nutrient, string][] = [
  ['energy_kcal', 'Energy'],
  ['protein_g', 'Protein'],
  ['carbohydrate_g', 'Carbohydrate'],
  ['fat_g', 'Fat'],
  ['fiber_g', 'Fiber'],
]
const KJ_PER_KCAL = 4.184

function amounts(of: Record<Nutrient, number | null>, { energy_unit }: SharedDiary): Html {
  if (isUnknown(of)) return html`<p class="quiet small">Amounts not known.</p>`
  return html`<dl>${NAMES.map(([name, word]) => {
    const amount = of[name]
    const isEnergy = name === 'energy_kcal'
    const inUnit = amount !== null && isEnergy && energy_unit === 'kJ' ? amount * KJ_PER_KCAL : amount
    const unit = isEnergy ? energy_unit : 'g'
    return html`<div><dt>${word}</dt><dd>${inUnit === null ? 'unknown' : `${number(inUnit)} ${unit}`}</dd></div>`
  })}</dl>`
}

/** Five times "unknown" is a wall; once says as much, and under a day the note on what is not counted does. */
function isUnknown(of: Record<Nutrient, number | null>): boolean {
  return NAMES.every(([name]) => of[name] === null)
}

function portion({ serving, grams }: SharedMeal['items'][number]): string {
  const inGrams = grams === null ? '' : `${number(grams)} g`
  return [serving, inGrams].filter(Boolean).join(', ')
}

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const SMALL_NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

function number(amount: number): string {
  return (amount < 10 ? SMALL_NUMBER : NUMBER).format(amount)
}

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' })

function dayInWords(date: string): string {
  return DAY.format(new Date(`${date}T12:00:00Z`))
}

function rangeInWords(from: string | null, to: string | null): string {
  if (from !== null && to !== null) return `${dayInWords(from)} to ${dayInWords(to)}.`
  if (from !== null) return `From ${dayInWords(from)} on.`
  return to === null ? 'All days.' : `Up to ${dayInWords(to)}.`
}
