import { type Static, type TSchema, Type } from 'typebox'

/**
 * The diary as clients see it: these schemas validate what comes in, type what goes out, and give `apps/web` its
 * types. Unknown fields are refused everywhere. Amounts are for the portion, never for 100 g; null is unknown, and
 * unknown is not zero.
 */
const closed = { additionalProperties: false }
const orNull = <T extends TSchema>(type: T) => Type.Union([type, Type.Null()])

/**
 * What one item may hold: amounts that no plate and no pot reaches, so that a slip of the keyboard is told and every
 * sum stays a finite number. 20 items, as many as an estimate may have.
 */
export const ITEMS_MAX = 20
export const GRAMS_MAX = 10_000
export const KCAL_MAX = 20_000
export const DESCRIPTION_MAX = 500
export const FOOD_MAX = 200

const Kcal = orNull(Type.Number({ minimum: 0, maximum: KCAL_MAX }))
const Grams = orNull(Type.Number({ minimum: 0, maximum: GRAMS_MAX }))

export const NUTRIENTS = ['energy_kcal', 'protein_g', 'carbohydrate_g', 'fat_g', 'fiber_g'] as const
export type Nutrient = (typeof NUTRIENTS)[number]

export const MealNutrients = Type.Object(
  { energy_kcal: Kcal, protein_g: Grams, carbohydrate_g: Grams, fat_g: Grams, fiber_g: Grams },
  closed,
)
export type MealNutrients = Static<typeof MealNutrients>

/** What grams are scaled from: the portion as it was estimated, or first written. */
export const Basis = Type.Object({ grams: Type.Number(), nutrients: MealNutrients }, closed)
export type Basis = Static<typeof Basis>

export const ItemSource = Type.Union([Type.Literal('table'), Type.Literal('model'), Type.Literal('hand')])

export const MealItem = Type.Object(
  {
    food: Type.String(),
    /** As a person would say it: `1 slice`; empty when unknown. */
    serving: Type.String(),
    grams: orNull(Type.Number()),
    nutrients: MealNutrients,
    /** The food table, the vision model, or a person. */
    source: ItemSource,
    /** Null: the item itself is what grams are scaled from. */
    basis: orNull(Basis),
  },
  closed,
)
export type MealItem = Static<typeof MealItem>

export const EstimateState = Type.Union([
  Type.Literal('estimated'),
  Type.Literal('none'),
  Type.Literal('unknown'),
])

/** One meal. A photo's meal has the id of its entry (`POST /api/auto-log`). */
export const Meal = Type.Object(
  {
    id: Type.String(),
    /** Local, as stated: YYYY-MM-DD and HH:MM; no zone moves them. */
    date: Type.String(),
    time: Type.String(),
    /** The time is a guess that nobody has confirmed. */
    is_time_guess: Type.Boolean(),
    description: Type.String(),
    items: Type.Array(MealItem),
    /** The sums over the items; null where not one item says it. */
    nutrients: MealNutrients,
    ai_assisted: Type.Boolean(),
    estimate: EstimateState,
    /** A word for why there is no estimate (`allowance_exhausted`, `no_provider`, …); null when none is missing. */
    reason: orNull(Type.String()),
    /** A new estimate was asked for, and is under way. */
    is_estimating: Type.Boolean(),
    /** A person has changed it. */
    is_edited: Type.Boolean(),
    has_photo: Type.Boolean(),
    photo_url: orNull(Type.String()),
    version: Type.Integer(),
  },
  closed,
)
export type Meal = Static<typeof Meal>

/** The sums of a day; null where not one of its meals says it. */
export const Totals = Type.Object(
  {
    ...MealNutrients.properties,
    meals: Type.Integer(),
    /** Meals that are not in `energy_kcal`, since nobody knows theirs. */
    uncounted: Type.Integer(),
    /** The same for each nutrient. */
    unknown: Type.Object(
      Object.fromEntries(NUTRIENTS.map((name) => [name, Type.Integer()])) as Record<
        Nutrient,
        ReturnType<typeof Type.Integer>
      >,
      closed,
    ),
    /** Photos of this day that are still being described. They are no meals yet. */
    waiting: Type.Integer(),
  },
  closed,
)
export type Totals = Static<typeof Totals>

