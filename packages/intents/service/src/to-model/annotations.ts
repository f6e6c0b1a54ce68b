import { type OrRefusal, refuse, shown } from '@spout/connector'
import type { Service } from '@spout/kube'
import { ANNOTATIONS, type AnnotationName } from '../names.ts'

/** The trimmed value of an annotation; null when it is not set. Two of its names with different values are refused. */
export function annotation(service: Service, name: AnnotationName): OrRefusal<string | null> {
  const all = service.metadata.annotations ?? {}
  const [own, ...others] = ANNOTATIONS[name]
  let value: string | null = null
  let from: string = own
  for (const known of [own, ...others]) {
    const text = Object.hasOwn(all, known) ? String(all[known]).trim() : ''
    if (text === '') continue
    if (value !== null && text !== value)
      return refuse('InvalidAnnotation', `metadata.annotations[${known}]`, `It differs from ${from}.`)
    value = text
    from = known
  }
  return { value }
}

/** A comma separated list without empty items; null when it is not set. */
export function listAnnotation(service: Service, name: AnnotationName): OrRefusal<readonly string[] | null> {
  const text = annotation(service, name)
  if ('refusal' in text) return text
  if (text.value === null) return { value: null }
  const items = text.value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
  return { value: items.length === 0 ? null : items }
}

export function choiceAnnotation<const T extends string>(
  service: Service,
  name: AnnotationName,
  choices: readonly T[],
): OrRefusal<T | null> {
  const text = annotation(service, name)
  if ('refusal' in text) return text
  if (text.value === null) return { value: null }
  const found = choices.find((choice) => choice === text.value)
  if (found !== undefined) return { value: found }
  return refuse('InvalidAnnotation', fieldOf(name), `"${shown(text.value)}" is none of ${choices.join(', ')}.`)
}

/** A whole number within bounds. */
export function numberAnnotation(
  service: Service,
  name: AnnotationName,
  { least, most }: { readonly least: number; readonly most: number },
): OrRefusal<number | null> {
  const text = annotation(service, name)
  if ('refusal' in text) return text
  if (text.value === null) return { value: null }
  const value = /^\d{1,9}$/.test(text.value) ? Number(text.value) : Number.NaN
  if (value >= least && value <= most) return { value }
  return refuse(
    'InvalidAnnotation',
    fieldOf(name),
    `"${shown(text.value)}" is not a whole number from ${least} to ${most}.`,
  )
}

/** `500ms`, `3s`, `5m`, or a number of seconds; in milliseconds. */
export function durationAnnotation(
  service: Service,
  name: AnnotationName,
  { leastMs, mostMs }: { readonly leastMs: number; readonly mostMs: number },
): OrRefusal<number | null> {
  const text = annotation(service, name)
  if ('refusal' in text) return text
  if (text.value === null) return { value: null }
  const match = /^(\d{1,9})(ms|s|m)?$/.exec(text.value)
  const ms = match === null ? Number.NaN : Number(match[1]) * UNIT_MS[(match[2] ?? 's') as keyof typeof UNIT_MS]
  if (ms >= leastMs && ms <= mostMs) return { value: ms }
  return refuse(
    'InvalidAnnotation',
    fieldOf(name),
    `"${shown(text.value)}" is not a time such as 500ms, 3s or 5m, from ${leastMs}ms to ${mostMs}ms.`,
  )
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000 } as const

export const fieldOf = (name: AnnotationName): string => `metadata.annotations[${ANNOTATIONS[name][0]}]`
