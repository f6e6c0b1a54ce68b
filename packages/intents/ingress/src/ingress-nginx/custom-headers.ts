import type { Ingress } from '@spout/kube'
import { AnnotationReader } from './annotation-reader.ts'

export const CUSTOM_HEADERS = 'custom-headers'
const NAME = /^(?:(?<namespace>[a-z0-9-]{1,63})\/)?(?<name>[a-z0-9][a-z0-9.-]{0,252})$/

/**
 * The ConfigMap with the headers of responses, `namespace/name`; null: none.
 * @param namespace of the Ingress: it may not name one of another namespace, as with ingress-nginx by default
 */
export function customHeadersOf(read: AnnotationReader, namespace: string): string | null {
  const text = read.text(CUSTOM_HEADERS)
  if (text === undefined) return null
  const { namespace: named = namespace, name } = NAME.exec(text)?.groups ?? {}
  if (name !== undefined && named === namespace) return `${namespace}/${name}`
  read.invalid(CUSTOM_HEADERS, 'is not the name of a ConfigMap of the namespace')
  return null
}

/** The ConfigMaps that Ingresses name, as `namespace/name`. */
export const configMapsOf = (ingresses: readonly Ingress[]): ReadonlySet<string> =>
  new Set(
    ingresses.flatMap(
      ({ metadata }) =>
        customHeadersOf(new AnnotationReader(metadata.annotations ?? {}), metadata.namespace ?? '') ?? [],
    ),
  )
