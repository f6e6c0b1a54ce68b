import type { CertificateUse } from '@spout/model'

/** Something that a field of a document can name. */
export interface Named {
  /** Undefined: it is not stored yet. */
  readonly id: string | undefined
  readonly name: string
  /** What tells it from others, such as the names in a certificate. */
  readonly note: string
}

/** The kinds of what a document names. Certificates are told apart by their use. */
type NameableKind = 'pool' | 'subnet' | CertificateUse

/** What there is to be named. */
export type Nameable = Readonly<Record<NameableKind, readonly Named[]>>

export const NOTHING_NAMEABLE: Nameable = {
  ...{ pool: [], subnet: [] },
  ...{ keyed: [], authorities: [], revocations: [], users: [] },
}

/** What a field names, and whether by its id or its name. */
interface NamingField {
  readonly kind: NameableKind
  readonly by: 'id' | 'name'
}

const FIELDS: ReadonlyMap<string, NamingField> = new Map<string, NamingField>([
  ['defaultPool', { kind: 'pool', by: 'name' }],
  ['pool', { kind: 'pool', by: 'name' }],
  ['defaultPoolId', { kind: 'pool', by: 'id' }],
  ['poolId', { kind: 'pool', by: 'id' }],
  ['subnetId', { kind: 'subnet', by: 'id' }],
  ['certificateIds', { kind: 'keyed', by: 'id' }],
  ['clientCertificateId', { kind: 'keyed', by: 'id' }],
  ['caCertificateId', { kind: 'authorities', by: 'id' }],
  ['crlCertificateId', { kind: 'revocations', by: 'id' }],
  ['usersId', { kind: 'users', by: 'id' }],
])

/** Undefined: the field of this name names nothing. */
export const namingField = (name: string): NamingField | undefined => FIELDS.get(name)
