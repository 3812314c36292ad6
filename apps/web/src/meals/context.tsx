import type { Me } from '@garner/server/api'
import { createContext, useContext } from 'react'
import type { EnergyUnit } from './amounts.ts'
import type { Goals } from './contract.ts'
import type { MealActs } from './use-meals.ts'

/** What every part of the meals screen may need, so that cards and rows need not be handed it one by one. */
export interface Diary {
  me: Me
  day: string
  today: string
  goals: Goals
  unit: EnergyUnit
  acts: MealActs
}

export const DiaryContext = createContext<Diary | null>(null)

export function useDiary(): Diary {
  const diary = useContext(DiaryContext)
  if (!diary) throw new Error('useDiary: expected a DiaryContext around this component, found none')
  return diary
}
