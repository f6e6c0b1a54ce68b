import { X509Certificate } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Admission, ModelView, NodeStates, ReportSink } from '@spout/admission/contract'
import { EDITS_VERSION, formatLeaderTerm, LEADER_HEADER, type LeaderTerm, parseAs, SpoutError } from '@spout/model'
import type { Clock, Component, Logger, Timer } from '@spout/runtime'
import type { Store } from '@spout/store'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { noteLogin, notesOf } from '../audit/audit-notes.ts'
import type { AuditSink } from '../audit/audit-requests.ts'
import { sourceOf } from '../authn/login-source.ts'
import type { ServiceAccounts } from '../authn/service-accounts.ts'
import { createServer } from '../http/host.ts'
import { answerWithProblems } from '../http/problem.ts'
import { queryValue } from '../http/query.ts'
import { admitByHeaders } from '../limits/admit.ts'
import { BodyBudget } from '../limits/body-budget.ts'
import { limitConnections } from '../limits/connection-limit.ts'
import { RequestShares } from '../limits/request-shares.ts'
import { type CertificateAuthority, nodeIdOf } from './certificate-authority.ts'
import { certificatesOf } from './listener-certificates.ts'
import { NodeCertificates } from './node-certificates.ts'
import { nodeReport } from './node-report-schema.ts'
import { ServerCertificate } from './server-certificate.ts'
import { StateStream } from './state-stream.ts'

export interface AgentLinkOptions {
  readonly authority: CertificateAuthority
  readonly store: Store
  readonly view: ModelView
  readonly admission: Admission
  readonly states: NodeStates
  readonly reports: ReportSink
  /** The term in which it serves, so that agents can refuse an earlier one. Null or absent: the store counts none. */
  readonly term?: LeaderTerm | null
  readonly clock: Clock
  readonly log: Logger
  /** Where enrolments and renewals of nodes are audited. */
  readonly audit?: AuditSink
  readonly listen: { readonly host: string; readonly port: number }
  /** Names and addresses at which agents reach this server. */
  readonly hosts: readonly string[]
  /** How often connections are checked for expired certificates. Default: a minute. */
  readonly lookForExpiredMs?: number
  /** The cluster that we run in. Its agents enrol by their service account, into the group of this name. */
  readonly cluster?: { readonly serviceAccounts: ServiceAccounts; readonly nodeGroup: string }
}

const csr = z.string().min(1).max(16_384)
const enrolment = z.union([
  z.strictObject({ token: z.string().min(1).max(512), csr }),
  z.strictObject({ serviceAccountToken: z.string().min(1).max(16_384), csr }),
])
const renewal = z.strictObject({ csr })

/** A report may contain every member of every load balancer. */
const REPORT_LIMIT_BYTES = 32 * 1024 * 1024
const STALLED_READER_MS = 15_000
const SMALL_LIMIT_BYTES = 65_536
const SSL_OP_NO_TICKET = 1 << 14
const ENROL_PATH = '/agent/v1/enrol'
/** Nodes are ours, and a report has a name for each member: only its bytes are limited. */
const REPORT_JSON_LIMITS = {
  // A report is not lost because the kernel or a proxy put U+0000 into a message.
  nulInText: 'taken',
  mostTextBytes: REPORT_LIMIT_BYTES,
  mostNames: REPORT_LIMIT_BYTES,
  mostValues: REPORT_LIMIT_BYTES,
} as const
/** A node reports every second. Its first report after our restart may be megabytes. */
const NODE_SHARE = { perSecond: 1000, burst: 5000 } as const
/** A rack of nodes may enrol from one address. */
const STRANGER_SHARE = { perSecond: 50, burst: 200 } as const
/** After our restart many nodes send whole reports at once. Those that find no room try again. */
const BODIES = { mostBytes: 256 * 1024 * 1024, mostBytesOfOne: REPORT_LIMIT_BYTES } as const
/** A node has two or three connections. A thousand nodes may share one address. */
const CONNECTIONS = { most: 16_384, mostOfSource: 8192 } as const
/** Limit for clients that start a TLS handshake and do not finish it. */
const HANDSHAKE_MS = 10_000
/** How often open connections are checked for expired certificates. */
const LOOK_FOR_EXPIRED_MS = 60_000

/**
 * The agent link of docs/design/0003: an HTTPS server of its own, TLS 1.3, certificates of our own authority. A node is
 * identified by its certificate alone, and only while exactly that certificate is recorded for it.
 */
export class AgentLink implements Component {
  readonly name = 'agent-link'
  readonly #options: AgentLinkOptions
  readonly #certificates: NodeCertificates
  readonly #serverCertificate: ServerCertificate
  /** Open sockets of each node, and the certificate of each. */
  readonly #sockets = new Map<string, Map<Duplex, Peer>>()
  /** The peer of a socket. With TLS 1.3 it never changes, and a node reports every second, so it is cached. */
  readonly #peers = new WeakMap<TLSSocket, Peer>()
  readonly #streams = new Map<string, StateStream>()
  readonly #shares: RequestShares
  readonly #bodies = new BodyBudget(BODIES)
  #app: FastifyInstance | null = null
  #unsubscribe: () => void = () => {}
  #expiry: Timer | null = null

