import { X509Certificate } from 'node:crypto'
import { CONFIG_MAPS, LEASES } from '@spout/kube'
import { readInstallation } from '../installation.ts'
import { CLAIMS, PODS } from '../objects.ts'
import type { ClusterPlace } from '../place.ts'
import { isReady } from '../pod-words.ts'
import { serverTime } from '../server-time.ts'

export interface FoundationsReading {
  /** Null without a control plane in the cluster. */
  readonly namespace: string | null
  /** Of the control plane's state: its phase, such as `Bound`; null where it needs no volume. */
  readonly claim: { readonly name: string; readonly phase: string; readonly storageClass: string | null } | null
  /** When the authority ends that the control plane has published; null before it has. */
  readonly authorityEnds: Date | null
  /** By the API server's clock; null without nodes. */
  readonly now: Date | null
  /** Null without a connector that is ready. */
  readonly lease: {
    /** The pod that works; empty for none. */
    readonly holder: string
    /** How long ago it was renewed, beyond its duration; not above 0 while it is valid. */
    readonly expiredMs: number
  } | null
}

const CONNECTOR_LEASE = 'spout-connector'

export async function readFoundations(place: ClusterPlace): Promise<FoundationsReading> {
  const nothing = { namespace: null, claim: null, authorityEnds: null, now: null, lease: null }
  const installation = await readInstallation(place)
  if (installation?.workloads.has('control-plane') !== true) return nothing
  const { namespace, settings } = installation
  const now = await serverTime(place)
  const maps = await place.list(CONFIG_MAPS, { namespace })
  const authority = maps.find(({ metadata }) => metadata.name === 'authority')?.data?.['ca.crt']
  const claims = settings.engine === 'sqlite' ? await place.list(CLAIMS, { namespace }) : []
  const claim = claims.find(({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] === 'spout')
  return {
    namespace,
    claim:
      claim === undefined
        ? null
        : {
            name: claim.metadata.name,
            phase: claim.status?.phase ?? 'Pending',
            storageClass: claim.spec.storageClassName ?? null,
          },
    authorityEnds: authority === undefined ? null : new Date(new X509Certificate(authority).validTo),
    now: now === null ? null : new Date(now),
    lease: await readLease(place, namespace, now),
  }
}

async function readLease(
  place: ClusterPlace,
  namespace: string,
  now: number | null,
): Promise<FoundationsReading['lease']> {
  const pods = await place.list(PODS, { namespace, labelSelector: 'app.kubernetes.io/component=connector' })
  if (!pods.some(isReady) || now === null) return null
  const leases = await place.list(LEASES, { namespace })
  const spec = leases.find(({ metadata }) => metadata.name === CONNECTOR_LEASE)?.spec
  if (spec?.renewTime === undefined) return { holder: '', expiredMs: 0 }
  const { renewTime, holderIdentity = '', leaseDurationSeconds = 0 } = spec
  return { holder: holderIdentity, expiredMs: now - Date.parse(renewTime) - leaseDurationSeconds * 1000 }
}
