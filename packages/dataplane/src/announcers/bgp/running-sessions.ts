import { ControlSocket } from './control-socket.ts'
import { parseProtocols, type ShownSession } from './show-protocols.ts'

/** Where the daemon of a run directory takes commands. */
export const controlSocketOf = (runDirectory: string): string => `${runDirectory}/bgp/ctl`

/**
 * The sessions of the BGP daemon that an agent runs in this directory, whether or not the agent runs.
 * @throws BirdLost when no daemon answers
 */
export async function runningSessions(runDirectory: string): Promise<readonly ShownSession[]> {
  const socket = await ControlSocket.connect(controlSocketOf(runDirectory), () => {})
  try {
    return parseProtocols(await socket.command('show protocols all'))
  } finally {
    socket.close()
  }
}
