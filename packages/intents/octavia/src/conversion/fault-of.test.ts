import { ERRORS, type ErrorCode, type ErrorParams, SpoutError } from '@spout/model'
import { expect, test } from 'vitest'
import { faultBody } from '../wire/fault.ts'
import { faultOf } from './fault-of.ts'

const cases: readonly [ErrorCode, ErrorParams, number, string][] = [
  ['MalformedJson', { reason: 'x' }, 400, 'Request is not in valid JSON format'],
  ['BodyTooLarge', { limitBytes: 9 }, 413, 'The body is larger than 9 bytes'],
  [
    'ObjectTooLarge',
    { what: 'Load balancer', id: 'x', bytes: 9, limitBytes: 8 },
    413,
    'Load balancer x would take 9 bytes with all that is in it: at most 8 are stored',
  ],
  ['UnknownField', { field: 'pools[0].colour' }, 400, 'Unknown attribute for argument pools: colour'],
  [
    'MissingField',
    { field: 'pools[0].monitor.http' },
    400,
    "Invalid input for field/attribute http. Value: 'None'. Mandatory field missing.",
  ],
  [
    'InvalidField',
    { field: 'pools[0].monitor.intervalMs', reason: 'is too short' },
    400,
    'Validation failure: delay: is too short',
  ],
  [
    'InvalidField',
    { field: 'listeners[0].tls.certificateIds[1]', reason: 'x' },
    400,
    'Validation failure: default_tls_container_ref: x',
  ],
  [
    'InvalidField',
    { field: 'listeners[0].tls.clientCertificates.caCertificateId', reason: 'x' },
    400,
    'Validation failure: client_ca_tls_container_ref: x',
  ],
  [
    'InvalidField',
    { field: 'listeners[0].tls.clientCertificates.crlCertificateId', reason: 'x' },
    400,
    'Validation failure: client_crl_container_ref: x',
  ],
  [
    'InvalidField',
    { field: 'pools[0].tls.caCertificateId', reason: 'x' },
    400,
    'Validation failure: ca_tls_container_ref: x',
  ],
  [
    'InvalidField',
    { field: 'pools[0].tls.crlCertificateId', reason: 'x' },
    400,
    'Validation failure: crl_container_ref: x',
  ],
  [
    'InvalidField',
    { field: 'pools[0].tls.clientCertificateId', reason: 'x' },
    400,
    'Validation failure: tls_container_ref: x',
  ],
  ['ImmutableField', { field: 'vips' }, 400, 'Unknown attribute for argument body: vips'],
  ['ReferenceNotFound', { field: 'x', what: 'subnet', id: '7' }, 400, 'Subnet 7 not found.'],
  [
    'AddressForbidden',
    { field: 'pools[0].members[0].address', address: '10.0.0.1', reason: 'x' },
    400,
    '10.0.0.1 is not a valid option for member address',
  ],
  ['AddressForbidden', { field: 'vips[0].address', address: '10.0.0.1' }, 400, 'The IP Address 10.0.0.1 is invalid.'],
  [
    'AddressOutsideSubnet',
    { field: 'vips[0].address', address: '10.0.0.1', cidr: '10.1.0.0/24' },
    400,
    'Invalid input for operation: IP address 10.0.0.1 is not a valid IP for the specified subnet.',
  ],
  [
    'AddressOutsideSubnet',
    { field: 'pools[0].members[0].monitorAddress', address: '10.0.0.1', cidr: '10.1.0.0/24' },
    400,
    'Validation failure: monitor_address: 10.0.0.1 is not in 10.1.0.0/24.',
  ],
  [
    'MemberOutsideNetworks',
    { field: 'pools[0].members[0].address', address: '10.0.0.1' },
    400,
    'Validation failure: address: 10.0.0.1 is in none of the networks of this project.',
  ],
  ['Unauthenticated', { reason: 'x' }, 401, 'The request you have made requires authentication.'],
  ['TokenExpired', { expiresAt: 'x' }, 401, 'The request you have made requires authentication.'],
  ['SessionEnded', {}, 401, 'The request you have made requires authentication.'],
  ['Forbidden', { reason: 'x' }, 403, 'Policy does not allow this request to be performed.'],
  ['NotFound', { what: 'load balancer', id: '7' }, 404, 'Load Balancer 7 not found.'],
  ['AddressTaken', { field: 'x', address: '10.0.0.1' }, 409, 'The VIP IP address is already in use: 10.0.0.1'],
  [
    'PortTaken',
    { field: 'listeners[1].port', protocol: 'tcp', port: 80 },
    409,
    'Another Listener on this Load Balancer is already using protocol TCP and protocol_port 80',
  ],
  [
    'MemberTaken',
    { field: 'x', address: '10.0.0.1', port: 80 },
    409,
    'Another member on this pool is already using ip 10.0.0.1 on protocol_port 80',
  ],
  ['NameTaken', { field: 'name', what: 'flavor', name: 'x' }, 409, 'A name of x already exists.'],
  ['DnsNameTaken', { field: 'dnsNames[0]', name: 'x.y' }, 409, 'Another Load Balancer already has the DNS name x.y.'],
  [
    'HostNotAllowed',
    { field: 'listeners[0].routes[0].conditions[0].values[0]', host: 'x.y', reason: 'why' },
    400,
    'Validation failure: value: L7 rules of this project may not name x.y: why',
  ],
  ['AlreadyExists', { what: 'x', id: '7' }, 409, 'Already an entity with that specified id.'],
  ['RevisionConflict', { what: 'loadBalancer', id: '7' }, 409, 'Load Balancer 7 is immutable and cannot be updated.'],
  ['VersionMismatch', { what: 'loadBalancer', id: '7' }, 409, 'Load Balancer 7 is immutable and cannot be updated.'],
  ['InUse', { what: 'pool', id: '7', user: 'x' }, 409, 'Pool 7 is in use and cannot be modified.'],
  [
    'HasChildren',
    { what: 'load balancer', id: '7', children: 'pools' },
    400,
    'Validation failure: Cannot delete Load Balancer 7 - it has children',
  ],
  ['AddressPoolExhausted', { pool: 'public', size: 9 }, 409, 'No more IP addresses available on network public.'],
  [
    'AddressPoolDraining',
    { field: 'vips[0].poolId', pool: 'public' },
    409,
    'Network public gives no new IP addresses: it is being drained.',
  ],
  [
    'OverQuota',
    { resource: 'healthMonitors', limit: 1, used: 1, wanted: 1 },
    403,
    'Quota has been met for resources: Health Monitor',
  ],
  [
    'Unsupported',
    { field: 'pools[0].members', reason: 'too many' },
    501,
    "Provider 'spout' does not support a requested option: members: too many",
  ],
  [
    'Unsupported',
    { field: 'put', reason: 'too many' },
    501,
    "Provider 'spout' does not support a requested option: members: too many",
  ],
  ['Gone', { revision: '7' }, 503, 'Revision 7 has been compacted away: list again'],
  ['TooManyRequests', { reason: 'enough', seconds: 2 }, 429, 'Too many requests: enough; try again in 2 s'],
  ['StoreUnavailable', { reason: 'full' }, 503, 'The store does not accept writes: full'],
  ['StoredUnknown', { reason: 'it is closed' }, 502, 'It is not known whether this is stored: it is closed'],
  ['LeaseLost', { lease: 'x', reason: 'y' }, 503, 'Lease x is lost: y'],
  ['Unavailable', { what: 'x', reason: 'y' }, 503, 'x is not available: y'],
  ['Internal', { reference: 'req-1' }, 500, 'Internal error req-1'],
]

test.each(cases)('%s %j', (code, params, status, message) => {
  expect(faultOf(new SpoutError(code, params))).toMatchObject({ status, message })
})

test('every error of the table has its words', () => {
  expect(new Set(cases.map(([code]) => code))).toEqual(new Set(Object.keys(ERRORS)))
})

test('client or server fault follows from the status', () => {
  expect(faultBody(faultOf(new SpoutError('Forbidden', { reason: 'x' })))).toEqual({
    faultcode: 'Client',
    faultstring: 'Policy does not allow this request to be performed.',
    debuginfo: null,
  })
  expect(faultBody(faultOf(new SpoutError('Internal', { reference: 'r' }))).faultcode).toBe('Server')
})
