import type { PROTOCOL_NUMBERS } from '../scalars/protocols.ts'

/** What code that makes no probes itself must know about a kind of health check. */
interface CheckKind {
  /** The transport that carries the probe. It decides which pools may use the kind, and whether it needs a port. */
  readonly over: keyof typeof PROTOCOL_NUMBERS
  /** The field of a monitor that has the settings of this kind. Null: it has none of its own. */
  readonly settings: string | null
}

/** Every kind of health check. The compiler demands a probe for each (`PROBES` of the data plane). */
export const CHECK_KINDS = {
  tcp: { over: 'tcp', settings: null },
  http: { over: 'tcp', settings: 'http' },
  https: { over: 'tcp', settings: 'http' },
  'tls-hello': { over: 'tcp', settings: null },
  ping: { over: 'icmp', settings: null },
  udp: { over: 'udp', settings: null },
  sctp: { over: 'sctp', settings: null },
} as const satisfies Readonly<Record<string, CheckKind>>

export type CheckType = keyof typeof CHECK_KINDS
export const CHECK_TYPES = Object.keys(CHECK_KINDS) as [CheckType, ...CheckType[]]

/**
 * Whether probes of this type need a port. Types of a newer control plane that are unknown here count as needing one.
 */
export const asksPort = (type: string): boolean =>
  (CHECK_KINDS as Readonly<Record<string, CheckKind>>)[type]?.over !== 'icmp'

/** A field of a monitor that only some types have. */
export type CheckSettingsField = NonNullable<(typeof CHECK_KINDS)[CheckType]['settings']>

export const settingsFieldOf = (type: CheckType): CheckSettingsField | null => CHECK_KINDS[type].settings

export const CHECK_SETTINGS_FIELDS: readonly CheckSettingsField[] = [
  ...new Set(CHECK_TYPES.flatMap((type) => settingsFieldOf(type) ?? [])),
]

export const typesWithSettings = (field: CheckSettingsField): readonly CheckType[] =>
  CHECK_TYPES.filter((type) => settingsFieldOf(type) === field)

/** Whether probes of this type send an HTTP request. */
export const sendsRequest = (type: CheckType): boolean => settingsFieldOf(type) === 'http'
