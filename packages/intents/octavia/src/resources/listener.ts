import { LISTENER_DEFAULTS, MOST_LISTENER_CERTIFICATES, MOST_ROUTES } from '@spout/model'
import { DEFAULT_TIMEOUTS } from '../conversion/convert-listener.ts'
import { NO_TLS } from '../conversion/convert-tls.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import type { OctaviaListener, OctaviaTls } from '../terms/octavia-resources.ts'
import { CLIENT_AUTHENTICATION, LISTENER_PROTOCOLS } from '../terms/words.ts'
import { type Field, nested, rowsOf } from '../wire/field.ts'
import {
  boolean,
  cidr,
  integer,
  list,
  nullable,
  oneOf,
  type Stamp,
  text,
  textMap,
  uuid,
  ValueRefused,
  type WireType,
} from '../wire/wire-type.ts'
import { nestedPolicy, type PolicySpec } from './l7policy.ts'
import { blankMeta, descriptionField, metaFields, ownerFields } from './meta-fields.ts'
import { nestedPool, type PoolSpec } from './pool.ts'
import type { Resource } from './resource.ts'

/** A listener as a request describes it. */
export interface ListenerSpec extends OctaviaListener {
  readonly loadBalancerId: string | null
  /** A pool that the same request creates or, in a graph, names. */
  readonly defaultPool: PoolSpec | null
  /** Policies that the same request creates. */
  readonly newPolicies: readonly PolicySpec[]
}

export interface ListenerReading extends OctaviaListener {
  readonly snapshot: Snapshot
}

export const blankListener = (stamp: Stamp): ListenerSpec => ({
  model: {
    ...blankMeta(stamp),
    protocol: 'tcp',
    port: 0,
    defaultPoolId: null,
    routes: [],
    tls: null,
    ...LISTENER_DEFAULTS,
  },
  protocol: 'TCP',
  insertHeaders: new Map(),
  tls: NO_TLS,
  policies: [],
  loadBalancerId: null,
  defaultPool: null,
  newPolicies: [],
})

/** The starting point for an update of a stored listener. */
export const listenerSpecOf = (listener: OctaviaListener): ListenerSpec => ({
  ...listener,
  loadBalancerId: null,
  defaultPool: null,
  newPolicies: [],
})

const row = rowsOf<ListenerSpec, ListenerReading>()

/** -1 means no limit. Octavia accepts 0, which would make a listener that nobody can use. */
const connectionLimit: WireType<number> = {
  read(value, at) {
    const limit = integer(-1, 10_000_000).read(value, at)
    if (limit === 0) throw new ValueRefused('Value should be greater or equal to 1, or -1 for no limit')
    return limit
  },
}

type TimeoutName = keyof typeof DEFAULT_TIMEOUTS
/** 24 days, in milliseconds. */
const timeout = integer(0, 24 * 24 * 60 * 60 * 1000)
const timeoutField = (wireName: string, name: TimeoutName): Field<ListenerSpec, ListenerReading> =>
  row(wireName, timeout, {
    since: 1,
    create: 'optional',
    update: true,
    default: DEFAULT_TIMEOUTS[name],
    write: (spec, ms) => ({ ...spec, model: { ...spec.model, timeouts: { ...spec.model.timeouts, [name]: ms } } }),
    read: ({ model }) => model.timeouts[name],
  })

/** An attribute of TLS termination. Listeners of other protocols print the value for "no TLS". */
const tlsField = <Name extends keyof OctaviaTls>(
  wireName: string,
  type: WireType<NonNullable<OctaviaTls[Name]>>,
  name: Name,
  since: number,
): Field<ListenerSpec, ListenerReading> =>
  row<OctaviaTls[Name]>(wireName, NO_TLS[name] === null ? (nullable(type) as WireType<OctaviaTls[Name]>) : type, {
    since,
    create: 'optional',
    update: true,
    default: NO_TLS[name],
    write: (spec, value) => ({ ...spec, tls: { ...spec.tls, [name]: value } }),
    read: ({ tls }) => tls[name],
  })

const ref = text({ max: 255 })

