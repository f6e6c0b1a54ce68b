import type { QuotaResource, SpoutError } from '@spout/model'
import {
  invalidInput,
  invalidJson,
  invalidOption,
  notFound,
  OctaviaFault,
  outsideSubnet,
  policyForbidden,
  subresourceNotFound,
  unknownAttributes,
  unsupportedOption,
  validationFailure,
} from '../wire/fault.ts'
import { notRetrieved } from './convert-tls.ts'

/** Octavia's fault for any error of the model's table. Requests are checked earlier, so most of these are rare. */
export function faultOf(error: SpoutError): OctaviaFault {
  const { params } = error
  const text = (name: string): string => String(params[name] ?? '')
  const field = wireField(text('field'))
  const ofVip = text('field').startsWith('vips')
  switch (error.code) {
    case 'MalformedJson':
      return invalidJson()
    case 'BodyTooLarge':
      return new OctaviaFault(413, error.message)
    case 'UnknownField':
      return unknownAttributes(parentOf(text('field')), [field])
    case 'MissingField':
      return invalidInput(field, 'None', 'Mandatory field missing.')
    case 'InvalidField':
      return validationFailure(`${field}: ${text('reason')}`)
    case 'ImmutableField':
      return unknownAttributes(parentOf(text('field')), [field])
    case 'ReferenceNotFound':
      if (text('what') === 'certificate') return notRetrieved([text('id')])
      return subresourceNotFound(resourceWord(text('what')), text('id'))
    case 'AddressForbidden':
      return ofVip
        ? new OctaviaFault(400, `The IP Address ${text('address')} is invalid.`)
        : invalidOption(text('address').toUpperCase(), 'member address')
    case 'AddressOutsideSubnet':
      return ofVip
        ? outsideSubnet(text('address'))
        : validationFailure(`${field}: ${text('address')} is not in ${text('cidr')}.`)
    case 'MemberOutsideNetworks':
      return validationFailure(`${field}: ${text('address')} is in none of the networks of this project.`)
    case 'Unauthenticated':
    case 'SessionEnded':
    case 'TokenExpired':
      return new OctaviaFault(401, 'The request you have made requires authentication.')
    case 'Forbidden':
      return policyForbidden()
    case 'NotFound':
      return notFound(resourceWord(text('what')), text('id'))
    case 'AddressTaken':
      return new OctaviaFault(409, `The VIP IP address is already in use: ${text('address')}`)
    case 'PortTaken':
      return new OctaviaFault(
        409,
        `Another Listener on this Load Balancer is already using protocol ${text('protocol').toUpperCase()} and protocol_port ${text('port')}`,
      )
    case 'MemberTaken':
      return new OctaviaFault(
        409,
        `Another member on this pool is already using ip ${text('address')} on protocol_port ${text('port')}`,
      )
    case 'NameTaken':
      return new OctaviaFault(409, `A ${OFFER_WORDS[text('what')] ?? field} of ${text('name')} already exists.`)
    case 'HostNotAllowed':
      return validationFailure(`value: L7 rules of this project may not name ${text('host')}: ${text('reason')}`)
    case 'DnsNameTaken':
      return new OctaviaFault(409, `Another Load Balancer already has the DNS name ${text('name')}.`)
    case 'AlreadyExists':
      return new OctaviaFault(409, 'Already an entity with that specified id.')
    case 'RevisionConflict':
    case 'VersionMismatch':
      return new OctaviaFault(409, `${resourceWord(text('what'))} ${text('id')} is immutable and cannot be updated.`)
    case 'InUse':
      return new OctaviaFault(409, `${resourceWord(text('what'))} ${text('id')} is in use and cannot be modified.`)
    case 'HasChildren':
      return validationFailure(`Cannot delete ${resourceWord(text('what'))} ${text('id')} - it has children`)
    case 'AddressPoolExhausted':
      // Neutron's own message, which Octavia passes on.
      return new OctaviaFault(409, `No more IP addresses available on network ${text('pool')}.`)
    case 'AddressPoolDraining':
      return new OctaviaFault(409, `Network ${text('pool')} gives no new IP addresses: it is being drained.`)
    case 'ObjectTooLarge':
      return new OctaviaFault(413, error.message)
    case 'OverQuota':
      return new OctaviaFault(403, `Quota has been met for resources: ${quotaWord(error)}`)
    case 'Unsupported':
      return unsupportedOption(`${field}: ${text('reason')}`)
    case 'TooManyRequests':
      return new OctaviaFault(429, error.message)
    case 'Gone':
    case 'StoreUnavailable':
    case 'LeaseLost':
    case 'Unavailable':
      return new OctaviaFault(503, error.message)
    case 'StoredUnknown':
      return new OctaviaFault(502, error.message)
    case 'Internal':
      return new OctaviaFault(500, error.message)
    default:
      return unmapped(error.code)
  }
}

