import { keyOf } from '@spout/connector'
import type { Ingress, Service } from '@spout/kube'
import type { Surroundings } from '../to-model/surroundings.ts'

/** The id of every assumed certificate. */
const ASSUMED_CERTIFICATE = '00000000-0000-4000-8000-000000000001'

/**
 * Assumes what was not read: Services have every port that a rule names, and each Secret has a certificate for all
 * hosts.
 */
export function assumedSurroundings(ingresses: readonly Ingress[], services: readonly Service[]): Surroundings {
  const read = new Map(services.map((one) => [keyOf(one), one]))
  const assumed = new Map<string, Service>()
  for (const { metadata, spec } of ingresses) {
    const paths = (spec?.rules ?? []).flatMap(({ http }) => http?.paths ?? [])
    for (const backend of [...paths.map((one) => one.backend), spec?.defaultBackend]) {
      const { name, port = {} } = backend?.service ?? { name: '' }
      const key = `${metadata.namespace ?? ''}/${name}`
      const before = assumed.get(key)?.spec.ports ?? []
      const next = { name: port.name ?? `port-${port.number}`, port: port.number ?? before.length + 1 }
      assumed.set(key, { metadata: { name, namespace: metadata.namespace ?? '' }, spec: { ports: [...before, next] } })
    }
  }
  const names = ingresses.flatMap(({ spec }) => (spec?.tls ?? []).flatMap(({ hosts = [] }) => hosts))
  return {
    cluster: 'import',
    loadBalancerClass: null,
    // A Service that no rule names, such as a default backend, is assumed to have port 80.
    service: (key) => read.get(key) ?? assumed.get(key) ?? { metadata: { name: key }, spec: { ports: [{ port: 80 }] } },
    slices: () => [],
    certificate: () => ({
      type: 'ready',
      certificate: { id: ASSUMED_CERTIFICATE, name: '', tags: [], names },
      notice: null,
    }),
    configMap: () => null,
    families: [4],
    domains: [],
  }
}