/** A day begins at the person's own start of day: a meal at 01:30 may belong to the date before. */
export const Day = Type.Object({ date: Type.String(), meals: Type.Array(Meal), totals: Totals }, closed)
export type Day = Static<typeof Day>

/** `GET /api/meals`: every day that was asked for, in order, also those without meals. */
export const DayList = Type.Object({ days: Type.Array(Day), version: Type.Integer() }, closed)
export type DayList = Static<typeof DayList>

/** One of: `date`; `from` and `to`; `days` and their last one, `anchor`. */
export const DaysQuery = Type.Object(
  {
    date: Type.Optional(Type.String()),
    from: Type.Optional(Type.String()),
    to: Type.Optional(Type.String()),
    days: Type.Optional(Type.String()),
    anchor: Type.Optional(Type.String()),
  },
  closed,
)
export type DaysQuery = Static<typeof DaysQuery>

/** An item as a person writes it; what is left out is unknown. */
export const WriteItem = Type.Object(
  {
    food: Type.String({ maxLength: FOOD_MAX }),
    serving: Type.Optional(Type.String({ maxLength: 100 })),
    grams: Type.Optional(Grams),
    nutrients: Type.Optional(Type.Partial(MealNutrients, closed)),
    /** `hand` unless said: an item that is kept or only rescaled keeps where it came from. */
    source: Type.Optional(ItemSource),
    basis: Type.Optional(
      orNull(
        Type.Object(
          { grams: Type.Number({ minimum: 0, maximum: GRAMS_MAX }), nutrients: MealNutrients },
          closed,
        ),
      ),
    ),
  },
  closed,
)
export type WriteItem = Static<typeof WriteItem>

export const WriteMeal = Type.Object(
  {
    date: Type.String(),
    time: Type.String(),
    description: Type.String({ maxLength: DESCRIPTION_MAX }),
    items: Type.Optional(Type.Array(WriteItem, { maxItems: ITEMS_MAX })),
    /** In place of items, for who knows only the whole: kept as its one item, so that totals stay sums. */
    nutrients: Type.Optional(Type.Partial(MealNutrients, closed)),
  },
  closed,
)
export type WriteMeal = Static<typeof WriteMeal>

export const EditMeal = Type.Object(
  {
    version: Type.Integer({ minimum: 0 }),
    date: Type.Optional(Type.String()),
    time: Type.Optional(Type.String()),
    description: Type.Optional(Type.String({ maxLength: DESCRIPTION_MAX })),
    items: Type.Optional(Type.Array(WriteItem, { maxItems: ITEMS_MAX })),
    /** In place of items, for who knows only the whole: kept as its one item, so that totals stay sums. */
    nutrients: Type.Optional(Type.Partial(MealNutrients, closed)),
  },
  closed,
)
export type EditMeal = Static<typeof EditMeal>

/** `GET /api/allowance`: the vision allowance of this UTC day. */
export const VisionAllowance = Type.Object(
  {
    limit: Type.Integer(),
    used: Type.Integer(),
    /** Set aside for photos that are being described now. */
    reserved: Type.Integer(),
    /** Nobody knows whether these were billed; they count. */
    unknown: Type.Integer(),
    resets_at: Type.String(),
    provider: Type.Union([Type.Literal('none'), Type.Literal('ready'), Type.Literal('parked')]),
    /** While `parked`: a word for why, and until when if that is known. */
    provider_reason: orNull(Type.String()),
    provider_until: orNull(Type.String()),
  },
  closed,
)
export type VisionAllowance = Static<typeof VisionAllowance>

