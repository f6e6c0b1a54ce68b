import { z } from 'zod'
import { uuid } from '../scalars/scalars.ts'
import { MOST_MIRRORS } from './route-words.ts'

/** Percentages are rounded to 0.0001, which is close to fractions such as 1/3. */
const PARTS_OF_A_PERCENT = 10_000

/** A pool that gets copies of a percentage of a route's requests. Its responses are discarded. */
export const routeMirror = z.strictObject({
  poolId: uuid,
  /** 0 to 100. Rounded to 0.0001. */
  percent: z
    .number()
    .min(0)
    .max(100)
    .default(100)
    .transform((percent) => Math.round(percent * PARTS_OF_A_PERCENT) / PARTS_OF_A_PERCENT),
})
export type RouteMirror = z.infer<typeof routeMirror>

export const routeMirrors = z
  .array(routeMirror)
  .min(1)
  .max(MOST_MIRRORS)
  .refine((mirrors) => new Set(mirrors.map(({ poolId }) => poolId)).size === mirrors.length, {
    message: 'names a pool twice',
  })