  constructor(options: AgentLinkOptions) {
    this.#options = options
    this.#certificates = new NodeCertificates(options)
    this.#shares = new RequestShares({ clock: options.clock, ...NODE_SHARE })
    this.#serverCertificate = new ServerCertificate({
      ...options,
      // No session is resumed, so each connection shows its certificate.
      tls: { ca: options.authority.certificate, minVersion: 'TLSv1.3', secureOptions: SSL_OP_NO_TICKET },
    })
  }

  /** The port it listens on, once started. */
  get port(): number {
    const address = this.#app?.server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Nodes with an open state stream. */
  get connected(): number {
    return this.#streams.size
  }

  async start(): Promise<void> {
    const { clock, audit, log, listen, view } = this.#options
    const app = createServer({
      log,
      ...(audit && { audit: { sink: audit, view, clock } }),
      bodyLimitBytes: SMALL_LIMIT_BYTES,
      jsonLimits: REPORT_JSON_LIMITS,
      https: {
        ...(await this.#serverCertificate.context()),
        handshakeTimeout: HANDSHAKE_MS,
        requestCert: true,
        // Enrolment comes without a certificate. `#nodeOf` refuses every other call without one.
        rejectUnauthorized: false,
      },
    })
    limitConnections(app.server, CONNECTIONS)
    const strangerOf = (request: FastifyRequest) => ({ who: `address ${sourceOf(request.ip)}`, limits: STRANGER_SHARE })
    admitByHeaders(app, {
      ...{ shares: this.#shares, bodies: this.#bodies, strangerOf },
      askerOf: (request) =>
        request.routeOptions.url === ENROL_PATH ? strangerOf(request) : { who: `node ${this.#nodeOf(request)}` },
    })
    this.#routes(app)
    this.#app = app
    this.#unsubscribe = view.onChange((changed) => {
      for (const { kind, id } of changed) if (kind === 'node') this.#dropRevoked(id)
    })
    this.#dropExpired()
    await app.listen(listen)
    this.#serverCertificate.keep(app)
  }

  async stop(): Promise<void> {
    this.#unsubscribe()
    this.#expiry?.clear()
    this.#shares.close()
    this.#serverCertificate.stop()
    for (const stream of this.#streams.values()) stream.end()
    for (const sockets of this.#sockets.values()) for (const socket of sockets.keys()) socket.destroy()
    await this.#app?.close()
  }

  #routes(app: FastifyInstance): void {
    answerWithProblems(app)
    app.post(ENROL_PATH, (request) => this.#enrol(request))
    app.post('/agent/v1/renew', (request) => this.#renew(request))
    app.post('/agent/v1/report', { bodyLimit: REPORT_LIMIT_BYTES }, async (request) => {
      const nodeId = this.#nodeOf(request)
      return this.#options.reports.report(nodeId, parseAs(nodeReport, request.body))
    })
    app.get<{ Params: { readonly id: string } }>(
      '/agent/v1/load-balancers/:id/certificates',
      async (request, reply) => {
        const nodeId = this.#nodeOf(request)
        reply.header('cache-control', 'no-store')
        const ids = queryValue(request, 'ids')
        return certificatesOf(this.#options, nodeId, request.params.id, ids === null ? null : new Set(ids.split(',')))
      },
    )
    app.get('/agent/v1/state', (request, reply) => this.#sendState(request, reply))
  }

  /** Gives a new node its certificate: for a token of one use, or for the service account of its pod. */
  async #enrol(request: FastifyRequest) {
    const { admission, authority } = this.#options
    const body = parseAs(enrolment, request.body)
    noteLogin(request, { method: 'token' in body ? 'enrolment_token' : 'service_account' })
    let certificate = ''
    const issue = async (nodeId: string): Promise<string> => {
      const issued = await authority.issueNode(body.csr, nodeId)
      certificate = issued.certificate
      return issued.sha256
    }
    const node =
      'token' in body
        ? // The secret is before the dot. Behind it is the pin by which the agent verifies the authority.
          await admission.enrolNode(body.token.split('.', 1)[0] ?? '', issue, body.csr)
        : await admission.enrolNamedNode(await this.#clusterNode(body.serviceAccountToken, request.ip), issue)
    notesOf(request).object = `nodes/${node.id}`
    return { nodeId: node.id, certificate, ca: authority.certificate }
  }

  async #renew(request: FastifyRequest) {
    const { authority } = this.#options
    const nodeId = this.#nodeOf(request)
    noteLogin(request, { method: 'certificate' })
    notesOf(request).object = `nodes/${nodeId}`
    const { csr } = parseAs(renewal, request.body)
    const issued = await authority.issueNode(csr, nodeId)
    await this.#certificates.renew(nodeId, issued.sha256)
    return { certificate: issued.certificate, ca: authority.certificate }
  }

  /** Sends a node its state: first all of it, then changes, until the node disconnects. */
  async #sendState(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const nodeId = this.#nodeOf(request)
    const { states, term, clock, log } = this.#options
    if (!states.ready()) throw new SpoutError('Unavailable', { what: 'Node state', reason: 'it is being planned' })
    // Heartbeats are traffic, so a socket that is idle this long has a reader that takes nothing.
    request.raw.socket.setTimeout(STALLED_READER_MS, () => request.raw.socket.destroy())
    reply.hijack()
    reply.raw.writeHead(200, {
      'content-type': 'application/x-ndjson',
      'cache-control': 'no-store',
      ...(term && { [LEADER_HEADER]: formatLeaderTerm(term) }),
    })
    // A node has one stream. An older one is a connection that it has given up.
    this.#streams.get(nodeId)?.end()
    const takesEdits = queryValue(request, 'edits') === EDITS_VERSION
    const stream = new StateStream({ states, nodeId, out: reply.raw, clock, takesEdits })
    this.#streams.set(nodeId, stream)
    log.info({ event: 'node-connected', nodeId }, 'state stream opened')
    try {
      await stream.run()
    } catch (error) {
      log.error({ event: 'state-stream-threw', nodeId, err: error, bug: true }, 'state stream broke')
      reply.raw.destroy()
    }
    if (this.#streams.get(nodeId) === stream) this.#streams.delete(nodeId)
    log.info({ event: 'node-disconnected', nodeId }, 'state stream ended')
  }

  /** The node that the token's pod runs on. An agent cannot name another. */
  async #clusterNode(
    token: string,
    address: string,
  ): Promise<{ readonly nodeName: string; readonly nodeGroupId: string }> {
    const { cluster, view } = this.#options
    if (cluster === undefined)
      throw new SpoutError('Unauthenticated', { reason: 'service accounts are not known here' })
    const nodeName = await cluster.serviceAccounts.nodeOf(token, address)
    const group = view.list('nodeGroup').find(({ name }) => name === cluster.nodeGroup)
    if (group === undefined)
      throw new SpoutError('ReferenceNotFound', { field: 'nodeGroup', what: 'node group', id: cluster.nodeGroup })
    return { nodeName, nodeGroupId: group.id }
  }

  /** @throws SpoutError Unauthenticated unless the connection shows the current certificate of an existing node */
  #nodeOf(request: FastifyRequest): string {
    const socket = request.raw.socket as TLSSocket
    const peer = this.#peers.get(socket) ?? peerOf(socket)
    this.#peers.set(socket, peer)
    const { nodeId, sha256 } = peer
    if (nodeId === null || !this.#certificates.isCurrent(nodeId, sha256))
      throw unknownCertificate('the certificate is not that of a known node')
    if (this.#isExpired(peer)) throw unknownCertificate('the certificate has expired')
    this.#track(nodeId, socket, peer)
    return nodeId
  }

  #track(nodeId: string, socket: TLSSocket, peer: Peer): void {
    const sockets = this.#sockets.get(nodeId) ?? new Map<Duplex, Peer>()
    this.#sockets.set(nodeId, sockets)
    if (sockets.has(socket)) return
    sockets.set(socket, peer)
    socket.once('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0 && this.#sockets.get(nodeId) === sockets) this.#sockets.delete(nodeId)
    })
  }

  /** Disconnects a node that was deleted or got another certificate. */
  #dropRevoked(nodeId: string): void {
    for (const [socket, { sha256 }] of this.#sockets.get(nodeId) ?? [])
      if (!this.#certificates.isCurrent(nodeId, sha256)) socket.destroy()
  }

  /**
   * Closes connections whose certificate has expired. A state stream makes no further request that would be refused.
   */
  #dropExpired(): void {
    for (const sockets of this.#sockets.values())
      for (const [socket, peer] of sockets) if (this.#isExpired(peer)) socket.destroy()
    this.#expiry = this.#options.clock.setTimer(
      () => this.#dropExpired(),
      this.#options.lookForExpiredMs ?? LOOK_FOR_EXPIRED_MS,
    )
  }

  /** TLS checks the certificate at the handshake only. */
  #isExpired({ validUntilMs }: Peer): boolean {
    return validUntilMs < this.#options.clock.now().getTime()
  }
}

interface Peer {
  readonly nodeId: string | null
  readonly sha256: string
  /** Milliseconds since 1970. */
  readonly validUntilMs: number
}

/** @throws SpoutError Unauthenticated without a certificate of our authority */
function peerOf(socket: TLSSocket): Peer {
  const peer = socket.getPeerX509Certificate()
  if (peer === undefined || !socket.authorized) throw unknownCertificate('no valid node certificate was shown')
  const sha256 = peer.fingerprint256.replaceAll(':', '').toLowerCase()
  return { nodeId: nodeIdOf(new X509Certificate(peer.raw)), sha256, validUntilMs: Date.parse(peer.validTo) }
}

const unknownCertificate = (reason: string): SpoutError => new SpoutError('Unauthenticated', { reason })
