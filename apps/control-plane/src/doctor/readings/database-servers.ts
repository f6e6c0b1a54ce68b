import type { ServerState } from '@spout/store/postgres'
import { postgresSettings } from '../../postgres-settings.ts'
import type { ControlPlanePlace } from '../place.ts'

/** The servers of the settings; null with another engine. */
export type DatabaseServersReading = readonly ServerState[] | null

export async function readDatabaseServers({ config }: ControlPlanePlace): Promise<DatabaseServersReading> {
  if (config.store.engine !== 'postgres') return null
  const { serverStates } = await import('@spout/store/postgres')
  return serverStates(postgresSettings(config.store), 'spout-doctor')
}
