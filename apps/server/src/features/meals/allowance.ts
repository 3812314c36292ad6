/** The quota that photos are described from: one use for each photo, however often it is tried. */
export const VISION_ALLOWANCE = { allowance: 'vision', per: 'day' } as const
