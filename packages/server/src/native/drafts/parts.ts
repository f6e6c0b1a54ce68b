import {
  type HealthMonitor,
  type HttpRoute,
  type Listener,
  type LoadBalancer,
  type Member,
  type MonitorDefaults,
  type Pool,
  type PoolTls,
  SpoutError,
  sendsRequest,
  transportOf,
  USUAL_MONITOR,
} from '@spout/model'
import type { Pieces } from '@spout/runtime'
import {
  type ListenerDraft,
  type MemberDraft,
  type MonitorDraft,
  type PoolDraft,
  probeDraft,
} from './load-balancer-draft.ts'
import { membersOf } from './member-parts.ts'
import { actionOf, poolNamed, type RouteDraft } from './route-draft.ts'
import { partOf, type Stamped, stamped, unknownPart } from './stamped.ts'

const DEFAULT_CHECK_TIMEOUT_MS = 800

/**
 * Turns drafts into parts of a document. Existing parts keep their ids and times. Pure except for new ids. It pauses
 * after each member and route, of which there may be thousands.
 */
export class Parts {
  readonly #current: Pick<LoadBalancer, 'listeners' | 'pools'>
  readonly #now: string
  readonly #monitorDefaults: MonitorDefaults

  /** @param monitors the class's defaults for health monitors; null: the usual ones */
  constructor(
    current: Pick<LoadBalancer, 'listeners' | 'pools'>,
    now: string,
    monitors: MonitorDefaults | null = null,
  ) {
    this.#current = current
    this.#now = now
    this.#monitorDefaults = monitors ?? USUAL_MONITOR
  }

  *pools(drafts: readonly PoolDraft[]): Pieces<Pool[]> {
    const pools: Pool[] = []
    for (const [at, draft] of drafts.entries()) pools.push(yield* this.pool(draft, `pools[${at}].`))
    return pools
  }

  *listeners(drafts: readonly ListenerDraft[], pools: readonly Pool[]): Pieces<Listener[]> {
    const listeners: Listener[] = []
    for (const [at, draft] of drafts.entries()) listeners.push(yield* this.listener(draft, pools, `listeners[${at}].`))
    return listeners
  }

