/** Protocols of the form. The document, as YAML, knows more. */
export const FORM_PROTOCOLS = ['http', 'https', 'tcp', 'udp'] as const
export type FormProtocol = (typeof FORM_PROTOCOLS)[number]

export const USUAL_PORTS: Readonly<Record<FormProtocol, string>> = { http: '80', https: '443', tcp: '', udp: '' }

export const CHECKS = ['http', 'tcp', 'ping', 'none'] as const
export type Check = (typeof CHECKS)[number]

/** What the form asks for, as it was typed. */
export interface CreationForm {
  readonly name: string
  /** `pool:ID` of an address pool, or `subnet:NETWORK:SUBNET`. */
  readonly place: string
  /** Empty: any that is free. */
  readonly address: string
  readonly protocol: FormProtocol
  readonly port: string
  readonly certificateId: string
  /** One `ADDRESS:PORT` a line; IPv6 addresses in brackets. */
  readonly members: string
  readonly check: Check
  readonly checkPath: string
}

export type FormField = keyof CreationForm
export type FormErrors = Readonly<Partial<Record<FormField, string>>>

export const EMPTY_FORM: CreationForm = {
  ...{ name: '', place: '', address: '', protocol: 'http', port: USUAL_PORTS.http, certificateId: '' },
  ...{ members: '', check: 'http', checkPath: '/' },
}

interface MemberDraft {
  readonly address: string
  readonly port: number
}

/** The body of `POST /load-balancers`, or what is wrong with the form. The server checks the rest. */
export function creationOf(form: CreationForm): { readonly draft: object } | { readonly errors: FormErrors } {
  const members = membersOf(form.members)
  const errors: FormErrors = {
    ...(form.name.trim() === '' && { name: 'is required' }),
    ...(form.place === '' && { place: 'is required' }),
    ...(!isPort(form.port) && { port: 'must be a whole number from 1 to 65535' }),
    ...(form.protocol === 'https' && form.certificateId === '' && { certificateId: 'is required for HTTPS' }),
    ...('error' in members && { members: members.error }),
    ...(form.check === 'http' && !form.checkPath.startsWith('/') && { checkPath: 'must begin with /' }),
  }
  return Object.keys(errors).length > 0 || 'error' in members ? { errors } : { draft: draftOf(form, members.members) }
}

/** The name of the pool that the form makes. */
const POOL = 'members'

function draftOf(form: CreationForm, members: readonly MemberDraft[]): object {
  const { name, protocol, port, certificateId } = form
  const isHttp = protocol === 'http' || protocol === 'https'
  return {
    name: name.trim(),
    vips: [vipOf(form)],
    pools: [
      {
        name: POOL,
        protocol: isHttp ? 'http' : protocol,
        members,
        monitor: monitorOf(form),
      },
    ],
    listeners: [
      {
        name: `${protocol}-${port}`,
        protocol,
        port: Number(port),
        defaultPool: POOL,
        ...(isHttp && { insertHeaders: ['x-forwarded-for', 'x-forwarded-proto'] }),
        ...(protocol === 'https' && { tls: { certificateIds: [certificateId] } }),
      },
    ],
  }
}

function vipOf({ place, address }: CreationForm): object {
  const [from, id, subnetId] = place.split(':')
  const wanted = address.trim() === '' ? {} : { address: address.trim() }
  return from === 'subnet' ? { from, networkId: id, subnetId, ...wanted } : { from: 'pool', poolId: id, ...wanted }
}

function monitorOf({ check, checkPath }: CreationForm): object | null {
  if (check === 'none') return null
  return check === 'http' ? { type: check, http: { path: checkPath } } : { type: check }
}

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535

/** Members, a line each. Whether an address is one, and may be a member, the server says. */
export function membersOf(text: string): { readonly members: readonly MemberDraft[] } | { readonly error: string } {
  const members: MemberDraft[] = []
  for (const [at, line] of text.split('\n').entries()) {
    const entry = line.trim()
    if (entry === '') continue
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:\s]+)):(\d{1,5})$/.exec(entry) ?? []
    const address = bracketed ?? plain
    if (address === undefined || port === undefined || !isPort(port))
      return { error: `line ${at + 1} must be like 10.0.0.11:8080 or [fd10::11]:8080` }
    members.push({ address, port: Number(port) })
  }
  return { members }
}

/**
 * The field of the form for one of the request that the server refused, such as `vips[0].address`; null when the form
 * has none.
 */
export function formFieldOf(field: string): FormField | null {
  const row = FIELDS.find(
    ([prefix]) => field === prefix || field.startsWith(`${prefix}.`) || field.startsWith(`${prefix}[`),
  )
  return row?.[1] ?? null
}

const FIELDS: readonly (readonly [prefix: string, field: FormField])[] = [
  ['name', 'name'],
  ['vips[0].address', 'address'],
  ['vips', 'place'],
  ['listeners[0].port', 'port'],
  ['listeners[0].protocol', 'protocol'],
  ['listeners[0].tls', 'certificateId'],
  ['pools[0].monitor.http.path', 'checkPath'],
  ['pools[0].monitor', 'check'],
  ['pools[0].members', 'members'],
]