const ownFields: readonly Field<ListenerSpec, ListenerReading>[] = [
  ...metaFields<ListenerSpec, ListenerReading>(),
  descriptionField<ListenerSpec, ListenerReading>(),
  row('protocol', oneOf(LISTENER_PROTOCOLS), {
    since: 0,
    create: 'required',
    write: (spec, protocol) => ({ ...spec, protocol }),
    read: ({ protocol }) => protocol,
  }),
  row('protocol_port', integer(1, 65_535), {
    since: 0,
    create: 'required',
    write: (spec, port) => ({ ...spec, model: { ...spec.model, port } }),
    read: ({ model }) => model.port,
  }),
  row('connection_limit', connectionLimit, {
    since: 0,
    create: 'optional',
    update: true,
    default: -1,
    write: (spec, limit) => ({ ...spec, model: { ...spec.model, connectionLimit: limit === -1 ? null : limit } }),
    read: ({ model }) => model.connectionLimit ?? -1,
  }),
  row('default_pool_id', nullable(uuid), {
    since: 0,
    create: 'optional',
    update: true,
    default: null,
    write: (spec, defaultPoolId) => ({ ...spec, model: { ...spec.model, defaultPoolId } }),
    read: ({ model }) => model.defaultPoolId,
  }),
  row('default_pool', nullable(nestedPool), {
    since: 0,
    create: 'optional',
    default: null,
    write: (spec, defaultPool) => ({ ...spec, defaultPool }),
  }),
  row('insert_headers', textMap, {
    since: 0,
    create: 'optional',
    update: true,
    default: new Map(),
    write: (spec, insertHeaders) => ({ ...spec, insertHeaders }),
    read: ({ insertHeaders }) => Object.fromEntries(insertHeaders),
  }),
  timeoutField('timeout_client_data', 'clientMs'),
  timeoutField('timeout_member_connect', 'connectMs'),
  timeoutField('timeout_member_data', 'memberMs'),
  timeoutField('timeout_tcp_inspect', 'inspectMs'),
  row('allowed_cidrs', list(cidr, 200), {
    since: 12,
    create: 'optional',
    update: true,
    default: [],
    // A missing list and an empty one both admit everybody, and both print as null.
    write: (spec, cidrs) => ({
      ...spec,
      model: { ...spec.model, allowedCidrs: cidrs.length === 0 ? null : [...cidrs] },
    }),
    read: ({ model }) => model.allowedCidrs,
  }),
  tlsField('default_tls_container_ref', ref, 'defaultRef', 0),
  tlsField('sni_container_refs', list(ref, MOST_LISTENER_CERTIFICATES), 'sniRefs', 0),
  row('client_authentication', oneOf(CLIENT_AUTHENTICATION), {
    since: 8,
    create: 'optional',
    update: true,
    default: NO_TLS.clientAuthentication,
    // Authorities are not kept while clients are not asked for certificates.
    write: (spec, clientAuthentication) => ({
      ...spec,
      tls: {
        ...spec.tls,
        clientAuthentication,
        ...(clientAuthentication === 'NONE' ? { clientCaRef: null, clientCrlRef: null } : {}),
      },
    }),
    read: ({ tls }) => tls.clientAuthentication,
  }),
  tlsField('client_ca_tls_container_ref', ref, 'clientCaRef', 8),
  tlsField('client_crl_container_ref', ref, 'clientCrlRef', 8),
  tlsField('tls_ciphers', text({ max: 2048 }), 'ciphers', 15),
  tlsField('tls_versions', list(text({ max: 32 })), 'versions', 17),
  tlsField('alpn_protocols', list(text({ max: 32 })), 'alpn', 20),
  tlsField('hsts_max_age', integer(0, 0x7fff_ffff), 'hstsMaxAge', 27),
  tlsField('hsts_include_subdomains', boolean, 'hstsSubdomains', 27),
  tlsField('hsts_preload', boolean, 'hstsPreload', 27),
  row('l7policies', list(nestedPolicy, MOST_ROUTES), {
    since: 0,
    create: 'optional',
    default: [],
    write: (spec, newPolicies) => ({ ...spec, newPolicies }),
    read: ({ policies }) => policies.map(({ model: { id } }) => ({ id })),
  }),
]

/** A listener of a graph: load balancer and owner are the graph's. */
export const nestedListener: WireType<ListenerSpec> = nested(ownFields, blankListener)

export const listenerResource: Resource<ListenerSpec, ListenerReading> = {
  word: 'Listener',
  root: 'listener',
  plural: 'listeners',
  argument: 'listener_',
  fields: [
    ...ownFields,
    ...ownerFields<ListenerSpec, ListenerReading>(),
    row('loadbalancer_id', uuid, {
      since: 0,
      create: 'required',
      write: (spec, loadBalancerId) => ({ ...spec, loadBalancerId }),
      asked: ({ snapshot }) => [snapshot.lb.id],
    }),
    row('loadbalancers', text(), { since: 0, read: ({ snapshot }) => [{ id: snapshot.lb.id }] }),
  ],
}
