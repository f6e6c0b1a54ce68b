import type { ChildProcess } from 'node:child_process'
import type { SpdyStream } from './connection.ts'

/** How a command ended, for the stream `error`: a Status object of Kubernetes. */
export function statusOf(code: number | null, signal: NodeJS.Signals | null, failure: string | null): object {
  if (code === 0) return { metadata: {}, status: 'Success' }
  if (code === null)
    return { metadata: {}, status: 'Failure', reason: 'InternalError', message: failure ?? `ended by ${signal}` }
  return {
    ...{ metadata: {}, status: 'Failure', reason: 'NonZeroExitCode' },
    message: `command terminated with non-zero exit code: ${code}`,
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  }
}

/**
 * Connects a command with the client's streams, by name, and tells at its end how it ended. Streams that were not asked
 * for are absent.
 */
export async function attach(child: ChildProcess, streams: ReadonlyMap<string, SpdyStream>): Promise<void> {
  const [stdin, stdout, stderr] = ['stdin', 'stdout', 'stderr'].map((name) => streams.get(name))
  // A command may end without reading what it is sent.
  child.stdin?.on('error', () => {})
  if (stdin !== undefined && child.stdin !== null) stdin.pipe(child.stdin)
  else child.stdin?.end()
  for (const [from, to] of [
    [child.stdout, stdout],
    [child.stderr, stderr],
  ] as const)
    if (to !== undefined) from?.pipe(to)
    else from?.resume()
  const status = await new Promise<object>((resolve) => {
    child.once('error', ({ message }) => resolve(statusOf(null, null, message)))
    child.once('close', (code, signal) => resolve(statusOf(code, signal, null)))
  })
  streams.get('error')?.write(JSON.stringify(status))
  await Promise.all([...streams.values()].map((stream) => ended(stream)))
}

/** Ends our side of a stream, and waits until all of it is sent. */
const ended = (stream: SpdyStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.writableFinished || stream.destroyed) return resolve()
    stream.once('finish', resolve).once('close', resolve)
    stream.end()
  })
