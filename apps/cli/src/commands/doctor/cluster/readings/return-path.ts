import { NODES } from '@spout/kube'
import { type InstalledSettings, readInstallation } from '../installation.ts'
import type { ClusterPlace } from '../place.ts'

export interface ReturnPathReading {
  /** Null without a control plane in the cluster. */
  readonly settings: Pick<InstalledSettings, 'returnPath' | 'podCidrs'> | null
  /** Clouds that nodes are machines of, such as `aws`, by `spec.providerID`. */
  readonly clouds: readonly string[]
}

export async function readReturnPath(place: ClusterPlace): Promise<ReturnPathReading> {
  const installation = await readInstallation(place)
  const ids = (await place.list(NODES)).flatMap(({ spec }) => spec?.providerID ?? [])
  const clouds = ids.flatMap((id) => (/^([a-z0-9-]+):\/\//.exec(id)?.[1] ?? []) as string)
  return {
    settings: installation?.workloads.has('control-plane') === true ? installation.settings : null,
    clouds: [...new Set(clouds)],
  }
}
