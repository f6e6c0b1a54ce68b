import type { IncomingHttpHeaders } from 'node:http'
import type { ModelView, NodeGroupAdmission, OfferAdmission, Principal, Turn } from '@spout/admission/contract'
import type { OwnershipReader, SpoutError, StatusReader } from '@spout/model'
import type { Clock } from '@spout/runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OctaviaAdmission } from '../snapshots/settling.ts'
import type { PolicySetName } from './policies.ts'

/** The dependencies of the Octavia API. */
export interface OctaviaContext {
  readonly admission: OctaviaAdmission
  readonly offers: OfferAdmission
  readonly nodeGroups: Pick<NodeGroupAdmission, 'rebalanceNodeGroup'>
  readonly view: ModelView
  readonly status: StatusReader
  readonly ownership: Pick<OwnershipReader, 'shards'>
  /** @throws SpoutError Unauthenticated, TokenExpired */
  readonly authenticate: (request: FastifyRequest) => Promise<Principal>
  /** Called with each error that becomes an answer. */
  readonly noteError?: (request: FastifyRequest, error: SpoutError) => void
  /**
   * Streams an answer with long parts (`LongList`) at the pace of its reader. Left out: an answer is sent as one text.
   */
  readonly send?: (reply: FastifyReply, principal: Principal, answer: object) => unknown
  /**
   * For requests with much work: `Turn` lets other requests run between its pieces. Null or left out: the work is done
   * at once.
   */
  readonly turnsOf?: (request: FastifyRequest, principal: Principal) => Turn | null
  /**
   * Makes sure that the project has a certificate with this id. If need be, makes it from the secret or container of
   * that id in the key manager. Left out: references can only name certificates that exist.
   * @throws SpoutError NotFound, InvalidField
   */
  readonly certificateOf?: (projectId: string, id: string) => Promise<void>
  readonly clock: Pick<Clock, 'now'>
  readonly newId: () => string
  readonly options: OctaviaOptions
}

/**
 * Returns the text that a route would answer to this caller and these headers, and the route's pattern. Null unless it
 * would answer 200 with a text that was made before.
 */
export type ReadKnown = (
  headers: IncomingHttpHeaders,
  principal: Principal,
) => { readonly route: string; readonly body: string } | null

/** What the app that mounts the API passes: one admission for everything. */
export interface GivenContext extends Omit<OctaviaContext, 'offers' | 'nodeGroups'> {
  readonly admission: OctaviaAdmission & OfferAdmission & OctaviaContext['nodeGroups']
  /**
   * Called once with a function that finds reads whose answer is known as text. The app may then answer without
   * routing.
   */
  readonly onReads?: (match: (path: string) => ReadKnown | null) => void
}

export interface OctaviaOptions {
  /** Names that clients may give as provider; the first is the default. All mean the same. */
  readonly providers: readonly Provider[]
  /** The server's URL for clients, without a trailing slash; null: the host that the client used. */
  readonly publicUrl: string | null
  /** Path of the identity service on the same server, for the challenge of a 401. */
  readonly identityPath: string
  /** How long the answer to a write waits for the nodes to confirm it (see settling.ts); 0: not at all. */
  readonly settleMs: number
  /** Noop mode: load balancers may name networks that do not exist, and no node serves them (see `noop-vips.ts`). */
  readonly noop?: boolean
  /** A load balancer is not changed (409) before the nodes have confirmed its last change (see `locking.ts`). */
  readonly strictLocking?: boolean
  /** Which roles may do what. Left out: the default set. */
  readonly policySet?: PolicySetName
}

export interface Provider {
  readonly name: string
  readonly description: string
}

/** Clients send `amphora` or `octavia` by default. */
export const DEFAULT_PROVIDERS: readonly Provider[] = [
  { name: 'amphora', description: 'Spout (the name that clients send unasked)' },
  { name: 'octavia', description: 'Spout (a deprecated name of the amphora driver)' },
  { name: 'amphorav2', description: 'Spout (a deprecated name of the amphora driver)' },
  { name: 'spout', description: 'Spout' },
]
