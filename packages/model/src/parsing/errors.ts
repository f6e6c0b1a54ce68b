/**
 * The table of all errors. A surface defines no errors of its own: it maps `kind` to its own status and body. So a
 * mistake reads alike in the native API, the Octavia API, a Kubernetes condition and the command line.
 */

/** The class of an error, which each surface maps to its own status. */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'notFound'
  | 'conflict'
  | 'preconditionFailed'
  | 'gone'
  | 'tooLarge'
  | 'overQuota'
  | 'unsupported'
  | 'throttled'
  | 'unavailable'
  /** It may have been carried out. */
  | 'unknown'
  | 'internal'

/** When a retry can succeed: never, after a pause, or after something else has changed. */
export type Retry = 'never' | 'backoff' | 'onChange'

interface ErrorRow {
  readonly kind: ErrorKind
  readonly retry: Retry
  /** `{name}` stands for the parameter of that name. */
  readonly template: string
}

const row = (kind: ErrorKind, retry: Retry, template: string): ErrorRow => ({ kind, retry, template })

export const ERRORS = {
  MalformedJson: row('invalid', 'never', 'The body is not valid JSON: {reason}'),
  BodyTooLarge: row('tooLarge', 'never', 'The body is larger than {limitBytes} bytes'),
  ObjectTooLarge: row(
    'tooLarge',
    'never',
    '{what} {id} would take {bytes} bytes with all that is in it: at most {limitBytes} are stored',
  ),
  UnknownField: row('invalid', 'never', 'Field {field} is not known here'),
  MissingField: row('invalid', 'never', 'Field {field} is required'),
  InvalidField: row('invalid', 'never', 'Field {field}: {reason}'),
  ImmutableField: row('invalid', 'never', 'Field {field} cannot be changed after creation'),
  ReferenceNotFound: row('invalid', 'onChange', 'Field {field}: {what} {id} not found'),
  AddressForbidden: row('invalid', 'never', 'Field {field}: {address} is not allowed: {reason}'),
  AddressOutsideSubnet: row('invalid', 'never', 'Field {field}: {address} is not in {cidr}'),
  MemberOutsideNetworks: row(
    'invalid',
    'onChange',
    'Field {field}: {address} is in none of the networks of this project',
  ),
  Unauthenticated: row('unauthenticated', 'never', 'Authentication is required: {reason}'),
  SessionEnded: row('unauthenticated', 'never', 'There is no session, or it has ended: log in again'),
  TokenExpired: row('unauthenticated', 'never', 'The token expired at {expiresAt}'),
  Forbidden: row('forbidden', 'never', 'Not allowed: {reason}'),
  NotFound: row('notFound', 'onChange', '{what} {id} not found'),
  AddressTaken: row('conflict', 'onChange', 'Field {field}: address {address} is already in use'),
  PortTaken: row(
    'conflict',
    'onChange',
    'Field {field}: another listener of this load balancer already uses {protocol} port {port}',
  ),
  MemberTaken: row(
    'conflict',
    'onChange',
    'Field {field}: another member of this pool already uses {address} port {port}',
  ),
  NameTaken: row('conflict', 'onChange', 'Field {field}: {what} named {name} already exists'),
  HostNotAllowed: row('invalid', 'onChange', 'Field {field}: routes of this project may not name {host}: {reason}'),
  DnsNameTaken: row('conflict', 'onChange', 'Field {field}: another load balancer has the name {name}'),
  AlreadyExists: row('conflict', 'onChange', '{what} {id} already exists'),
  RevisionConflict: row('conflict', 'backoff', '{what} {id} was changed by somebody else'),
  VersionMismatch: row('preconditionFailed', 'onChange', '{what} {id} is not at the version that If-Match names'),
  InUse: row('conflict', 'onChange', '{what} {id} is in use by {user}'),
  HasChildren: row('conflict', 'onChange', '{what} {id} has {children}'),
  AddressPoolExhausted: row('conflict', 'onChange', 'Address pool {pool} has 0 of {size} addresses free'),
  AddressPoolDraining: row(
    'conflict',
    'onChange',
    'Field {field}: address pool {pool} is draining: it gives no new addresses',
  ),
  OverQuota: row('overQuota', 'onChange', 'Quota for {resource} is {limit}, {used} in use, {wanted} more wanted'),
  Unsupported: row('unsupported', 'never', 'Field {field}: {reason}'),
  Gone: row('gone', 'backoff', 'Revision {revision} has been compacted away: list again'),
  TooManyRequests: row('throttled', 'backoff', 'Too many requests: {reason}; try again in {seconds} s'),
  StoreUnavailable: row('unavailable', 'backoff', 'The store does not accept writes: {reason}'),
  StoredUnknown: row('unknown', 'backoff', 'It is not known whether this is stored: {reason}'),
  LeaseLost: row('unavailable', 'backoff', 'Lease {lease} is lost: {reason}'),
  Unavailable: row('unavailable', 'backoff', '{what} is not available: {reason}'),
  Internal: row('internal', 'backoff', 'Internal error {reference}'),
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof ERRORS

/** Values of the template's parameters. `field` is a path such as `listeners[0].port`. */
export type ErrorParams = Readonly<Record<string, string | number>>

/** What became of a request without an answer of its own: nothing was done, or it may have been carried out. */
export type Attempt = 'not-begun' | 'unknown'

/** A control plane that refuses a request before it has begun with it says `not-begun` in this header. */
export const ATTEMPT_HEADER = 'spout-attempt'

/** An error of the table. The message names the field and the reason. */
export class SpoutError extends Error {
  override readonly name = 'SpoutError'
  readonly code: ErrorCode
  readonly params: ErrorParams
  /** All fields with this fault, where known. `field` is the first. */
  readonly fields: readonly string[]

  constructor(
    code: ErrorCode,
    params: ErrorParams = {},
    { fields = [], ...options }: { readonly cause?: unknown; readonly fields?: readonly string[] } = {},
  ) {
    super(
      ERRORS[code].template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? `{${name}}`)),
      options,
    )
    this.code = code
    this.params = params
    this.fields = fields
  }

  get kind(): ErrorKind {
    return ERRORS[this.code].kind
  }

  get retry(): Retry {
    return ERRORS[this.code].retry
  }

  /** Path of the wrong field, if the error is about one. */
  get field(): string | undefined {
    const { field } = this.params
    return field === undefined ? undefined : String(field)
  }
}
