import type { ModelView } from '@spout/admission/contract'
import type { AuditRecord, AuditSurface } from '@spout/model'
import type { Clock } from '@spout/runtime'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onSendHookHandler,
  preHandlerHookHandler,
  preSerializationHookHandler,
} from 'fastify'
import { isAdmin } from '../authn/access.ts'
import { credentialOf, methodOf } from '../authn/grant.ts'
import '../authn/request-session.ts'
import type { AuditNotes } from './audit-notes.ts'
import { notesOf } from './audit-notes.ts'
import {
  loadBalancerOf,
  type OwnedLoadBalancer,
  objectsIn,
  type PathParams,
  pathOf,
  projectOf,
  wordsOf,
} from './audited-object.ts'

export interface AuditSink {
  /** Takes a record. Returns at once. */
  record(record: AuditRecord): void
  /** Counts a record that was left out. */
  leftOut(): void
}

export interface AuditOptions {
  readonly sink: AuditSink
  readonly view: ModelView
  readonly clock: Clock
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Reading another user's token and the payload of a secret is audited. */
const SENSITIVE_READS: ReadonlySet<string> = new Set([
  '/identity/v3/auth/tokens',
  '/key-manager/v1/secrets/:id',
  '/key-manager/v1/secrets/:id/payload',
])
/** A node reports every second, and no user asked for it. A login that anybody may begin says nothing before its end. */
const NOT_AUDITED: ReadonlySet<string> = new Set(['/agent/v1/report', '/api/v1/session/oidc'])
const SURFACES: readonly (readonly [string, AuditSurface])[] = [
  ['/api/', 'native'],
  ['/load-balancer/', 'octavia'],
  ['/identity/', 'identity'],
  ['/network/', 'network'],
  ['/key-manager/', 'key-manager'],
  ['/agent/', 'agent-link'],
]
const TOKEN_DIGITS = 12
/**
 * Limits of the records of refused requests that carry no valid token, or whose caller is over its rate limit. A flood
 * of them must not push out the records of users.
 */
const STRANGERS_AT_ONCE = 200
const STRANGERS_EACH_SECOND = 5

/**
 * Audits every write on every surface, but no dry run, every login and everything noted as sensitive, when it is answered, even if the
 * client has gone by then. Other reads are not audited, and most requests are reads.
 */
export function auditRequests(app: FastifyInstance, { sink, view, clock }: AuditOptions): void {
  const strangers = new Allowance(clock)
  app.addHook('onRoute', (route) => {
    const isRead = [route.method].flat().every((method) => READS.has(method))
    if (NOT_AUDITED.has(route.url) || (isRead && !SENSITIVE_READS.has(route.url))) return
    const words = wordsOf(route.url)
    const isAudited = ({ auditNotes: notes }: FastifyRequest): boolean =>
      isRead ? notes?.isSensitive === true : notes?.isDryRun !== true
    const preHandler: preHandlerHookHandler = (request, _reply, done) => {
      const notes = notesOf(request)
      notes.object = pathOf(words, request.params as PathParams)
      // Looked up before the handler runs, because a deleted object has no project any more.
      notes.objectProjectId = projectOf(view, notes.object)
      notes.loadBalancer = loadBalancerOf(view, notes.object)
      done()
    }
    const preSerialization: preSerializationHookHandler<unknown> = (request, _reply, payload, done) => {
      notesOf(request).answer = payload
      done(null, payload)
    }
    const onSend: onSendHookHandler<unknown> = (request, reply, payload, done) => {
      if (isAudited(request)) {
        const notes = notesOf(request)
        notes.object ??= pathOf(words, request.params as PathParams)
        // A caller over its rate limit can be refused as fast as it asks, so it counts as a stranger.
        const isKnown = request.tokenSession !== undefined && reply.statusCode !== 429
        if (isKnown || reply.statusCode < 400 || strangers.take())
          for (const record of recordsOf(request, reply, notes, { view, clock })) sink.record(record)
        else sink.leftOut()
      }
      done(null, payload)
    }
    route.preHandler = [preHandler, ...[route.preHandler ?? []].flat()]
    route.preSerialization = [...[route.preSerialization ?? []].flat(), preSerialization]
    route.onSend = [...[route.onSend ?? []].flat(), onSend]
  })
}

/** One record; for a request with several objects one record each. */
function recordsOf(
  request: FastifyRequest,
  reply: FastifyReply,
  notes: AuditNotes,
  { view, clock }: Pick<AuditOptions, 'view' | 'clock'>,
): readonly AuditRecord[] {
  const { url = '' } = request.routeOptions
  const status = reply.statusCode
  const { tokenSession: session } = request
  const caller = callerOf(request, notes)
  const path = notes.object ?? null
  const base = {
    time: clock.now().toISOString(),
    requestId: request.id,
    surface: SURFACES.find(([prefix]) => url.startsWith(prefix))?.[1] ?? 'native',
    operation: `${request.method} ${url}`,
    ...caller,
    from: request.ip ?? null,
    status,
    code: notes.code ?? null,
  } as const
  // A failed attempt on another tenant's object must not reveal the owner. A successful one was on the caller's own.
  const own = status < 400 ? caller.projectId : null
  const isForAdmin = session !== undefined && isAdmin(session.principal)
  const owner = isForAdmin ? (notes.objectProjectId ?? null) : own
  const shown = status < 400 && !isLogin(request) ? objectsIn(notes.answer) : []
  // The id of another tenant's load balancer is not told either.
  const wholeOf = (part: OwnedLoadBalancer | null): Pick<AuditRecord, 'loadBalancerId'> =>
    part !== null && (isForAdmin || part.projectId === caller.projectId) ? { loadBalancerId: part.id } : {}
  const known = notes.loadBalancer ?? null
  if (shown.length === 0) return [{ ...base, object: path, ...wholeOf(known), objectProjectId: owner }]
  return shown.map(({ id, projectId }) => {
    const object = path === null || path.includes(id) ? path : `${path}/${id}`
    // A part that was just made was not there before.
    const whole = known ?? loadBalancerOf(view, object ?? '')
    return { ...base, object, ...wholeOf(whole), objectProjectId: projectId ?? owner }
  })
}

const isLogin = ({ routeOptions: { url = '' } }: FastifyRequest): boolean => url.endsWith('/tokens')

function callerOf(
  { tokenSession: session, tokenFrom }: FastifyRequest,
  { caller }: AuditNotes,
): Pick<AuditRecord, 'userId' | 'userName' | 'projectId' | 'method' | 'credentialId' | 'token'> {
  if (session === undefined)
    return {
      userId: caller?.userId ?? null,
      userName: caller?.userName ?? null,
      projectId: caller?.projectId ?? null,
      method: caller?.method ?? null,
      credentialId: caller?.credentialId ?? null,
      token: null,
    }
  const { principal, token } = session
  return {
    userId: principal.userId,
    userName: principal.userName,
    projectId: principal.projectId,
    method: caller?.method ?? (tokenFrom === 'cookie' ? 'session' : methodOf(token)),
    credentialId: credentialOf(token),
    token: token.id.slice(0, TOKEN_DIGITS),
  }
}

/** A token bucket: so many at once, and so many more per second. */
class Allowance {
  readonly #clock: Clock
  #left = STRANGERS_AT_ONCE
  #atMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#atMs = clock.monotonicMs()
  }

  take(): boolean {
    const nowMs = this.#clock.monotonicMs()
    const more = ((nowMs - this.#atMs) / 1000) * STRANGERS_EACH_SECOND
    this.#left = Math.min(STRANGERS_AT_ONCE, this.#left + more)
    this.#atMs = nowMs
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
