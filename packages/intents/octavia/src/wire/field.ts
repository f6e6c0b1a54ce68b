import { invalidInput, invalidOption, unknownAttributes, unsupportedOption } from './fault.ts'
import { pythonText } from './python-text.ts'
import { type At, type Stamp, ValueRefused, ValueUnsupported, type WireType } from './wire-type.ts'

/** A change that a request's field makes to the object. */
export type Edit<D> = (draft: D) => D
export type Mode = 'create' | 'update'

/**
 * One attribute of a resource: a row of its table. Reading requests, Octavia's faults, printing replies, filters and
 * sorting all come from these rows. `D` is what requests edit, `R` what replies are printed from.
 */
export interface Field<D, R> {
  readonly name: string
  /** The minor version of the API that added it. */
  readonly since: number
  readonly create: 'required' | 'optional' | 'administrator' | 'refused'
  readonly update: boolean
  /** Whether only the value for "not used" is accepted. */
  readonly resting: boolean
  /** Checks a JSON value, null included. @throws OctaviaFault */
  readonly accept: (json: unknown, mode: Mode, at: At) => Edit<D>
  /** The change for a creation that leaves the field out. */
  readonly absent: Edit<D>
  /** Null for attributes that replies do not show. */
  readonly read: ((reading: R) => unknown) | null
  /** Whether the object matches a query parameter of this name; null when it is not a filter. */
  readonly selects: ((wanted: string) => (reading: R) => boolean) | null
}

interface FieldSpec<T, D, R> {
  readonly since: number
  readonly create?: 'required' | 'optional' | 'administrator'
  readonly update?: boolean
  /** Used when a creation leaves the field out. Without a default, the draft keeps its value. */
  readonly default?: NoInfer<T>
  /** The meaning of JSON null, when it is not `default`. */
  readonly ifNull?: NoInfer<T>
  readonly write?: (draft: D, value: NoInfer<T>) => D
  readonly read?: (reading: R) => unknown
  /** What a query parameter is compared with, if that is not the printed value (ids of parents). */
  readonly asked?: (reading: R) => readonly (string | null)[]
}

const keep = <D>(draft: D): D => draft

/** Makes rows for one resource. */
export const rowsOf =
  <D, R>() =>
  <T>(name: string, type: WireType<T>, spec: FieldSpec<T, D, R>): Field<D, R> => {
    const { write, read, asked } = spec
    const editTo = (value: T | undefined): Edit<D> =>
      write === undefined || value === undefined ? keep : (draft) => write(draft, value)
    const onNull = editTo(spec.ifNull === undefined ? spec.default : spec.ifNull)
    return {
      name,
      since: spec.since,
      create: spec.create ?? 'refused',
      update: spec.update ?? false,
      resting: false,
      absent: editTo(spec.default),
      read: read ?? null,
      selects: selector(type, asked, read),
      accept(json, mode, at) {
        if (json === null) {
          if (spec.create !== 'required') return onNull
          throw mode === 'create' ? missing(name) : invalidOption('None', name)
        }
        return editTo(readValue(name, type, json, { ...at, path: `${at.path}.${name}` }))
      },
    }
  }

function readValue<T>(name: string, type: WireType<T>, json: unknown, at: At): T {
  try {
    return type.read(json, at)
  } catch (error) {
    if (error instanceof ValueRefused) throw invalidInput(name, pythonText(json), error.message)
    if (error instanceof ValueUnsupported) throw unsupportedOption(`${name} ${pythonText(json)}: ${error.message}`)
    throw error
  }
}

function selector<T, R>(
  type: WireType<T>,
  asked: ((reading: R) => readonly (string | null)[]) | undefined,
  read: ((reading: R) => unknown) | undefined,
): Field<unknown, R>['selects'] {
  const canonical = type.queryText ?? keep
  if (asked !== undefined)
    return (text) => {
      const wanted = canonical(text)
      return (reading) => asked(reading).includes(wanted)
    }
  if (read === undefined) return null
  return (text) => {
    const wanted = canonical(text)
    return (reading) => {
      const printed = read(reading)
      return (
        (typeof printed === 'string' || typeof printed === 'number' || typeof printed === 'boolean') &&
        String(printed) === wanted
      )
    }
  }
}

const missing = (name: string) => invalidInput(name, 'None', 'Mandatory field missing.')

/**
 * Reads one object of a request.
 * @returns the change for the whole object; in a creation, fields that were left out get their defaults
 * @throws OctaviaFault for unknown attributes first, then for the first invalid field in the table's order
 */
export function readObject<D, R>(fields: readonly Field<D, R>[], mode: Mode, json: unknown, at: At): Edit<D> {
  if (json === null || typeof json !== 'object' || Array.isArray(json))
    throw invalidInput(at.path.split('.').at(-1) ?? at.path, pythonText(json), 'Value not a valid dict.')
  const given = new Map<string, unknown>(Object.entries(json))
  const { accepted, names } = acceptedOf(fields, mode, at.stamp.byAdministrator)
  const unknown = [...given.keys()].filter((name) => !names.has(name))
  if (unknown.length > 0) throw unknownAttributes(at.path, unknown)
  const edits = accepted.map((field) => {
    if (given.has(field.name)) return field.accept(given.get(field.name), mode, at)
    if (mode === 'update') return keep
    if (field.create === 'required') throw missing(field.name)
    return field.absent
  })
  return (draft) => edits.reduce((edited, edit) => edit(edited), draft)
}

interface Accepted<D, R> {
  readonly accepted: readonly Field<D, R>[]
  readonly names: ReadonlySet<string>
}

/** Cache: the attributes that requests may contain, by table. Tables never change. */
const ACCEPTED = new WeakMap<object, Map<string, Accepted<never, never>>>()

function acceptedOf<D, R>(fields: readonly Field<D, R>[], mode: Mode, byAdministrator: boolean): Accepted<D, R> {
  const key = `${mode} ${byAdministrator}`
  const ofTable = ACCEPTED.get(fields) ?? new Map<string, Accepted<never, never>>()
  const known = ofTable.get(key)
  if (known !== undefined) return known as unknown as Accepted<D, R>
  const accepted = fields.filter((field) => (mode === 'create' ? mayCreateWith(field, byAdministrator) : field.update))
  const found = { accepted, names: new Set(accepted.map((field) => field.name)) }
  ofTable.set(key, found as unknown as Accepted<never, never>)
  ACCEPTED.set(fields, ofTable)
  return found
}

const mayCreateWith = <D, R>({ create }: Field<D, R>, byAdministrator: boolean): boolean =>
  create === 'administrator' ? byAdministrator : create !== 'refused'

/** The type of a nested object in a creation. It is read by its own table, starting from `blank`. */
export const nested = <D, R>(fields: readonly Field<D, R>[], blank: (stamp: Stamp) => D): WireType<D> => ({
  read: (value, at) => readObject(fields, 'create', value, at)(blank(at.stamp)),
})

/** Prints an object by its table; `only` limits the attributes. */
export function printObject<D, R>(
  fields: readonly Field<D, R>[],
  reading: R,
  only?: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  const printed: Record<string, unknown> = {}
  for (const { name, read } of fields)
    if (read !== null && (only === undefined || only.has(name))) printed[name] = read(reading)
  return printed
}