export const Direction = Type.Union([
  Type.Literal('at_least'),
  Type.Literal('at_most'),
  Type.Literal('about'),
])
const goalOf = (maximum: number) =>
  orNull(Type.Object({ amount: Type.Number({ exclusiveMinimum: 0, maximum }), direction: Direction }, closed))

/** What a person aims at in a day; null: no goal for it. Energy is in kcal, whatever unit it is shown in. */
export const Goals = Type.Object(
  {
    goals: Type.Object(
      {
        energy_kcal: goalOf(KCAL_MAX),
        protein_g: goalOf(GRAMS_MAX),
        carbohydrate_g: goalOf(GRAMS_MAX),
        fat_g: goalOf(GRAMS_MAX),
        fiber_g: goalOf(GRAMS_MAX),
      },
      closed,
    ),
    /** HH:MM. Meals before it belong to the date before. */
    start_of_day: Type.String(),
    energy_unit: Type.Union([Type.Literal('kcal'), Type.Literal('kJ')]),
  },
  closed,
)
export type Goals = Static<typeof Goals>

/** What is left out goes back to how it starts: no goal, 00:00, kcal. */
export const PutGoals = Type.Object(
  {
    goals: Type.Optional(Type.Partial(Goals.properties.goals, closed)),
    start_of_day: Type.Optional(Goals.properties.start_of_day),
    energy_unit: Type.Optional(Goals.properties.energy_unit),
  },
  closed,
)
export type PutGoals = Static<typeof PutGoals>

export const CreateShare = Type.Object(
  {
    /** For whom, seen by its owner alone. */
    name: Type.Optional(Type.String({ maxLength: 200 })),
    /** The first and the last day that is shown; without one, no bound on that side. */
    from: Type.Optional(orNull(Type.String())),
    to: Type.Optional(orNull(Type.String())),
    /** ISO 8601 with offset, in the next 366 days; in 30 days unless said. */
    expires_at: Type.Optional(Type.String({ maxLength: 40 })),
    /** With the photos; so unless said. */
    photos: Type.Optional(Type.Boolean()),
  },
  closed,
)
export type CreateShare = Static<typeof CreateShare>

export const Share = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    from: orNull(Type.String()),
    to: orNull(Type.String()),
    expires_at: Type.String(),
    photos: Type.Boolean(),
    created_at: Type.String(),
    /** How often it was opened, and when last. */
    views: Type.Integer(),
    last_view_at: orNull(Type.String()),
  },
  closed,
)
export type Share = Static<typeof Share>

export const ShareList = Type.Object({ shares: Type.Array(Share) }, closed)
export type ShareList = Static<typeof ShareList>

/** The answer to `POST /api/shares`: the only time that the token is seen. */
export const CreatedShare = Type.Object(
  { ...Share.properties, token: Type.String(), path: Type.String() },
  closed,
)
export type CreatedShare = Static<typeof CreatedShare>

/** A meal as somebody with a share's link sees it. */
export const SharedMeal = Type.Pick(
  Meal,
  [
    'id',
    'date',
    'time',
    'is_time_guess',
    'description',
    'items',
    'nutrients',
    'ai_assisted',
    'estimate',
    'has_photo',
    'photo_url',
  ],
  closed,
)
export type SharedMeal = Static<typeof SharedMeal>

/** `GET /s/:token` with `Accept: application/json`: newest day first, only days with meals. */
export const SharedDiary = Type.Object(
  {
    /** Whose meals they are. */
    owner: Type.String(),
    from: orNull(Type.String()),
    to: orNull(Type.String()),
    expires_at: Type.String(),
    energy_unit: Goals.properties.energy_unit,
    days: Type.Array(
      Type.Object(
        {
          date: Type.String(),
          meals: Type.Array(SharedMeal),
          totals: Type.Omit(Totals, ['waiting'], closed),
        },
        closed,
      ),
    ),
    /** `?before=` this for the days before; null when there are none. */
    before: orNull(Type.String()),
  },
  closed,
)
export type SharedDiary = Static<typeof SharedDiary>
