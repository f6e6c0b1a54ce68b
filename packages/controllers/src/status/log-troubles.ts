import type { Listener, LogTroubleReport, Serving } from '@spout/model'

/** One node's report of an access log that cannot be delivered. */
export interface LogTroubleOnNode extends LogTroubleReport {
  readonly nodeName: string
}

/**
 * Adds to the serving state why access logs cannot be delivered. Traffic is not affected, so the state itself stays.
 */
export function withLogTroubles(
  serving: Serving,
  listeners: readonly Pick<Listener, 'id' | 'name' | 'accessLog'>[],
  troubles: readonly LogTroubleOnNode[],
): Serving {
  const known = new Map(listeners.map((listener) => [listener.id, listener]))
  const messages = troubles.flatMap(({ nodeName, listenerId, reason }) => {
    const listener = known.get(listenerId)
    const receiver = listener?.accessLog?.syslog
    if (listener === undefined || !receiver) return []
    const name = listener.name || listenerId
    return [`The access log of listener ${name} does not reach ${receiver.address} from node ${nodeName}: ${reason}.`]
  })
  return messages.length === 0 ? serving : { ...serving, message: [serving.message, ...messages].join(' ') }
}
