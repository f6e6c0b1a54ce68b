import { ALL_DNS_ANNOTATIONS, MANAGED_BY, PROJECT, picked } from '@spout/connector'
import type { Service } from '@spout/kube'
import { ANNOTATIONS } from '../names.ts'

/** Copies of objects with only the fields that are read here, so that the memory of the rest can be freed. */

const PREFIX = 'spout.dev/'
const MOST_UNKNOWN = 4
const KEPT_ANNOTATIONS: readonly string[] = [
  MANAGED_BY,
  PROJECT,
  ...ALL_DNS_ANNOTATIONS,
  ...Object.values(ANNOTATIONS).flat(),
]

/** The names of a few annotations under our prefix that we do not know, without values. The user is told of them. */
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

/** Of a Service that is not of type LoadBalancer and does not have our mark, only its identity and type are kept. */
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
