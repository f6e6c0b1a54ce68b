import type { Condition } from './object-meta.ts'

/** A condition without its transition time and observed generation. */
export type ConditionState = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

/** A time as the API server writes it: RFC 3339, in seconds, UTC. */
export const apiTime = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`

/** Messages are cut after this many characters. The API server accepts more, but people read them. */
const LONGEST_MESSAGE = 1024

/**
 * Adds transition times to conditions. A condition whose status is as it was `before` keeps its time, so that unchanged
 * conditions cause no write.
 * @param now as `apiTime` writes it
 */
export const dated = <T extends ConditionState>(
  before: readonly Condition[] | undefined,
  states: readonly T[],
  now: string,
): readonly (T & Pick<Condition, 'lastTransitionTime'>)[] =>
  states.map((state) => {
    const known = before?.find(({ type }) => type === state.type)
    return {
      ...state,
      message: state.message.slice(0, LONGEST_MESSAGE),
      lastTransitionTime: known?.status === state.status ? known.lastTransitionTime : now,
    }
  })
