import { ALL_DNS_ANNOTATIONS, MANAGED_BY, PROJECT, picked } from '@spout/connector'
import type { Service } from '@spout/kube'
import { ANNOTATIONS } from '../names.ts'

/** Objects reduced to the fields that are read here. They are built anew, so that the rest can be freed. */

const PREFIX = 'spout.dev/'
const MOST_UNKNOWN = 4
const KEPT_ANNOTATIONS: readonly string[] = [
  MANAGED_BY,
  PROJECT,
  ...ALL_DNS_ANNOTATIONS,
  ...Object.values(ANNOTATIONS).flat(),
]

/** Annotations under our prefix that we do not know, so that the user can be told: a few names, without values. */
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

/** A Service that is no load balancer, and never was one of ours, is reduced to its existence. */
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
