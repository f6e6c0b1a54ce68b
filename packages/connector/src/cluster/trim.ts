import type { EndpointSlice, Node } from '@spout/kube'
import { EXCLUDE_NODE_LABEL, SERVICE_NAME_LABEL } from '@spout/kube'
import { ofManagers } from '../endpoints/slice-managers.ts'
import { SLICE_MANAGER_LABEL } from '../objects.ts'

/**
 * Reduces objects to the fields that are read here. The result shares no parent with the original, which can be freed.
 */

/** The fields of these names that exist. */
export function picked<T extends object, K extends keyof T>(from: T | undefined, names: readonly K[]): Pick<T, K> {
  const kept: Partial<T> = {}
  for (const name of names) if (from?.[name] !== undefined) kept[name] = from[name]
  return kept as Pick<T, K>
}

/** An EndpointSlice, reduced. @param managers the managers whose endpoints count; empty: all */
export function trimSlice(
  { metadata, addressType, endpoints, ports }: EndpointSlice,
  managers: readonly string[] = [],
): EndpointSlice {
  const labels = picked(metadata.labels, [SERVICE_NAME_LABEL])
  const trimmed: EndpointSlice = {
    metadata: {
      ...picked(metadata, ['name', 'namespace', 'deletionTimestamp']),
      labels: { ...labels, ...picked(metadata.labels, [SLICE_MANAGER_LABEL]) },
    },
    addressType,
    endpoints: (endpoints ?? []).map((endpoint) => ({
      addresses: endpoint.addresses?.slice(0, 1) ?? [],
      ...picked(endpoint, ['conditions', 'zone']),
      ...(endpoint.hints?.forZones === undefined ? {} : { hints: picked(endpoint.hints, ['forZones']) }),
      ...(endpoint.targetRef?.name === undefined ? {} : { targetRef: picked(endpoint.targetRef, ['name']) }),
    })),
    ports: (ports ?? []).map((port) => picked(port, ['name', 'protocol', 'port'])),
  }
  const kept = ofManagers(trimmed, managers)
  // The manager's label was needed only to decide above. One label less matters for thousands of slices.
  return { ...kept, metadata: { ...kept.metadata, labels } }
}

/** A node, reduced. Heartbeats change a node every few seconds; the reduced node does not change with them. */
export function trimNode({ metadata, spec, status }: Node): Node {
  return {
    metadata: {
      ...picked(metadata, ['name', 'deletionTimestamp']),
      labels: picked(metadata.labels, [EXCLUDE_NODE_LABEL]),
    },
    spec: {
      ...picked(spec, ['podCIDR', 'podCIDRs']),
      taints: (spec?.taints ?? []).map(({ key, effect }) => ({ key, effect })),
    },
    status: {
      addresses: (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP'),
      conditions: (status?.conditions ?? [])
        .filter(({ type }) => type === 'NetworkUnavailable')
        .map(({ type, status: state }) => ({ type, status: state })),
    },
  }
}
