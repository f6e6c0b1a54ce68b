import { type EndpointSlice, type Node, SERVICE_NAME_LABEL, type Service } from '@spout/kube'
import { ANNOTATIONS, EXCLUDE_NODE_LABEL, MANAGED_BY, PROJECT, SLICE_MANAGER_LABEL } from '../names.ts'
import { ofManagers } from '../to-model/slice-managers.ts'

/** What is kept of objects: the fields that are read here. Built anew, so that nothing holds on to the rest. */

const PREFIX = 'spout.dev/'
const MOST_UNKNOWN = 4
const KEPT_ANNOTATIONS: readonly string[] = [MANAGED_BY, PROJECT, ...Object.values(ANNOTATIONS).flat()]

function picked<T extends object, K extends keyof T>(from: T | undefined, names: readonly K[]): Pick<T, K> {
  const kept: Partial<T> = {}
  for (const name of names) if (from?.[name] !== undefined) kept[name] = from[name]
  return kept as Pick<T, K>
}

/** Names of ours that say nothing, so that their user can be told: few of them, and nothing of what they say. */
function unknownOurs(annotations: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const names = Object.keys(annotations).filter((name) => name.startsWith(PREFIX) && !KEPT_ANNOTATIONS.includes(name))
  return Object.fromEntries(names.slice(0, MOST_UNKNOWN).map((name) => [name, '']))
}

const NAMED = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp'] as const
const SPEC = [
  ...([
    'type',
    'ports',
    'clusterIP',
    'clusterIPs',
    'externalTrafficPolicy',
    'healthCheckNodePort',
    'ipFamilies',
  ] as const),
  ...(['ipFamilyPolicy', 'loadBalancerClass', 'loadBalancerIP', 'loadBalancerSourceRanges'] as const),
  ...(['externalIPs', 'selector', 'sessionAffinity', 'sessionAffinityConfig'] as const),
] as const

/** Of a Service that is no load balancer, and was none of ours, only that it is there. */
export function trimService({ metadata, spec, status }: Service): Service {
  const named = picked(metadata, NAMED)
  if (spec?.type !== 'LoadBalancer' && metadata.annotations?.[MANAGED_BY] === undefined)
    return { metadata: named, spec: picked(spec, ['type']) }
  return {
    metadata: {
      ...named,
      ...picked(metadata, ['finalizers']),
      annotations: { ...picked(metadata.annotations, KEPT_ANNOTATIONS), ...unknownOurs(metadata.annotations) },
    },
    spec: picked(spec, SPEC),
    ...(status === undefined ? {} : { status: picked(status, ['loadBalancer', 'conditions']) }),
  }
}

/** @param managers whose slices count; empty takes all */
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
  // Of thousands of slices one label is enough.
  return { ...kept, metadata: { ...kept.metadata, labels } }
}

/** Heartbeats change a node every few seconds; what is kept does not change with them. */
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
