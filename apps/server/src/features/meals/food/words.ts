/**
 * A food's name as a set of words that can be compared: lower case, singular, without what says only how much of it
 * there is or how it was cut. Pure; used alike on the table's names and on the model's.
 */
export function wordsOf(name: string): string[] {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/\([^)]*\)/g, ' ')
    .replace(/['’]s\b/g, 's')
    .replace(/\bwhole[- ]?(wheat|meal|grain)\b/g, 'whole wheat')
    .split(/[^a-z0-9%]+/)
    .filter((word) => word !== '' && !FILLERS.has(word))
    .map((word) => SAME[singular(word)] ?? singular(word))
  return [...new Set(words)]
}

/** Names of the same words mean the same, in whatever order they stand. */
export function keyOf(words: string[]): string {
  return [...words].sort().join(' ')
}

/** A dish of several things, whose amounts no single entry knows. Pure. */
export function isMixed(name: string): boolean {
  return /\b(with|and|in|on|over|plus|or)\b|[&+/]/i.test(name)
}

const FILLERS = new Set(
  (
    'a an the of some few small medium large big piece pieces slice slices sliced chopped diced shredded grated cubed ' +
    'fresh freshly homemade portion serving side bowl cup glass plate simple leftover style pcs pc x wedge wedges ' +
    'strip strips chunk chunks half halves floret florets spears'
  ).split(' '),
)

/** Words for one thing; ways of cooking that add nothing to the food, by the name that the table has for them. */
const SAME: Record<string, string> = {
  ...{ grilled: 'broiled', barbecued: 'broiled', griddled: 'broiled', steamed: 'boiled', fry: 'fried' },
  ...{ fries: 'fried', prawn: 'shrimp', fillet: 'filet', capsicum: 'pepper', courgette: 'zucchini' },
  ...{ aubergine: 'eggplant', yoghurt: 'yogurt', ketchup: 'catsup', chilli: 'chili', omelette: 'omelet' },
}

function singular(word: string): string {
  if (word.length <= 3 || /(ss|us|is)$/.test(word)) return word
  if (/^(cook|brown|smooth)ies$/.test(word)) return word.slice(0, -1)
  if (/ies$/.test(word)) return word.length > 5 ? `${word.slice(0, -3)}y` : word
  if (/(oes|ches|shes|xes|sses)$/.test(word)) return word.slice(0, -2)
  return word.endsWith('s') ? word.slice(0, -1) : word
}
