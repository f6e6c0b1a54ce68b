import type { Field } from '../wire/field.ts'

/** A kind of object of the API: its names and its attribute table. */
export interface Resource<D, R> {
  /** Its name in faults: `Load Balancer`. */
  readonly word: string
  /** The root attribute of a single object: `loadbalancer`. */
  readonly root: string
  /** The root attribute and the path of lists: `loadbalancers`. */
  readonly plural: string
  /** Its name in faults about attributes: `load_balancer`. */
  readonly argument: string
  readonly fields: readonly Field<D, R>[]
}
