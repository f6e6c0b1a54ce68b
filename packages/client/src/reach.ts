import { connect } from 'node:net'

/** A machine that is off does not refuse. `fetch` alone would wait for it for 10 s. */
const LONGEST_MS = 2000

/**
 * Opens a connection to the server of a URL and closes it again, so that what cannot be reached is known before anything
 * is sent.
 * @throws Error when there is no connection within 2 s
 */
export function reach(url: string, signal?: AbortSignal): Promise<void> {
  const { protocol, hostname, port } = new URL(url)
  const usual = protocol === 'https:' ? 443 : 80
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || usual,
      ...(signal && { signal }),
    })
    // A process that stood still hears of the time before it hears of the connection.
    const late = () => socket.destroy(new Error(`no connection within ${LONGEST_MS / 1000} s`))
    socket.setTimeout(LONGEST_MS, () => setImmediate(late))
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
  })
}
