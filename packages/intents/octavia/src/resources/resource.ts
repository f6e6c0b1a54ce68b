import type { Field } from '../wire/field.ts'

/** A kind of object of the API: its words and the table of its attributes. */
export interface Resource<D, R> {
  /** As faults call it: `Load Balancer`. */
  readonly word: string
  /** The root attribute of a single object: `loadbalancer`. */
  readonly root: string
  /** The root attribute and the path of lists: `loadbalancers`. */
  readonly plural: string
  /** The argument's name in faults about attributes: `load_balancer`. */
  readonly argument: string
  readonly fields: readonly Field<D, R>[]
}
