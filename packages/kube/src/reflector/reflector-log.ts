import type { KubeObject } from '../types/index.ts'
import type { ReflectorOptions } from './reflector-options.ts'

/** Writes a log message with the kind and, if there is one, the namespace of the reflected objects. */
export type ReflectorLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  event: string,
  text: string,
  fields: object,
) => void

export const reflectorLog =
  <Raw extends KubeObject, T>({ log, resource, namespace }: ReflectorOptions<Raw, T>): ReflectorLog =>
  (level, event, text, fields) =>
    log[level]({ event, kind: resource.kind, ...(namespace === undefined ? {} : { namespace }), ...fields }, text)
