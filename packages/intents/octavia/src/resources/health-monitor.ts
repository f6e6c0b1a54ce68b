import { HTTP_METHODS } from '@spout/model'
import type { MonitorForm } from '../forms.ts'
import type { Snapshot } from '../snapshot.ts'
import { type Field, nested, rowsOf } from '../wire/field.ts'
import { integer, nullable, numberOneOf, oneOf, type Stamp, text, uuid, type WireType } from '../wire/wire-type.ts'
import { MONITOR_TYPES } from '../words.ts'
import { metaFields, ownerFields } from './meta-fields.ts'
import type { Resource } from './resource.ts'

/** A monitor as a request describes it, with the pool that it names. */
export interface MonitorAsk extends MonitorForm {
  readonly poolId: string | null
}

export interface MonitorReading extends MonitorForm {
  readonly snapshot: Snapshot
  readonly poolId: string
}

export const blankMonitor = ({ newId, now }: Stamp): MonitorAsk => ({
  model: {
    id: newId(),
    name: '',
    description: '',
    createdAt: now,
    updatedAt: null,
    tags: [],
    enabled: true,
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

const row = rowsOf<MonitorAsk, MonitorReading>()
// Octavia admits 0, which no prober can hold to.
const seconds = integer(1, 86_400)
const retries = integer(1, 10)

// RFC 3986 path characters and what else may stand in a request line; nothing here can end or split one.
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

/** Of HTTP monitors alone: others print null and an update to null gives the default back. */
const httpFields: readonly Field<MonitorAsk, MonitorReading>[] = [
  row('http_method', nullable(oneOf(HTTP_METHODS)), {
    since: 0,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (form, httpMethod) => ({ ...form, httpMethod }),
    read: (form) => form.httpMethod,
  }),
  row('url_path', nullable(urlPath), {
    since: 0,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (form, path) => ({ ...form, urlPath: path }),
    read: (form) => form.urlPath,
  }),
  row('expected_codes', nullable(expectedCodes), {
    since: 0,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (form, codes) => ({ ...form, expectedCodes: codes }),
    read: (form) => form.expectedCodes,
  }),
  row('http_version', nullable(numberOneOf([1, 1.1], 1)), {
    since: 10,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (form, httpVersion) => ({ ...form, httpVersion }),
    read: (form) => form.httpVersion,
  }),
  row('domain_name', nullable(domainName), {
    since: 10,
    create: 'optional',
    update: true,
    ifNull: null,
    write: (form, name) => ({ ...form, domainName: name }),
    read: (form) => form.domainName,
  }),
]

const ownFields: readonly Field<MonitorAsk, MonitorReading>[] = [
  ...metaFields<MonitorAsk, MonitorReading>(),
  row('type', oneOf(MONITOR_TYPES), {
    since: 0,
    create: 'required',
    write: (form, type) => ({ ...form, type }),
    read: (form) => form.type,
  }),
  row('delay', seconds, {
    since: 0,
    create: 'required',
    update: true,
    write: (form, delaySeconds) => ({ ...form, delaySeconds }),
    read: (form) => form.delaySeconds,
  }),
  row('timeout', seconds, {
    since: 0,
    create: 'required',
    update: true,
    write: (form, timeoutSeconds) => ({ ...form, timeoutSeconds }),
    read: (form) => form.timeoutSeconds,
  }),
  row('max_retries', retries, {
    since: 0,
    create: 'required',
    update: true,
    write: (form, rise) => ({ ...form, model: { ...form.model, rise } }),
    read: ({ model }) => model.rise,
  }),
  row('max_retries_down', retries, {
    since: 0,
    create: 'optional',
    update: true,
    default: 3,
    write: (form, fall) => ({ ...form, model: { ...form.model, fall } }),
    read: ({ model }) => model.fall,
  }),
  ...httpFields,
]

/** Within a pool of a graph: no pool to name, no owner. */
export const nestedMonitor: WireType<MonitorAsk> = nested(ownFields, blankMonitor)

export const monitorResource: Resource<MonitorAsk, MonitorReading> = {
  word: 'Health Monitor',
  root: 'healthmonitor',
  plural: 'healthmonitors',
  argument: 'health_monitor_',
  fields: [
    ...ownFields,
    ...ownerFields<MonitorAsk, MonitorReading>(),
    row('pool_id', uuid, {
      since: 0,
      create: 'required',
      write: (form, poolId) => ({ ...form, poolId }),
      asked: ({ poolId }) => [poolId],
    }),
    row('pools', text(), { since: 0, read: ({ poolId }) => [{ id: poolId }] }),
  ],
}
