import { listDifference } from '@spout/model'
import { fewStretchesOf } from '@spout/model/list-difference'
import type { Pieces } from '@spout/runtime'

/** Freezes a JSON value and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object') {
    for (const field of Object.values(value)) deepFreeze(field)
    Object.freeze(value)
  }
  return value
}

/** How many objects are looked at between two pauses. */
const AT_ONCE = 64

/**
 * Freezes a value in place, without a copy, with pauses.
 * @param like a frozen value; parts that `value` shares with it are not visited again
 * @returns the bytes that its new lists take in memory, besides their items; null, having frozen nothing, when the value
 * would not survive JSON unchanged
 */
export function* freezingAsJson(value: unknown, like: unknown): Pieces<number | null> {
  const made = yield* collecting(value, like)
  if (made === null) return null
  let bytes = 0
  for (let at = 0; at < made.length; at++) {
    if (at % AT_ONCE === AT_ONCE - 1) yield
    const one = Object.freeze(made[at])
    if (Array.isArray(one)) bytes += BYTES_OF_ITEM * one.length
  }
  return bytes
}

/** A list takes this much for each item. */
const BYTES_OF_ITEM = 8

/** @returns the objects that are not in `like`; null when the value is not JSON */
function* collecting(value: unknown, like: unknown): Pieces<readonly object[] | null> {
  const made: object[] = []
  const left = new Left()
  if (!left.see(value, like)) return null
  for (let next = left.take(); next !== undefined; next = left.take()) {
    if (made.push(next) % AT_ONCE === 0) yield
    if (!seeParts(next, left.like, left)) return null
  }
  return made
}

/** Objects that are not visited yet, each with the value that it may share parts with. */
class Left {
  readonly #values: object[] = []
  readonly #likes: unknown[] = []
  /** Of the object that was taken last. */
  like: unknown

  /** @returns false for what is not JSON */
  see(value: unknown, like: unknown): boolean {
    if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
    if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
    if (typeof value !== 'object') return false
    if (value === like) return true
    this.#values.push(value)
    this.#likes.push(like)
    return true
  }

  take(): object | undefined {
    this.like = this.#likes.pop()
    return this.#values.pop()
  }
}

function seeParts(value: object, like: unknown, left: Left): boolean {
  if (Array.isArray(value)) return seeItems(value, Array.isArray(like) ? like : [], left)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  const fields = value as Readonly<Record<string, unknown>>
  const known = typeof like === 'object' && like !== null ? (like as Readonly<Record<string, unknown>>) : NOTHING
  for (const name in fields) if (!left.see(fields[name], known[name])) return false
  return true
}

const NOTHING: Readonly<Record<string, unknown>> = {}

function seeItems(value: readonly unknown[], like: readonly unknown[], left: Left): boolean {
  const stretches = fewStretchesOf(like, value)
  if (stretches !== null) {
    for (const { at, count, from } of stretches)
      for (let place = at; from === null && place < at + count; place++)
        if (!left.see(value[place], like[place])) return false
    return true
  }
  let fresh: ReadonlySet<unknown> | null = null
  for (let at = 0; at < value.length; at++) {
    const item = value[at]
    if (item === like[at] && item !== undefined) continue
    if (typeof item === 'object' && item !== null && like.length > 0) {
      fresh ??= new Set(listDifference(like, value).come)
      if (!fresh.has(item)) continue
    }
    if (!left.see(item, like[at])) return false
  }
  return true
}
