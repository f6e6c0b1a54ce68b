import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Condition, KubeObject } from '@spout/kube'
import { gatewayApiDefinitions, type KubernetesApi, waitFor } from '@spout/testkit'
import { parseAllDocuments } from 'yaml'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

interface Defined extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] }
}

/**
 * Installs the definitions of Gateway API, standard channel, and waits until they are served.
 * @param without plurals of kinds that are left out
 */
export const installGatewayApi = async (api: KubernetesApi, without: readonly string[] = []): Promise<void> =>
  installDefinitions(api, await gatewayApiDefinitions(), without)

/**
 * Installs all definitions of kinds in the YAML files of a folder, and waits until they are served.
 * @param without plurals of kinds that are left out
 */
export async function installDefinitions(
  api: KubernetesApi,
  directory: string,
  without: readonly string[] = [],
): Promise<void> {
  const objects = readdirSync(directory)
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => parseAllDocuments(readFileSync(path.join(directory, file), 'utf8')))
    .map((document) => document.toJS() as KubeObject & { readonly apiVersion: string; readonly kind: string })
    .filter(
      ({ kind, metadata }) => kind === 'CustomResourceDefinition' && !without.includes(metadata.name.split('.')[0]!),
    )
  for (const object of objects) await api.apply(`${CRDS}/${object.metadata.name}`, object)
  const names = new Set(objects.map(({ metadata }) => metadata.name))
  const isEstablished = ({ status }: Defined) =>
    status?.conditions?.some(({ type, status: state }) => type === 'Established' && state === 'True') ?? false
  await waitFor(
    async () => {
      const { items } = await api.list<Defined>(CRDS)
      return items.filter((one) => names.has(one.metadata.name) && isEstablished(one)).length === names.size
    },
    { what: `the definitions of ${directory} to be served`, timeoutMs: 30_000 },
  )
}
