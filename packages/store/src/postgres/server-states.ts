import { reasonOf } from './postgres-error.ts'
import { checkServer } from './schema.ts'
import { Session } from './session.ts'
import { type PostgresSettings, textOf } from './settings.ts'

/** What one server of the settings is good for. */
export interface ServerState {
  /** `host:port`. */
  readonly server: string
  /** `standby`: it answers, and would have to be promoted first. */
  readonly state: 'writes' | 'standby' | 'unusable'
  /** Why it is unusable; null otherwise. */
  readonly reason: string | null
}

/** Asks every server of the settings, side by side. It changes nothing there, and never rejects. */
export const serverStates = (settings: PostgresSettings, name: string): Promise<readonly ServerState[]> =>
  Promise.all(
    settings.servers.map(async (address): Promise<ServerState> => {
      const server = textOf(address)
      let session: Session | null = null
      try {
        session = await Session.connect(settings, address, name)
        const { rows } = await session.query<{ readonly standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
        if (rows[0]?.standby === true) return { server, state: 'standby', reason: null }
        await checkServer(session)
        return { server, state: 'writes', reason: null }
      } catch (error) {
        return { server, state: 'unusable', reason: reasonOf(error).replace(`${server}: `, '') }
      } finally {
        session?.destroy('it was only asked')
      }
    }),
  )
