import type { Ingress } from '@spout/kube'
import { AnnotationReader } from './annotation-reader.ts'

export const CUSTOM_HEADERS = 'custom-headers'
const NAME = /^(?:(?<namespace>[a-z0-9-]{1,63})\/)?(?<name>[a-z0-9][a-z0-9.-]{0,252})$/

/**
 * `namespace/name` of the ConfigMap with headers for responses; null for none.
 * @param namespace the namespace of the Ingress. It may not name a ConfigMap of another one, as in ingress-nginx by
 * default
 */
export function customHeadersOf(read: AnnotationReader, namespace: string): string | null {
  const text = read.text(CUSTOM_HEADERS)
  if (text === undefined) return null
  const { namespace: named = namespace, name } = NAME.exec(text)?.groups ?? {}
  if (name !== undefined && named === namespace) return `${namespace}/${name}`
  read.invalid(CUSTOM_HEADERS, 'is not the name of a ConfigMap of the namespace')
  return null
}

/** `namespace/name` of the ConfigMaps that Ingresses name. */
export const configMapsOf = (ingresses: readonly Ingress[]): ReadonlySet<string> =>
  new Set(
    ingresses.flatMap(
      ({ metadata }) =>
        customHeadersOf(new AnnotationReader(metadata.annotations ?? {}), metadata.namespace ?? '') ?? [],
    ),
  )
