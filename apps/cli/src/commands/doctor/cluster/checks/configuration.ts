import { CONFIGURATION_DRAFTS, type ConfigurationKind } from '@spout/custom-resources'
import { type Catalogue, type Found, runbook } from '@spout/runtime/findings'
import { clusterCheckOf } from '../cluster-check.ts'
import { readInstallation } from '../installation.ts'
import type { ClusterPlace } from '../place.ts'
import { objectsOf, type SpoutObject } from '../spout-objects.ts'

const FINDINGS = {
  ObjectRefused: {
    level: 'error',
    what: 'an AddressPool, NodeGroup, BgpPeer, BgpAdvertisement or TenantQuota is not ready',
    why: 'The control plane goes on as if it was not there, or with its earlier content.',
    fix: '`kubectl describe KIND NAME`: condition Ready names the field and the reason',
  },
  ObjectUnheeded: {
    level: 'error',
    what: 'such an object has no condition, or one for an earlier generation',
    why: 'Nobody has acted on it: the configuration does not work, or cannot write its status.',
    fix: '`kubectl --namespace NAMESPACE logs deployment/configuration`',
  },
  PoolMissing: {
    level: 'warning',
    what: 'there is no AddressPool',
    why: 'No Service gets an address, unless a pool was made in the native API.',
    fix: '`kubectl apply` an AddressPool: kubernetes-in-cluster.md, "The first Service"',
  },
  PoolFull: {
    level: 'error',
    what: 'an AddressPool has no free address',
    why: 'A new Service waits for one.',
    fix: '`kubectl apply` another AddressPool',
  },
} as const satisfies Catalogue
type Finding = Found<keyof typeof FINDINGS>

export interface ConfigurationReading {
  /** Null without a configuration in the cluster. */
  readonly namespace: string | null
  readonly objects: readonly (SpoutObject & { readonly kind?: string })[]
}

async function readConfiguration(place: ClusterPlace): Promise<ConfigurationReading> {
  const installation = await readInstallation(place)
  if (installation?.workloads.has('configuration') !== true) return { namespace: null, objects: [] }
  const kinds = CONFIGURATION_DRAFTS.map(({ kind }) => kind as ConfigurationKind)
  const objects = await Promise.all(kinds.map((kind) => objectsOf(place, kind)))
  return { namespace: installation.namespace, objects: objects.flat() }
}

export function judgeConfiguration({ namespace, objects }: ConfigurationReading): readonly Finding[] {
  if (namespace === null) return []
  const pools = objects.filter(({ kind }) => kind === 'AddressPool')
  return [
    ...objects.flatMap((object) => unready(object, namespace)),
    ...pools.filter(({ status }) => status?.addresses?.free === 0).map(full),
    ...(pools.length > 0 ? [] : [NO_POOL]),
  ]
}

function unready(object: SpoutObject, namespace: string): readonly Finding[] {
  const { kind = '', metadata, status } = object
  const subject = `${kind} ${metadata.name}`
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready === undefined || (ready.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    const message = ready === undefined ? 'It has no condition Ready.' : 'Condition Ready is of an earlier generation.'
    const fix = `kubectl --namespace ${namespace} logs deployment/configuration`
    return [{ code: 'ObjectUnheeded', subject, message, fix }]
  }
  if (ready.status === 'True') return []
  const message = `${ready.reason}: ${ready.message}`
  return [{ code: 'ObjectRefused', subject, message, fix: `kubectl describe ${kind.toLowerCase()} ${metadata.name}` }]
}

const full = ({ metadata, status }: SpoutObject): Finding => ({
  ...{ code: 'PoolFull', subject: `AddressPool ${metadata.name}` },
  message: `None of its ${status?.addresses?.total} addresses is free.`,
  fix: `another AddressPool: ${runbook('A pool of addresses runs out')}`,
})

const NO_POOL: Finding = {
  ...{ code: 'PoolMissing', subject: null, message: 'There is no AddressPool.' },
  fix: 'docs/kubernetes-in-cluster.md, "The first Service"',
}

export const configuration = clusterCheckOf({
  name: 'configuration',
  catalogue: FINDINGS,
  read: readConfiguration,
  judge: judgeConfiguration,
  right: ({ namespace, objects }) =>
    namespace === null ? 'No configuration runs here.' : `All ${objects.length} objects are in force.`,
})
