import { useId } from 'react'
import { Icon } from '../../ui/icon.tsx'
import { type EnergyUnit, gramsNumber, inUnit } from '../amounts.ts'
import { useDiary } from '../context.tsx'
import { NUTRIENTS, type Nutrient } from '../contract.ts'
import {
  type Column,
  type ItemDraft,
  parseAmount,
  recalculate,
  shownIn,
  totalOfItems,
  typeInto,
} from './draft.ts'

const ITEMS_MAX = 20

function columnWords(column: Column, unit: EnergyUnit): string {
  const words = {
    grams: 'Grams',
    energy_kcal: unit,
    protein_g: 'Protein',
    carbohydrate_g: 'Carbs',
    fat_g: 'Fat',
    fiber_g: 'Fiber',
  }
  return words[column]
}

const COLUMNS: Column[] = ['grams', ...NUTRIENTS]

/** What is in a meal, row by row; on phones each row is a card. The last line is always the sum of the rows. */
export function Items(props: {
  items: ItemDraft[]
  onChange(items: ItemDraft[]): void
  newItem(): ItemDraft
}) {
  const { items, onChange } = props
  const { unit } = useDiary()
  const id = useId()
  const total = totalOfItems(items)
  const edit = (key: string, change: (item: ItemDraft) => ItemDraft) =>
    onChange(items.map((item) => (item.key === key ? change(item) : item)))
  const own = items.flatMap((item) => item.own.map((nutrient) => ({ item, nutrient })))

  return (
    <section aria-labelledby={`${id}-title`}>
      <div className="head-row items-title">
        <h3 id={`${id}-title`}>What is in it</h3>
        <span className="hint">Change the grams and the rest follows.</span>
      </div>
      <div className="items-head" aria-hidden="true">
        <span>Item</span>
        {COLUMNS.map((column) => (
          <span key={column}>{columnWords(column, unit)}</span>
        ))}
        <span />
      </div>
      <ul className="items">
        {items.map((item, i) => (
          <li className="item" key={item.key}>
            <span className="cell name">
              <label htmlFor={`${id}-${item.key}`}>Item</label>
              <input
                id={`${id}-${item.key}`}
                className="input"
                dir="auto"
                maxLength={200}
                autoComplete="off"
                placeholder={i === 0 ? 'Lentils, cooked' : ''}
                value={item.food}
                onChange={(event) => edit(item.key, (one) => ({ ...one, food: event.target.value }))}
              />
            </span>
            {COLUMNS.map((column) => (
              <Amount
                key={column}
                item={item}
                column={column}
                unit={unit}
                onType={(text) => edit(item.key, (one) => typeInto(one, column, text, unit))}
              />
            ))}
            <button
              type="button"
              className="icon-btn"
              aria-label={`Remove ${item.food || `item ${i + 1}`}`}
              onClick={() => onChange(items.filter((one) => one.key !== item.key))}
            >
              <Icon name="x" />
            </button>
          </li>
        ))}
      </ul>
      <div className="items-head sum">
        <span>Together</span>
        {COLUMNS.map((column) => (
          <span key={column} data-l={columnWords(column, unit)}>
            {sumWords(total[column], column, unit)}
          </span>
        ))}
        <span />
      </div>
      <div className="buttons">
        {items.length < ITEMS_MAX && (
          <button type="button" className="btn tight" onClick={() => onChange([...items, props.newItem()])}>
            <Icon name="plus" />
            Add an item
          </button>
        )}
        {own
          .filter(({ item }) => item.basis !== null && item.grams !== null)
          .map(({ item, nutrient }) => (
            <button
              key={`${item.key} ${nutrient}`}
              type="button"
              className="btn tight quiet"
              onClick={() => edit(item.key, (one) => recalculate(one, nutrient))}
            >
              <Icon name="undo" />
              <span>
                {item.food} {ownWords(nutrient, unit)} is yours: recalculate from grams
              </span>
            </button>
          ))}
      </div>
    </section>
  )
}

function ownWords(nutrient: Nutrient, unit: EnergyUnit): string {
  return nutrient === 'energy_kcal' ? unit : columnWords(nutrient, unit).toLowerCase()
}

function sumWords(amount: number | null, column: Column, unit: EnergyUnit): string {
  if (amount === null) return '–'
  return column === 'energy_kcal' ? String(Math.round(inUnit(amount, unit))) : gramsNumber(amount)
}

function Amount(props: { item: ItemDraft; column: Column; unit: EnergyUnit; onType(text: string): void }) {
  const { item, column, unit } = props
  const id = useId()
  const isOwn = column !== 'grams' && item.own.includes(column) && item.basis !== null
  const typed = item.typed[column]
  const isBad = typed !== undefined && parseAmount(typed) === undefined
  return (
    <span className={`cell ${isOwn ? 'set' : ''}`}>
      <label htmlFor={id}>{columnWords(column, unit)}</label>
      <input
        id={id}
        className="input num"
        inputMode="decimal"
        autoComplete="off"
        maxLength={8}
        aria-invalid={isBad || undefined}
        value={shownIn(item, column, unit)}
        onChange={(event) => props.onType(event.target.value)}
      />
    </span>
  )
}
