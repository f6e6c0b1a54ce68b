import type { AnnotationReader } from './annotation-reader.ts'

/** Whether one of allow list, password and authorizer is enough. What is not understood asks for all. */
export function satisfiesAny(read: AnnotationReader): boolean {
  const text = read.text('satisfy') ?? 'all'
  if (text !== 'any' && text !== 'all') read.invalid('satisfy', 'is neither any nor all')
  return text === 'any'
}
