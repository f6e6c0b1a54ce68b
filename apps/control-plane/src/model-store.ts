import path from 'node:path'
import { StoreAdmission, StoreView } from '@spout/admission'
import type { Logger } from '@spout/runtime/logger'
import type { SealingKeys } from '@spout/runtime/sealing-keys'
import { LeasedStore, MemoryStore, SqliteStore, type Store } from '@spout/store'
import type { ControlPlaneConfig } from './config.ts'
import { postgresSettings } from './postgres-settings.ts'
import { openSealingKeys } from './sealing-keys.ts'

/** The model: its store, its view in memory, and the only way to write it. */
export interface ModelStore {
  readonly store: LeasedStore
  readonly view: StoreView
  readonly admission: StoreAdmission
  readonly sealing: SealingKeys
  /** How many certificates no configured sealing key opens, as found at the start. */
  readonly unopenedCertificates: number
  /** Ends the view's watch. */
  closeView(): void
}

/** @throws SpoutError StoreUnavailable */
export async function openModelStore(config: ControlPlaneConfig, opened: Store, log: Logger): Promise<ModelStore> {
  const sealing = openSealingKeys(config.stateDirectory, config.certificates)
  const closing = new AbortController()
  const store = new LeasedStore(opened)
  const view = await StoreView.open(store, {
    signal: closing.signal,
    onInvalid: (ref, error) =>
      log.error({ event: 'object-invalid', ...ref, err: error }, 'a stored object was left out'),
    onListenerError: (error) => log.error({ event: 'listener-failed', bug: true, err: error }),
  })
  const admission = new StoreAdmission({
    ...{ store, view, sealing },
    ...{ managementCidrs: config.network.managementCidrs, fabricCidrs: config.network.fabricCidrs },
    references: config.octavia.noop ? 'any' : 'known',
    hosts: config.domains.hosts,
  })
  const unopenedCertificates = await admission.sealAnew()
  if (unopenedCertificates > 0)
    log.error(
      { event: 'certificates-unopened', count: unopenedCertificates },
      'no configured sealing key opens the private keys of these certificates',
    )
  return { store, view, admission, sealing, unopenedCertificates, closeView: () => closing.abort() }
}

/**
 * The store that the configuration names.
 * @throws SpoutError StoreUnavailable
 */
export async function openStore(
  config: ControlPlaneConfig,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Store> {
  const { store, stateDirectory } = config
  switch (store.engine) {
    case 'memory':
      return new MemoryStore()
    case 'sqlite':
      return SqliteStore.open({ path: path.join(stateDirectory, 'spout.db') })
    case 'postgres': {
      // Its client is loaded only where it is used.
      const { PostgresStore } = await import('@spout/store/postgres')
      return PostgresStore.open({ database: postgresSettings(store) })
    }
    case 'kubernetes': {
      const { openClusterStore } = await import('./cluster/cluster-store.ts')
      return openClusterStore(config, environment)
    }
  }
}
