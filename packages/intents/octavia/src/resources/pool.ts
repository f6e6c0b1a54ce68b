import { POOL_FAILURE_DEFAULTS } from '@spout/model'
import { LongList } from '@spout/runtime'
import { MODEL_ALGORITHM, WIRE_ALGORITHM } from '../conversion/convert-pool.ts'
import { NO_POOL_TLS } from '../conversion/convert-pool-tls.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import type { OctaviaPersistence, OctaviaPool, OctaviaPoolTls } from '../terms/octavia-resources.ts'
import {
  ALGORITHMS,
  isOneOf,
  OFFERED_POOL_PROTOCOLS,
  PERSISTENCE_TYPES,
  POOL_PROTOCOLS,
  type PoolProtocol,
} from '../terms/words.ts'
import { type Field, nested, printObject, rowsOf } from '../wire/field.ts'
import {
  boolean,
  integer,
  ipAddress,
  list,
  nullable,
  offered,
  oneOf,
  type Stamp,
  text,
  uuid,
  type WireType,
} from '../wire/wire-type.ts'
import { nestedMonitor } from './health-monitor.ts'
import { nestedMember } from './member.ts'
import { blankMeta, descriptionField, metaFields, ownerFields } from './meta-fields.ts'
import type { Resource } from './resource.ts'

/** A pool as a request describes it. In a graph it may be only the name of another pool. */
export interface PoolSpec extends Omit<OctaviaPool, 'protocol'> {
  readonly protocol: PoolProtocol | null
  readonly hasAlgorithm: boolean
  readonly loadBalancerId: string | null
  readonly listenerId: string | null
  readonly isReference: boolean
}

export interface PoolReading extends OctaviaPool {
  readonly snapshot: Snapshot
}

export const blankPool = (stamp: Stamp): PoolSpec => ({
  model: {
    ...blankMeta(stamp),
    protocol: 'tcp',
    algorithm: 'round-robin',
    persistence: null,
    members: [],
    monitor: null,
    // Octavia has no such setting: a member that is down gets no traffic.
    panicThreshold: 0,
    ...POOL_FAILURE_DEFAULTS,
    // Clients of Octavia drain a member with weight 0 and wait themselves. Meanwhile no connection is cut.
    drainSeconds: 3600,
  },
  protocol: null,
  hasAlgorithm: false,
  tls: NO_POOL_TLS,
  persistence: null,
  monitor: null,
  loadBalancerId: null,
  listenerId: null,
  isReference: false,
})

/** The starting point for an update of a stored pool. */
export const poolSpecOf = (pool: OctaviaPool): PoolSpec => ({
  ...pool,
  hasAlgorithm: true,
  loadBalancerId: null,
  listenerId: null,
  isReference: false,
})

const row = rowsOf<PoolSpec, PoolReading>()
const idsOf = (objects: readonly { readonly id: string }[]) => objects.map(({ id }) => ({ id }))
const listenersOf = ({ snapshot, model }: PoolReading) =>
  snapshot.lb.listeners.filter(({ defaultPoolId }) => defaultPoolId === model.id)

const persistenceRow = rowsOf<OctaviaPersistence, OctaviaPersistence>()
const persistenceFields: readonly Field<OctaviaPersistence, OctaviaPersistence>[] = [
  persistenceRow('type', oneOf(PERSISTENCE_TYPES), {
    since: 0,
    create: 'optional',
    write: (persistence, word) => ({ ...persistence, type: word }),
    read: (persistence) => persistence.type,
  }),
  persistenceRow('cookie_name', text({ max: 255, pattern: /^[^\s,;\\]+$/ }), {
    since: 0,
    create: 'optional',
    write: (persistence, cookieName) => ({ ...persistence, cookieName }),
    read: (persistence) => persistence.cookieName,
  }),
  persistenceRow('persistence_timeout', integer(1, 86_400), {
    since: 0,
    create: 'optional',
    write: (persistence, timeoutSeconds) => ({ ...persistence, timeoutSeconds }),
    read: (persistence) => persistence.timeoutSeconds,
  }),
  persistenceRow('persistence_granularity', ipAddress, {
    since: 0,
    create: 'optional',
    write: (persistence, granularity) => ({ ...persistence, granularity }),
    read: (persistence) => persistence.granularity,
  }),
]

const noPersistence = (): OctaviaPersistence => ({
  type: null,
  cookieName: null,
  timeoutSeconds: null,
  granularity: null,
})

/** A setting of TLS between load balancer and members. */
const tlsField = <Name extends Exclude<keyof OctaviaPoolTls, 'enabled'>>(
  wireName: string,
  type: WireType<NonNullable<OctaviaPoolTls[Name]>>,
  name: Name,
  since: number,
): Field<PoolSpec, PoolReading> =>
  row<OctaviaPoolTls[Name]>(wireName, nullable(type) as WireType<OctaviaPoolTls[Name]>, {
    since,
    create: 'optional',
    update: true,
    default: NO_POOL_TLS[name],
    write: (spec, value) => ({ ...spec, tls: { ...spec.tls, [name]: value } }),
    read: ({ tls }) => tls[name],
  })

