/** An error with Octavia's own message. The messages are part of the API: clients and tests match them. */
export class OctaviaFault extends Error {
  override readonly name = 'OctaviaFault'
  readonly status: number

  constructor(status: number, faultstring: string) {
    super(faultstring)
    this.status = status
  }
}

export interface FaultBody {
  readonly faultcode: 'Client' | 'Server'
  readonly faultstring: string
  readonly debuginfo: null
}

export const faultBody = (fault: OctaviaFault): FaultBody => ({
  faultcode: fault.status < 500 ? 'Client' : 'Server',
  faultstring: fault.message,
  debuginfo: null,
})

export const invalidInput = (attribute: string, value: string, why: string): OctaviaFault =>
  new OctaviaFault(400, `Invalid input for field/attribute ${attribute}. Value: '${value}'. ${why}`)

export const unknownAttributes = (argument: string, names: readonly string[]): OctaviaFault =>
  new OctaviaFault(400, `Unknown attribute${names.length > 1 ? 's' : ''} for argument ${argument}: ${names.join(', ')}`)

export const missingArgument = (name: string): OctaviaFault => new OctaviaFault(400, `Missing argument: "${name}"`)
export const invalidJson = (): OctaviaFault => new OctaviaFault(400, 'Request is not in valid JSON format')

export const validationFailure = (detail: string): OctaviaFault =>
  new OctaviaFault(400, `Validation failure: ${detail}`)

export const invalidOption = (value: string, option: string): OctaviaFault =>
  new OctaviaFault(400, `${value} is not a valid option for ${option}`)

/**
 * The fault for a missing port, subnet or network that a body names. It is 400; for one in the path it would be 404.
 */
export const subresourceNotFound = (word: string, id: string): OctaviaFault =>
  new OctaviaFault(400, `${word} ${id} not found.`)

export const notFound = (word: string, id: string): OctaviaFault => new OctaviaFault(404, `${word} ${id} not found.`)
export const policyForbidden = (): OctaviaFault =>
  new OctaviaFault(403, 'Policy does not allow this request to be performed.')

/** Neutron's own message, which Octavia passes on. */
export const outsideSubnet = (address: string): OctaviaFault =>
  new OctaviaFault(
    400,
    `Invalid input for operation: IP address ${address} is not a valid IP for the specified subnet.`,
  )

/** The fault for what Octavia accepts and this service does not support. `what` names the field and says why. */
export const unsupportedOption = (what: string): OctaviaFault =>
  new OctaviaFault(501, `Provider 'spout' does not support a requested option: ${what}`)

export const unsupportedAction = (what: string): OctaviaFault =>
  new OctaviaFault(501, `Provider 'spout' does not support a requested action: ${what}`)
