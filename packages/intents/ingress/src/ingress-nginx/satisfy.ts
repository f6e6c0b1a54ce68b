import type { AnnotationReader } from './annotation-reader.ts'

/** Whether one of allow list, password and authorizer is enough. With an invalid value, all are required. */
export function satisfiesAny(read: AnnotationReader): boolean {
  const text = read.text('satisfy') ?? 'all'
  if (text !== 'any' && text !== 'all') read.invalid('satisfy', 'is neither any nor all')
  return text === 'any'
}
