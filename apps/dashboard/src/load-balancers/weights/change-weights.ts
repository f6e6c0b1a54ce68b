import { readLoadBalancer, replaceLoadBalancer } from '../../api/load-balancers.ts'
import { Problem } from '../../api/problem.ts'
import { draftOf } from '../text/draft-of.ts'
import { isAlike, type Weighted, type WeightPlace, weightedAt, withWeights } from './weighted.ts'

export interface WeightChange {
  readonly id: string
  readonly place: WeightPlace
  /** What the chosen weights were chosen from. */
  readonly base: readonly Weighted[]
  /** By the ids of `base`. */
  readonly weights: ReadonlyMap<string, number>
}

/** How often others may change something else meanwhile. */
const MOST_TRIES = 5

/**
 * Sets weights of one place, all at once. What others change elsewhere in the document meanwhile stays theirs.
 * @throws Problem 412 when somebody else has changed the weights of this place; nothing is changed then
 */
export async function changeWeights({ id, place, base, weights }: WeightChange): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { body, etag } = await readLoadBalancer(id, new AbortController().signal)
    if (!isAlike(weightedAt(body, place), base)) throw new Problem(412, 'Somebody else changed the weights meanwhile.')
    try {
      await replaceLoadBalancer(id, draftOf(withWeights(body, place, weights)), etag)
      return
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 412 || tries === MOST_TRIES) throw error
    }
  }
}
