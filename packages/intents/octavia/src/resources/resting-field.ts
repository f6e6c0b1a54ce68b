import { type OctaviaFault, unsupportedOption } from '../wire/fault.ts'
import { type Field, rowsOf } from '../wire/field.ts'
import { pythonText } from '../wire/python-text.ts'
import { nullable, type WireType } from '../wire/wire-type.ts'

interface RestingSpec<T> {
  readonly since: number
  readonly update?: boolean
  readonly printed?: boolean
  /** The value that means "not used"; printed in replies. An empty text or list means the same. */
  readonly rest: NoInfer<T> | null
  /** Why other values are not supported; completes the 501. */
  readonly why?: string
  /** The fault for other values, where Octavia has one for a cloud without the feature. */
  readonly refuse?: (value: NoInfer<T>) => OctaviaFault
}

/** An attribute of Octavia that is not supported here: only the value for "not used" is accepted. */
export function restingField<D, R, T>(name: string, type: WireType<T>, spec: RestingSpec<T>): Field<D, R> {
  const isResting = (value: T): boolean =>
    value === spec.rest || value === '' || (Array.isArray(value) && value.length === 0)
  const refuse =
    spec.refuse ?? ((value: T) => unsupportedOption(`${name} ${pythonText(value)}: ${spec.why ?? 'not offered here'}`))
  const resting: WireType<T | null> = {
    ...nullable(type),
    read(value, at) {
      const known = type.read(value, at)
      if (!isResting(known)) throw refuse(known)
      return spec.rest
    },
  }
  const row = rowsOf<D, R>()(name, resting, {
    since: spec.since,
    create: 'optional',
    update: spec.update ?? true,
    ...(spec.printed === false ? {} : { read: () => spec.rest }),
  })
  return { ...row, resting: true }
}
