import { CONFIGURATION_DRAFTS, type ConfigurationKind } from '@spout/custom-resources'
import type { Condition, KubeObject, Resource } from '@spout/kube'
import type { ClusterPlace } from './place.ts'

/** An object of a kind of `spout.dev` that administrators write. */
export interface SpoutObject extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: {
    readonly conditions?: readonly Condition[]
    /** Of an AddressPool. */
    readonly addresses?: { readonly total: number; readonly free: number }
  }
}

/** The objects of a kind of configuration. */
export async function objectsOf(place: ClusterPlace, kind: ConfigurationKind): Promise<readonly SpoutObject[]> {
  const draft = CONFIGURATION_DRAFTS.find((one) => one.kind === kind)
  if (draft === undefined) return []
  const { group, plural, scope, versions } = draft
  const resource: Resource<SpoutObject> = {
    ...{ apiVersion: `${group}/${versions[0].name}`, kind, plural, namespaced: scope === 'Namespaced' },
  }
  return place.list(resource)
}
