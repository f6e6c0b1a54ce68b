import { type Condition, SERVICES, type Service } from '@spout/kube'
import { type InstalledSettings, readInstallation } from '../installation.ts'
import { changedAt } from '../objects.ts'
import type { ClusterPlace } from '../place.ts'
import { serverTime } from '../server-time.ts'

export interface LookedAtService {
  readonly name: string
  /** Null before anybody has written it. */
  readonly programmed: Pick<Condition, 'status' | 'reason' | 'message'> | null
  /** How long ago, by the API server's clock, it was changed last; null if nothing tells. */
  readonly unchangedMs: number | null
}

export interface ServicesReading {
  /** Null without a connector in the cluster. */
  readonly namespace: string | null
  /** Those of type LoadBalancer that are our connector's. */
  readonly services: readonly LookedAtService[]
}

export async function readServices(place: ClusterPlace): Promise<ServicesReading> {
  const installation = await readInstallation(place)
  if (installation?.workloads.has('connector') !== true) return { namespace: null, services: [] }
  const now = await serverTime(place)
  const ours = (await place.list(SERVICES)).filter((service) => isOurs(service, installation.settings))
  return {
    namespace: installation.namespace,
    services: ours.map((service) => {
      const changed = changedAt(service)
      return {
        name: `${service.metadata.namespace}/${service.metadata.name}`,
        programmed: service.status?.conditions?.find(({ type }) => type === 'spout.dev/Programmed') ?? null,
        unchangedMs: now === null || changed === null ? null : now - changed,
      }
    }),
  }
}

function isOurs({ spec, metadata }: Service, { isDefault, className }: InstalledSettings): boolean {
  if (spec.type !== 'LoadBalancer' || metadata.deletionTimestamp !== undefined) return false
  const name = spec.loadBalancerClass ?? ''
  return name === '' ? isDefault : name.split('/')[0] === className.split('/')[0]
}
