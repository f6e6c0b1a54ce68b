import { randomUUID } from 'node:crypto'
import {
  cipherList,
  type HealthMonitor,
  type HttpRoute,
  healthMonitor,
  httpProbe,
  type Listener,
  type LoadBalancer,
  listener,
  listenerOptions,
  type Member,
  MOST_ROUTES,
  type MonitorDefaults,
  member,
  type Pool,
  type PoolTls,
  passiveCheck,
  pool,
  poolTls,
  SpoutError,
  sameJson,
  sendsRequest,
  transportOf,
  USUAL_MONITOR,
  uuid,
} from '@spout/model'
import type { Pieces } from '@spout/runtime'
import { z } from 'zod'
import { echoed, text } from './part-fields.ts'
import { actionOf, poolNamed, type RouteDraft, routeDraft } from './route-draft.ts'

export const memberDraft = z.strictObject({
  ...text,
  ...echoed,
  enabled: z.boolean().default(true),
  address: member.shape.address,
  port: member.shape.port,
  subnetId: member.shape.subnetId.default(null),
  weight: member.shape.weight.default(1),
  backup: z.boolean().default(false),
  monitorAddress: member.shape.monitorAddress.default(null),
  monitorPort: member.shape.monitorPort.default(null),
})

const DEFAULT_CHECK_TIMEOUT_MS = 800

const probeDraft = z.strictObject({
  method: httpProbe.shape.method.default('GET'),
  path: httpProbe.shape.path.default('/'),
  expectedCodes: httpProbe.shape.expectedCodes.default([{ first: 200, last: 200 }]),
  version: httpProbe.shape.version.default('1.0'),
  host: httpProbe.shape.host.default(null),
})

export const monitorDraft = z.strictObject({
  ...text,
  ...echoed,
  enabled: z.boolean().default(true),
  type: healthMonitor.shape.type,
  /** Default of these four: as the load balancer's class says, else 1 s, 800 ms (or a shorter interval), 2, 3. */
  intervalMs: healthMonitor.shape.intervalMs.optional(),
  timeoutMs: healthMonitor.shape.timeoutMs.optional(),
  rise: healthMonitor.shape.rise.optional(),
  fall: healthMonitor.shape.fall.optional(),
  http: probeDraft.nullable().default(null),
})

const passiveDraft = z.strictObject({
  on: passiveCheck.shape.on.default('connection'),
  failures: passiveCheck.shape.failures.default(5),
  holdSeconds: passiveCheck.shape.holdSeconds.default(10),
  maxDownPercent: passiveCheck.shape.maxDownPercent.default(50),
})

export const poolDraft = z.strictObject({
  ...text,
  ...echoed,
  enabled: z.boolean().default(true),
  protocol: pool.shape.protocol,
  algorithm: pool.shape.algorithm.default('round-robin'),
  persistence: pool.shape.persistence.default(null),
  members: z.array(memberDraft).max(10_000).default([]),
  monitor: monitorDraft.nullable().default(null),
  panicThreshold: pool.shape.panicThreshold.default(10),
  slowStartSeconds: pool.shape.slowStartSeconds,
  drainSeconds: pool.shape.drainSeconds,
  resetOnDown: pool.shape.resetOnDown,
  passiveCheck: passiveDraft.nullable().default(null),
  tls: poolTls
    .extend({ ciphers: cipherList.nullable().default(null), crlCertificateId: uuid.nullable().default(null) })
    .nullable()
    .default(null),
  http2: z.boolean().default(false),
  /** Null and 0: none. */
  refusedPercent: z.number().min(0).max(100).nullish(),
})

export const listenerDraft = z.strictObject({
  ...text,
  ...echoed,
  enabled: z.boolean().default(true),
  protocol: listener.shape.protocol,
  port: listener.shape.port,
  defaultPoolId: uuid.nullable().default(null),
  /** The name of a pool of the same load balancer, for a pool whose id is not known yet. */
  defaultPool: z.string().max(255).optional(),
  routes: z.array(routeDraft).max(MOST_ROUTES).default([]),
  tls: listener.shape.tls,
  ...listenerOptions,
})

/** Unset fields are absent in a pool. */
const withoutNull = ({ ciphers, crlCertificateId, ...tls }: NonNullable<PoolDraft['tls']>): PoolTls => ({
  ...tls,
  ...(ciphers === null ? {} : { ciphers }),
  ...(crlCertificateId === null ? {} : { crlCertificateId }),
})

