import { nearest } from '@spout/model/nearest'

/** Of letters; fewer in a short name, which would be near to many. */
const MOST_CHANGES = 3

/** What is wrong with a name, and which one was likely meant: `Field nmae is not known here: did you mean name?`. */
export function withNearest(message: string, name: string, names: readonly string[]): string {
  const near = nearest(name, names, Math.min(MOST_CHANGES, Math.ceil(name.length / 2)))
  return near === null ? message : `${message}: did you mean ${near}?`
}
