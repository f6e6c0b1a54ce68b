import { UsageError } from './commands/connections/context.ts'
import type { Field } from './resources/resource.ts'

/** The option's name as commander stores it: `--check-interval-ms <ms>` is `checkIntervalMs`. */
const optionName = (flags: string): string =>
  (/--([a-z0-9-]+)/.exec(flags)?.[1] ?? '').replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** Builds a body from the flags: each value at the path of its field. */
export function bodyOf(fields: readonly Field[], options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const { flags, field, parse } of fields) {
    const value = options[optionName(flags)]
    if (value === undefined) continue
    setAt(body, field.split('.'), typeof value === 'string' && parse ? parse(value) : value)
  }
  return body
}

function setAt(body: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) body[first] = value
  else {
    if (body[first] === null) throw new UsageError(`${first} cannot be removed and get ${rest.join('.')} at once`)
    const inner = (body[first] ?? {}) as Record<string, unknown>
    body[first] = inner
    setAt(inner, rest, value)
  }
}
