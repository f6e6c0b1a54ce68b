import { ProxyLost } from '../commands/stats-socket.ts'
import { closingSockets } from '../place/closing-sockets.ts'
import type { CurrentProxy } from './current-proxy.ts'

// Decides when the process of a proxy is replaced, and when replaced processes end. Calls must not overlap.

/**
 * Replaces the process if it has clients. The new process accepts connections; the old one closes each connection after
 * its next response and exits with the last. Done once for each `since`.
 */
export async function closeGracefully(current: CurrentProxy, since: string): Promise<void> {
  const { closed, running, launcher } = current
  if (closed || running?.attached !== true || (await launcher.lastDrain()) === since) return
  const clients = await hasClients(current)
  if (clients === null) throw new ProxyLost('the proxy does not answer')
  if (clients) await current.start()
  await launcher.noteDrain(since)
}

/**
 * Whether the process or one that it replaced has clients, or a socket still sends the end of a response. A process
 * that does not answer may have some: other nodes would stop sending on their packets.
 * @param processes counts of all proxies' processes by configuration file
 */
export async function isBusy(current: CurrentProxy, processes: ReadonlyMap<string, number>): Promise<boolean> {
  const { running, launcher } = current
  if (launcher.countOf(processes) > (running === null ? 0 : 1)) return true
  if (running === null) return false
  if ((await hasClients(current)) !== false) return true
  return (await closingSockets(running.process.pid)) > 0
}

/** Replaces a process whose executable or limits are outdated. */
export async function renew(current: CurrentProxy): Promise<void> {
  const { closed, running, launcher } = current
  if (closed || running?.attached !== true) return
  if (await launcher.isOutdated(running)) await current.start()
}

/** Ends replaced processes. */
export async function endReplaced({ closed, running, launcher }: CurrentProxy): Promise<void> {
  if (!closed && running !== null) await launcher.endReplaced(running)
}

/** Null if the process does not answer, or there is none. */
async function hasClients(current: CurrentProxy): Promise<boolean | null> {
  const counters = await current.sample()
  return counters && [...counters.values()].some(({ current: clients }) => clients > 0)
}
