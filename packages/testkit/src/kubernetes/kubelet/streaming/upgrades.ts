import type { ChildProcess } from 'node:child_process'
import type http from 'node:http'
import type { Duplex } from 'node:stream'
import { SpdyConnection, type SpdyStream } from './connection.ts'
import { attach } from './exec.ts'
import { PortForward } from './port-forward.ts'
import { type ExecRequest, PROTOCOLS, readStreamRequest, type StreamRequest } from './stream-request.ts'

/** The pods of a node as far as streams need them; null for what does not run here. */
export interface StreamTargets {
  /** What starts a command in a container, with pipes and as a process group of its own. */
  readonly command: (request: ExecRequest) => (() => ChildProcess) | null
  /** Network namespace of a pod. */
  readonly namespaceOf: (namespace: string, pod: string) => string | null
}

/** Answers the API server's request for streams over SPDY/3.1, and serves them until they end. */
export async function serveStreams(
  request: http.IncomingMessage,
  socket: Duplex,
  head: Buffer,
  targets: StreamTargets,
): Promise<void> {
  socket.on('error', () => {})
  if (head.length > 0) socket.unshift(head)
  try {
    const asked = readStreamRequest(new URL(request.url ?? '', 'https://node/'))
    if (asked === null) return refuse(socket, 404, 'not known to the test bed')
    const protocol = PROTOCOLS[asked.kind]
    const offered = [request.headers['x-stream-protocol-version'] ?? []].flat().flatMap((line) => line.split(/, */))
    if (request.headers.upgrade?.toLowerCase() !== 'spdy/3.1' || !offered.includes(protocol))
      return refuse(socket, 403, `the test bed speaks ${protocol} over SPDY/3.1 alone`)
    if (asked.kind === 'exec') await serveExec(asked, socket, targets)
    else await serveForward(asked, socket, targets)
  } catch (error) {
    refuse(socket, 400, (error as Error).message)
  }
}

/**
 * Answers a Status. Kubernetes 1.35 reads any YAML as one, and text that begins like `tty: ` is YAML: it would show no
 * word of it.
 */
function refuse(socket: Duplex, code: number, message: string): void {
  const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code })
  const headers = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`
  socket.end(`HTTP/1.1 ${code} Refused\r\n${headers}\r\n\r\n${body}`)
}

const accept = (socket: Duplex, { kind }: StreamRequest): void => {
  const headers = `connection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: ${PROTOCOLS[kind]}`
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n\r\n`)
}

async function serveExec(request: ExecRequest, socket: Duplex, { command }: StreamTargets): Promise<void> {
  const start = command(request)
  if (start === null) return refuse(socket, 404, `container ${request.container} of ${request.pod} does not run here`)
  accept(socket, request)
  const streams = new Map<string, SpdyStream>()
  const started: ChildProcess[] = []
  const connection = new SpdyConnection(socket, (stream) => {
    streams.set(stream.headers.get('streamtype') ?? '', stream)
    if (streams.size !== request.streams.size) return
    const child = start()
    started.push(child)
    void attach(child, streams).then(() => connection.end())
  })
  await connection.run()
  // Who has gone wants no more of it.
  for (const child of started) killGroup(child)
}

/** Ends a command with all that it started. */
export function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

async function serveForward(
  request: Extract<StreamRequest, { kind: 'forward' }>,
  socket: Duplex,
  { namespaceOf }: StreamTargets,
): Promise<void> {
  const namespace = namespaceOf(request.namespace, request.pod)
  if (namespace === null) return refuse(socket, 404, `pod ${request.pod} does not run here`)
  accept(socket, request)
  const forward = new PortForward(namespace)
  await new SpdyConnection(socket, (stream) => forward.add(stream)).run()
  forward.end()
}
