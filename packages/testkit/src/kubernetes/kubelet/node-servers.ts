import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { TLSSocket } from 'node:tls'
import { KUBELET_HEALTH_PORT, KUBELET_PORT, type KubeletConfig } from './config.ts'
import { type LogRequest, lastLines, readLogRequest } from './log-request.ts'
import { type StreamTargets, serveStreams } from './streaming/upgrades.ts'

/** The pods of a node, as the API server asks for them. */
export interface NodePods extends StreamTargets {
  /** The log of a container since a time in Unix milliseconds; null for none of this name. */
  readonly log: (request: LogRequest) => Buffer | null
}

/**
 * The servers of a kubelet: `/healthz` for everybody, and `/containerLogs`, `/exec` and `/portForward` over TLS for who
 * has a certificate of the cluster's authority, which is the API server.
 * @returns what closes them
 */
export async function startNodeServers({ serving }: KubeletConfig, pods: NodePods): Promise<() => void> {
  const health = http.createServer(({ url }, response) => {
    const isKnown = url === '/healthz'
    response.writeHead(isKnown ? 200 : 404).end(isKnown ? 'ok\n' : '')
  })
  const identity = {
    ca: readFileSync(serving.caFile),
    cert: readFileSync(serving.certificateFile),
    key: readFileSync(serving.keyFile),
    requestCert: true,
    rejectUnauthorized: true,
  }
  const node = https.createServer(identity, (request, response) => {
    const isKnown = (request.socket as TLSSocket).authorized
    const { status, body } = isKnown ? answer(request, pods) : { status: 401, body: '' }
    response.writeHead(status, { 'content-type': 'text/plain' }).end(body)
  })
  node.on('upgrade', (request, socket, head) => {
    if ((request.socket as TLSSocket).authorized) void serveStreams(request, socket, head, pods)
    else socket.destroy()
  })
  await Promise.all([listening(health, KUBELET_HEALTH_PORT), listening(node, KUBELET_PORT)])
  return () => {
    for (const server of [health, node]) {
      server.closeAllConnections()
      server.close()
    }
  }
}

const listening = (server: http.Server | https.Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => server.on('error', reject).listen(port, '::', resolve))

function answer({ url = '' }: http.IncomingMessage, { log }: NodePods): { status: number; body: string | Buffer } {
  try {
    const request = readLogRequest(new URL(url, 'https://node/'), Date.now())
    if (request === null) return { status: 404, body: 'not known to the test bed\n' }
    const text = log(request)
    if (text === null) return { status: 404, body: `no container ${request.container} of ${request.pod} is here\n` }
    return { status: 200, body: request.tailLines === null ? text : lastLines(text, request.tailLines) }
  } catch (error) {
    return { status: 400, body: `${(error as Error).message}\n` }
  }
}
