import { type Refusal, shown } from '@spout/connector'
import { NGINX_PREFIX } from './registry.ts'

/** The part of a schema of the model that is used here. */
interface Schema<T> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly { readonly message: string }[] } }
}

/** Reads the annotations of ingress-nginx on one Ingress as typed values, and collects the problems. */
export class AnnotationReader {
  readonly #annotations: Readonly<Record<string, string>>
  readonly #problems: Refusal[] = []
  #isRefused = false

  constructor(annotations: Readonly<Record<string, string>>) {
    this.#annotations = annotations
  }

  get problems(): readonly Refusal[] {
    return this.#problems
  }

  /** Whether a problem was such that the paths of the Ingress must not be served. */
  get isRefused(): boolean {
    return this.#isRefused
  }

  /** Names after the prefix, sorted. */
  get names(): readonly string[] {
    return Object.keys(this.#annotations)
      .filter((name) => name.startsWith(NGINX_PREFIX))
      .map((name) => name.slice(NGINX_PREFIX.length))
      .sort()
  }

  /** The value of an annotation; undefined when it is missing or empty. */
  text(name: string): string | undefined {
    const text = this.#annotations[`${NGINX_PREFIX}${name}`]
    // Not every client of an API server checks that a value is a text.
    return typeof text !== 'string' || text.trim() === '' ? undefined : text.trim()
  }

  flag(name: string): boolean {
    const text = this.text(name)
    if (text !== undefined && !/^(true|false)$/.test(text)) this.invalid(name, 'is neither true nor false')
    return text === 'true'
  }

  whole(name: string, least: number, most: number): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    this.invalid(name, `is no number from ${least} to ${most}`)
    return undefined
  }

  /** The items of a list with commas; undefined when it is missing or empty. */
  list(name: string): readonly string[] | undefined {
    const parts = this.text(name)
      ?.split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
    return parts === undefined || parts.length === 0 ? undefined : parts
  }

  /** Checks a value that was made of an annotation; undefined, with a problem, when it is not valid. */
  parsed<T>(name: string, schema: Schema<T>, value: unknown): T | undefined {
    const made = schema.safeParse(value)
    if (made.success) return made.data
    this.invalid(name, made.error.issues[0]?.message ?? 'is not understood')
    return undefined
  }

  /** Reports an invalid value. The Ingress is served as if the annotation were missing. */
  invalid(name: string, why: string): void {
    this.#tell('InvalidAnnotation', name, `not taken: "${shown(this.text(name) ?? '')}" ${why}.`)
  }

  notTaken(name: string, why: string): void {
    this.#tell('AnnotationNotTaken', name, `not taken: ${why}.`)
  }

  /** Reports a value because of which the Ingress is not served: its paths answer 503. */
  refuse(name: string, why: string): void {
    this.#isRefused = true
    this.#tell('AnnotationRefused', name, `not taken: ${why}; all paths of this Ingress are answered with 503.`)
  }

  #tell(reason: string, name: string, message: string): void {
    this.#problems.push({ reason, field: `metadata.annotations[${NGINX_PREFIX}${shown(name)}]`, message })
  }
}