/**
 * @param words whether protocol and algorithm are required. They are not in a graph, where a pool may only refer to
 * another one
 */
const ownFields = (words: 'required' | 'optional'): readonly Field<PoolSpec, PoolReading>[] => [
  ...metaFields<PoolSpec, PoolReading>(),
  descriptionField<PoolSpec, PoolReading>(),
  row(
    'protocol',
    offered(
      oneOf(POOL_PROTOCOLS),
      isOneOf(OFFERED_POOL_PROTOCOLS),
      `pools are ${OFFERED_POOL_PROTOCOLS.join(', ')} here`,
    ),
    {
      since: 0,
      create: words,
      write: (spec, protocol) => ({ ...spec, protocol }),
      read: ({ protocol }) => protocol,
    },
  ),
  row('lb_algorithm', oneOf(ALGORITHMS), {
    since: 0,
    create: words,
    update: true,
    write: (spec, word) => ({
      ...spec,
      hasAlgorithm: true,
      model: { ...spec.model, algorithm: MODEL_ALGORITHM[word] },
    }),
    read: ({ model }) => WIRE_ALGORITHM[model.algorithm],
  }),
  row('session_persistence', nullable(nested(persistenceFields, noPersistence)), {
    since: 0,
    create: 'optional',
    update: true,
    default: null,
    // An update that leaves the type out keeps it.
    write: (spec, persistence) => ({
      ...spec,
      persistence: persistence && { ...persistence, type: persistence.type ?? spec.persistence?.type ?? null },
    }),
    read: ({ persistence }) => persistence && printObject(persistenceFields, persistence),
  }),
  row('members', list(nestedMember), {
    since: 0,
    create: 'optional',
    default: [],
    write: (spec, members) => ({ ...spec, model: { ...spec.model, members: members.map(({ model }) => model) } }),
    read: ({ model }) => LongList.of(model.members, ({ id }) => ({ id })),
  }),
  row('healthmonitor', nullable(nestedMonitor), {
    since: 0,
    create: 'optional',
    default: null,
    write: (spec, monitor) => ({ ...spec, monitor }),
  }),
  row('healthmonitor_id', nullable(uuid), { since: 0, read: ({ model }) => model.monitor?.id ?? null }),
  row('tls_enabled', boolean, {
    since: 8,
    create: 'optional',
    update: true,
    default: false,
    // Certificates are not kept while TLS is off.
    write: (spec, enabled) => ({ ...spec, tls: enabled ? { ...spec.tls, enabled } : NO_POOL_TLS }),
    read: ({ tls }) => tls.enabled,
  }),
  tlsField('tls_container_ref', text({ max: 255 }), 'certificateRef', 8),
  tlsField('ca_tls_container_ref', text({ max: 255 }), 'caRef', 8),
  tlsField('crl_container_ref', text({ max: 255 }), 'crlRef', 8),
  tlsField('tls_ciphers', text({ max: 2048 }), 'ciphers', 15),
  tlsField('tls_versions', list(text({ max: 32 })), 'versions', 18),
  tlsField('alpn_protocols', list(text({ max: 32 })), 'alpn', 24),
]

/** A pool of a graph: `{"name": …}` alone refers to another one. */
export const nestedPool: WireType<PoolSpec> = {
  read(value, at) {
    const spec = nested(ownFields('optional'), blankPool).read(value, at)
    return {
      ...spec,
      isReference: spec.protocol === null && !spec.hasAlgorithm && Object.keys(value ?? {}).length === 1,
    }
  },
}

export const poolResource: Resource<PoolSpec, PoolReading> = {
  word: 'Pool',
  root: 'pool',
  plural: 'pools',
  argument: 'pool_',
  fields: [
    ...ownFields('required'),
    ...ownerFields<PoolSpec, PoolReading>(),
    row('loadbalancer_id', uuid, {
      since: 0,
      create: 'optional',
      write: (spec, loadBalancerId) => ({ ...spec, loadBalancerId }),
      asked: ({ snapshot }) => [snapshot.lb.id],
    }),
    row('listener_id', uuid, {
      since: 0,
      create: 'optional',
      write: (spec, listenerId) => ({ ...spec, listenerId }),
      asked: (reading) => listenersOf(reading).map(({ id }) => id),
    }),
    row('loadbalancers', text(), { since: 0, read: ({ snapshot }) => [{ id: snapshot.lb.id }] }),
    row('listeners', text(), { since: 0, read: (reading) => idsOf(listenersOf(reading)) }),
  ],
}
