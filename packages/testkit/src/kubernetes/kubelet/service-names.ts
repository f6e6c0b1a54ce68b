import { writeFileSync } from 'node:fs'
import type { KubernetesApi } from '../api.ts'
import type { Service } from '../objects.ts'

/**
 * Replaces the cluster's DNS, which the test bed lacks: writes a hosts file with the current names of a namespace's
 * Services and the host's own.
 */
export async function writeServiceNames(
  api: KubernetesApi,
  namespace: string,
  own: { readonly name: string; readonly ips: readonly string[] },
  file: string,
): Promise<void> {
  const { items } = await api.list<Service>(`/api/v1/namespaces/${namespace}/services`)
  const lines = items.flatMap(({ metadata: { name }, spec }) =>
    (spec.clusterIPs ?? []).flatMap((ip) =>
      ip === 'None' ? [] : [`${ip} ${name} ${name}.${namespace}.svc ${name}.${namespace}.svc.cluster.local`],
    ),
  )
  const self = own.ips.map((ip) => `${ip} ${own.name}`)
  writeFileSync(file, ['127.0.0.1 localhost', '::1 localhost', ...self, ...lines, ''].join('\n'))
}
