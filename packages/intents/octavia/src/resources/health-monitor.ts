import { HTTP_METHODS } from '@spout/model'
import type { Snapshot } from '../snapshots/snapshot.ts'
import type { OctaviaMonitor } from '../terms/octavia-resources.ts'
import { MONITOR_TYPES } from '../terms/words.ts'
import { type Field, nested, rowsOf } from '../wire/field.ts'
import { integer, nullable, numberOneOf, oneOf, type Stamp, text, uuid, type WireType } from '../wire/wire-type.ts'
import { blankMeta, metaFields, ownerFields } from './meta-fields.ts'
import type { Resource } from './resource.ts'

/** A monitor as a request describes it, with the pool that it names. */
export interface MonitorSpec extends OctaviaMonitor {
  readonly poolId: string | null
}

export interface MonitorReading extends OctaviaMonitor {
  readonly snapshot: Snapshot
  readonly poolId: string
}

export const blankMonitor = (stamp: Stamp): MonitorSpec => ({
  model: {
    ...blankMeta(stamp),
    rise: 0,
    fall: 0,
  },
  type: 'TCP',
  delaySeconds: 0,
  timeoutSeconds: 0,
  httpMethod: null,
  urlPath: null,
  expectedCodes: null,
  httpVersion: null,
  domainName: null,
  poolId: null,
})

const row = rowsOf<MonitorSpec, MonitorReading>()
// Octavia accepts 0, but no prober can work with 0 seconds.
const seconds = integer(1, 86_400)
const retries = integer(1, 10)

// RFC 3986 path characters and others allowed in a request line; none of them can end or split the line.
const urlPath = text({
  max: 255,
  pattern: /^\/[\x21-\x7e]*$/,
  patternMessage: 'Value must be a valid URL Path string',
})
const expectedCodes = text({ max: 255, pattern: /^(\d{3}(\s*,\s*\d{3})*)$|^(\d{3}-\d{3})$/ })
const domainName = text({
  min: 1,
  max: 255,
  pattern: /^(?=.{1,253}\.?$)(?:(?!-|[^.]+_)[A-Za-z0-9-_]{1,63}(?<!-)(?:\.|$))+$/,
})

/** A field of HTTP monitors only. Others print null. An update to null restores the default. */
const httpFields: readonly Field<MonitorSpec, MonitorReading>[] = [
  row('http_method', nullable(oneOf(HTTP_METHODS)), {
    since: 0,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (monitor, httpMethod) => ({ ...monitor, httpMethod }),
    read: (monitor) => monitor.httpMethod,
  }),
  row('url_path', nullable(urlPath), {
    since: 0,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (monitor, path) => ({ ...monitor, urlPath: path }),
    read: (monitor) => monitor.urlPath,
  }),
  row('expected_codes', nullable(expectedCodes), {
    since: 0,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (monitor, codes) => ({ ...monitor, expectedCodes: codes }),
    read: (monitor) => monitor.expectedCodes,
  }),
  row('http_version', nullable(numberOneOf([1, 1.1], 1)), {
    since: 10,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (monitor, httpVersion) => ({ ...monitor, httpVersion }),
    read: (monitor) => monitor.httpVersion,
  }),
  row('domain_name', nullable(domainName), {
    since: 10,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (monitor, name) => ({ ...monitor, domainName: name }),
    read: (monitor) => monitor.domainName,
  }),
]

const ownFields: readonly Field<MonitorSpec, MonitorReading>[] = [
  ...metaFields<MonitorSpec, MonitorReading>(),
  row('type', oneOf(MONITOR_TYPES), {
    since: 0,
    create: 'required',
    write: (monitor, type) => ({ ...monitor, type }),
    read: (monitor) => monitor.type,
  }),
  row('delay', seconds, {
    since: 0,
    create: 'required',
    update: true,
    write: (monitor, delaySeconds) => ({ ...monitor, delaySeconds }),
    read: (monitor) => monitor.delaySeconds,
  }),
  row('timeout', seconds, {
    since: 0,
    create: 'required',
    update: true,
    write: (monitor, timeoutSeconds) => ({ ...monitor, timeoutSeconds }),
    read: (monitor) => monitor.timeoutSeconds,
  }),
  row('max_retries', retries, {
    since: 0,
    create: 'required',
    update: true,
    write: (monitor, rise) => ({ ...monitor, model: { ...monitor.model, rise } }),
    read: ({ model }) => model.rise,
  }),
  row('max_retries_down', retries, {
    since: 0,
    create: 'optional',
    update: true,
    default: 3,
    write: (monitor, fall) => ({ ...monitor, model: { ...monitor.model, fall } }),
    read: ({ model }) => model.fall,
  }),
  ...httpFields,
]

/** In a pool of a graph: names no pool and no owner. */
export const nestedMonitor: WireType<MonitorSpec> = nested(ownFields, blankMonitor)

export const monitorResource: Resource<MonitorSpec, MonitorReading> = {
  word: 'Health Monitor',
  root: 'healthmonitor',
  plural: 'healthmonitors',
  argument: 'health_monitor_',
  fields: [
    ...ownFields,
    ...ownerFields<MonitorSpec, MonitorReading>(),
    row('pool_id', uuid, {
      since: 0,
      create: 'required',
      write: (monitor, poolId) => ({ ...monitor, poolId }),
      asked: ({ poolId }) => [poolId],
    }),
    row('pools', text(), { since: 0, read: ({ poolId }) => [{ id: poolId }] }),
  ],
}