export type MemberDraft = z.output<typeof memberDraft>
export type PoolDraft = z.output<typeof poolDraft>
export type ListenerDraft = z.output<typeof listenerDraft>

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
    const known = match(pools, draft.id, byName, `${path}id`, 'Pool')
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

  *members(drafts: readonly MemberDraft[], current: readonly Member[], path: string): Pieces<Member[]> {
    const known = new KnownMembers(current)
    const members: Member[] = []
    for (const [at, draft] of drafts.entries()) {
      const before = known.of(draft, at)
      if (draft.id !== undefined && before === undefined) throw unknown(`${path}[${at}].id`, 'Member', draft.id)
      members.push(this.#member(draft, before))
      yield
    }
    return members
  }

  /** Field by field: there may be thousands, and to copy all fields but some takes several times as long. */
  #member(draft: MemberDraft, known: Member | undefined): Member {
    const made: Member = {
      id: known?.id ?? randomUUID(),
      name: draft.name,
      description: draft.description,
      createdAt: known?.createdAt ?? this.#now,
      updatedAt: known?.updatedAt ?? null,
      tags: draft.tags,
      enabled: draft.enabled,
      address: draft.address,
      port: draft.port,
      subnetId: draft.subnetId,
      weight: draft.weight,
      backup: draft.backup,
      monitorAddress: draft.monitorAddress,
      monitorPort: draft.monitorPort,
    }
    if (known === undefined) return made
    if (sameJson(known, made)) return known
    made.updatedAt = this.#now
    return made
  }

  *listener(draft: ListenerDraft, pools: readonly Pool[], path: string): Pieces<Listener> {
    const { listeners } = this.#current
    // One that passes TLS on may share its port with another one.
    const passesOn = ({ protocol }: Pick<Listener, 'protocol'>): boolean => protocol === 'tls-passthrough'
    const sameEndpoint = (known: Listener) =>
      known.port === draft.port &&
      transportOf(known.protocol) === transportOf(draft.protocol) &&
      passesOn(known) === passesOn(draft)
    const known = match(listeners, draft.id, sameEndpoint, `${path}id`, 'Listener')
    const { createdAt: _created, updatedAt: _updated, id: _id, defaultPool, routes: routeDrafts, ...own } = draft
    const routes = yield* this.#routes(routeDrafts, known?.routes ?? [], pools, `${path}routes`)
    if (defaultPool !== undefined && own.defaultPoolId !== null)
      throw new SpoutError('InvalidField', { field: `${path}defaultPool`, reason: 'stands beside defaultPoolId' })
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

  /** @param known the version before; a draft that names an id needs one. @param path of its fields, with a trailing dot */
  route(draft: RouteDraft, known: HttpRoute | undefined, pools: readonly Pool[], path: string): HttpRoute {
    const { createdAt: _created, updatedAt: _updated, id, action, ...own } = draft
    if (id !== undefined && known === undefined) throw unknown(`${path}id`, 'Route', id)
    return this.#stamp<HttpRoute>(known, { ...own, action: actionOf(action, pools, `${path}action`) })
  }

  #monitor(draft: z.output<typeof monitorDraft>, known: HealthMonitor | null, field: string): HealthMonitor {
    const { createdAt: _created, updatedAt: _updated, id, http, ...own } = draft
    const usual = this.#monitorDefaults
    const { intervalMs = usual.intervalMs, timeoutMs = usual.timeoutMs, rise = usual.rise, fall = usual.fall } = draft
    if (id !== undefined && id !== known?.id) throw unknown(field, 'Health monitor', id)
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
    if (known === undefined) return { ...own, id: randomUUID(), createdAt: this.#now, updatedAt: null } as T
    const { id, createdAt, updatedAt } = known
    // Unchanged parts stay the same object: only new objects are checked, stored and sent.
    if (sameJson(known, { ...own, id, createdAt, updatedAt })) return known
    return { ...own, id, createdAt, updatedAt: this.#now } as T
  }
}

/** The members that a pool has. What finds them is made when it is needed. */
class KnownMembers {
  readonly #members: readonly Member[]
  #byId: ReadonlyMap<string, Member> | null = null
  #byEndpoint: ReadonlyMap<string, Member> | null = null

  constructor(members: readonly Member[]) {
    this.#members = members
  }

  /** The one that a draft is about: by its id, else by address and port. Often it is at the same place. */
  of({ id, address, port }: Pick<MemberDraft, 'id' | 'address' | 'port'>, at: number): Member | undefined {
    const same = this.#members[at]
    if (id !== undefined) {
      if (same?.id === id) return same
      this.#byId ??= new Map(this.#members.map((known) => [known.id, known]))
      return this.#byId.get(id)
    }
    if (same?.port === port && same.address === address) return same
    this.#byEndpoint ??= new Map(this.#members.map((known) => [`${known.address} ${known.port}`, known]))
    return this.#byEndpoint.get(`${address} ${port}`)
  }
}

/** The fields that decide about a pool's `updatedAt`. Its members and its monitor have times of their own. */
function ownFields({ members: _members, monitor: _monitor, ...own }: Pool): Omit<Pool, 'members' | 'monitor'> {
  return own
}

/** The fields that decide about a listener's `updatedAt`. Its routes have times of their own. */
function withoutRoutes({ routes: _routes, ...own }: Listener): Omit<Listener, 'routes'> {
  return own
}

interface Stamped {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string | null
}

function match<T extends { readonly id: string }>(
  current: readonly T[],
  id: string | undefined,
  same: (known: T) => boolean,
  field: string,
  what: string,
): T | undefined {
  if (id === undefined) return current.find(same)
  return current.find((known) => known.id === id) ?? failUnknown(field, what, id)
}

const unknown = (field: string, what: string, id: string): SpoutError =>
  new SpoutError('ReferenceNotFound', { field, what, id })
const failUnknown = (field: string, what: string, id: string): never => {
  throw unknown(field, what, id)
}