/** A type check: a new row of the error table is an error here until it has a fault. */
const unmapped = (code: never): never => {
  throw new TypeError(`no fault for ${String(code)}`)
}

/** Octavia's words for the kinds of objects whose names must be unique. */
const OFFER_WORDS: Readonly<Record<string, string>> = {
  'a load balancer class': 'flavor',
  'an availability zone': 'availability zone',
}

const RESOURCE_WORDS: Readonly<Record<string, string>> = {
  loadbalancer: 'Load Balancer',
  listener: 'Listener',
  pool: 'Pool',
  member: 'Member',
  healthmonitor: 'Health Monitor',
  monitor: 'Health Monitor',
  subnet: 'Subnet',
  network: 'Network',
  addresspool: 'Network',
  port: 'Port',
  address: 'Port',
  project: 'Project',
  loadbalancerclass: 'Flavor',
  availabilityzone: 'Availability Zone',
  securitygroup: 'Security Group',
}

/** `loadBalancer`, `Load balancer` and `load-balancer` all become `Load Balancer`. */
const resourceWord = (what: string): string => RESOURCE_WORDS[what.toLowerCase().replaceAll(/[^a-z]/g, '')] ?? what

const QUOTA_WORDS: Readonly<Record<QuotaResource, string>> = {
  loadBalancers: 'Load Balancer',
  listeners: 'Listener',
  pools: 'Pool',
  members: 'Member',
  healthMonitors: 'Health Monitor',
  routes: 'L7 Policy',
  routeConditions: 'L7 Rule',
  networks: 'Network',
  addresses: 'Address',
  certificates: 'Certificate',
  secrets: 'Secret',
  securityGroups: 'Security Group',
  bytes: 'Storage Bytes',
}
function quotaWord({ params: { resource, limit, used } }: SpoutError): string {
  const own = Object.entries(QUOTA_WORDS).find(([name]) => name === resource)?.[1]
  // Octavia shows no quota for it, so the message itself tells the figures.
  return own ?? `${resource} (limit ${limit}, ${used} in use)`
}

const FIELD_WORDS: Readonly<Record<string, string>> = {
  enabled: 'admin_state_up',
  port: 'protocol_port',
  intervalMs: 'delay',
  timeoutMs: 'timeout',
  rise: 'max_retries',
  fall: 'max_retries_down',
  method: 'http_method',
  path: 'url_path',
  version: 'http_version',
  host: 'domain_name',
  monitor: 'healthmonitor',
  put: 'members',
  algorithm: 'lb_algorithm',
  persistence: 'session_persistence',
  clientMs: 'timeout_client_data',
  connectMs: 'timeout_member_connect',
  memberMs: 'timeout_member_data',
  inspectMs: 'timeout_tcp_inspect',
  tls: 'tls_enabled',
  certificateIds: 'default_tls_container_ref',
  'clientCertificates.caCertificateId': 'client_ca_tls_container_ref',
  'clientCertificates.crlCertificateId': 'client_crl_container_ref',
  caCertificateId: 'ca_tls_container_ref',
  crlCertificateId: 'crl_container_ref',
  clientCertificateId: 'tls_container_ref',
}

/** The attribute that a model path such as `pools[0].members[3].port` belongs to. */
function wireField(path: string): string {
  const names = path.split('.').map((part) => part.replaceAll(/\[\d+\]/g, ''))
  const last = names.at(-1) ?? ''
  return (
    FIELD_WORDS[names.slice(-2).join('.')] ??
    FIELD_WORDS[last] ??
    last.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  )
}

const parentOf = (path: string): string => {
  const names = path.split('.').map((part) => part.replaceAll(/\[\d+\]/g, ''))
  return names.length > 1 ? names.slice(0, -1).join('.') : 'body'
}
