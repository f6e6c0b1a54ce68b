import type { EndpointSlice } from '@spout/kube'
import { SLICE_LEFT_OUT, SLICE_MANAGER_LABEL } from '../objects.ts'
import { type Refusal, shown } from '../refusal.ts'

/**
 * The slice itself, or a copy without endpoints when it is of another manager. Users who may write slices can put the
 * addresses of pods of other namespaces into them. A label names the manager; the installation in a cluster has an
 * admission policy that reserves the value of Kubernetes' own controller.
 * @param managers values of the label; empty takes every slice
 */
export function ofManagers(slice: EndpointSlice, managers: readonly string[]): EndpointSlice {
  const manager = slice.metadata.labels?.[SLICE_MANAGER_LABEL] ?? ''
  if (managers.length === 0 || managers.includes(manager)) return slice
  const annotations = { ...slice.metadata.annotations, [SLICE_LEFT_OUT]: manager }
  return { ...slice, metadata: { ...slice.metadata, annotations }, endpoints: [] }
}

/** A notice about the first slice of a Service whose endpoints were left out; null when there is none. */
export function leftOutSlice(slices: readonly EndpointSlice[]): Refusal | null {
  for (const { metadata } of slices) {
    const manager = metadata.annotations?.[SLICE_LEFT_OUT]
    if (manager === undefined) continue
    const whose = manager === '' ? 'has no manager' : `is managed by ${shown(manager)}`
    return {
      reason: 'EndpointsNotTrusted',
      field: `endpointSlice/${shown(metadata.name)}`,
      message: `EndpointSlice ${shown(metadata.name)} ${whose}, whose endpoints do not count here (services.endpointSlicesBy).`,
    }
  }
  return null
}