  /** @param path of the draft's fields in the request, with a trailing dot */
  *pool(draft: PoolDraft, path: string): Pieces<Pool> {
    const { pools } = this.#current
    const byName = (known: Pool) => draft.name !== '' && known.name === draft.name
    const known = partOf(pools, draft.id, byName, `${path}id`, 'Pool')
    const {
      createdAt: _created,
      updatedAt: _updated,
      id: _id,
      members,
      monitor,
      tls,
      http2,
      refusedPercent,
      ...own
    } = draft
    const parts = {
      members: yield* this.members(members, known?.members ?? [], `${path}members`),
      monitor: monitor === null ? null : this.#monitor(monitor, known?.monitor ?? null, `${path}monitor.id`),
    }
    const said = {
      ...own,
      ...(tls === null ? {} : { tls: withoutNull(tls) }),
      ...(http2 ? { http2: true as const } : {}),
      ...(refusedPercent ? { refusedPercent } : {}),
    }
    return { ...this.#stamp<Omit<Pool, keyof typeof parts>>(known && ownFields(known), said), ...parts }
  }

  /** @param path of the list in the request */
  members(drafts: readonly MemberDraft[], current: readonly Member[], path: string): Pieces<Member[]> {
    return membersOf(drafts, current, path, this.#now)
  }

  *listener(draft: ListenerDraft, pools: readonly Pool[], path: string): Pieces<Listener> {
    const { listeners } = this.#current
    // A listener that passes TLS through may share its port with one that does not.
    const passesOn = ({ protocol }: Pick<Listener, 'protocol'>): boolean => protocol === 'tls-passthrough'
    const sameEndpoint = (known: Listener) =>
      known.port === draft.port &&
      transportOf(known.protocol) === transportOf(draft.protocol) &&
      passesOn(known) === passesOn(draft)
    const known = partOf(listeners, draft.id, sameEndpoint, `${path}id`, 'Listener')
    const { createdAt: _created, updatedAt: _updated, id: _id, defaultPool, routes: routeDrafts, ...own } = draft
    const routes = yield* this.#routes(routeDrafts, known?.routes ?? [], pools, `${path}routes`)
    if (defaultPool !== undefined && own.defaultPoolId !== null)
      throw new SpoutError('InvalidField', {
        field: `${path}defaultPool`,
        reason: 'cannot be combined with defaultPoolId',
      })
    const defaultPoolId =
      defaultPool === undefined ? own.defaultPoolId : poolNamed(pools, defaultPool, `${path}defaultPool`).id
    const stamped = this.#stamp<Omit<Listener, 'routes'>>(known && withoutRoutes(known), { ...own, defaultPoolId })
    return { ...stamped, routes }
  }

  *#routes(
    drafts: readonly RouteDraft[],
    current: readonly HttpRoute[],
    pools: readonly Pool[],
    path: string,
  ): Pieces<HttpRoute[]> {
    const byId = new Map(current.map((known) => [known.id, known]))
    const byName = new Map(current.map((known) => [known.name, known]))
    const routes: HttpRoute[] = []
    for (const [at, draft] of drafts.entries()) {
      const { id, name } = draft
      const known = id !== undefined ? byId.get(id) : name === '' ? undefined : byName.get(name)
      routes.push(this.route(draft, known, pools, `${path}[${at}].`))
      yield
    }
    return routes
  }

  /**
   * @param known the version before; a draft that names an id needs one. @param path of its fields, with a trailing dot
   */
  route(draft: RouteDraft, known: HttpRoute | undefined, pools: readonly Pool[], path: string): HttpRoute {
    const { createdAt: _created, updatedAt: _updated, id, action, ...own } = draft
    if (id !== undefined && known === undefined) throw unknownPart(`${path}id`, 'Route', id)
    return this.#stamp<HttpRoute>(known, { ...own, action: actionOf(action, pools, `${path}action`) })
  }

  #monitor(draft: MonitorDraft, known: HealthMonitor | null, field: string): HealthMonitor {
    const { createdAt: _created, updatedAt: _updated, id, http, ...own } = draft
    const usual = this.#monitorDefaults
    const { intervalMs = usual.intervalMs, timeoutMs = usual.timeoutMs, rise = usual.rise, fall = usual.fall } = draft
    if (id !== undefined && id !== known?.id) throw unknownPart(field, 'Health monitor', id)
    // The model requires a probe exactly for types that send a request. For other types a given probe is passed on, for
    // the model to refuse.
    const probe = sendsRequest(draft.type) ? (http ?? probeDraft.parse({})) : http
    return this.#stamp<HealthMonitor>(known ?? undefined, {
      ...own,
      intervalMs,
      timeoutMs: timeoutMs ?? Math.min(DEFAULT_CHECK_TIMEOUT_MS, intervalMs),
      rise,
      fall,
      http: probe,
    })
  }

  #stamp<T extends Stamped>(known: T | undefined, own: Omit<T, keyof Stamped>): T {
    return stamped(known, own, this.#now)
  }
}

/** Unset fields are absent in a pool. */
const withoutNull = ({ ciphers, crlCertificateId, ...tls }: NonNullable<PoolDraft['tls']>): PoolTls => ({
  ...tls,
  ...(ciphers === null ? {} : { ciphers }),
  ...(crlCertificateId === null ? {} : { crlCertificateId }),
})

/** The fields that decide about a pool's `updatedAt`. Its members and its monitor have times of their own. */
function ownFields({ members: _members, monitor: _monitor, ...own }: Pool): Omit<Pool, 'members' | 'monitor'> {
  return own
}

/** The fields that decide about a listener's `updatedAt`. Its routes have times of their own. */
function withoutRoutes({ routes: _routes, ...own }: Listener): Omit<Listener, 'routes'> {
  return own
}
