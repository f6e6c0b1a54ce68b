import { inspect } from 'node:util'

const REDACTED = '[redacted]'

/**
 * Holds a value that no log, error, JSON text or template can show. Only `reveal` returns it, which is easy to search
 * for.
 */
export class Secret<T> {
  readonly #value: T

  constructor(value: T) {
    this.#value = value
  }

  reveal(): T {
    return this.#value
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [inspect.custom](): string {
    return REDACTED
  }
}
