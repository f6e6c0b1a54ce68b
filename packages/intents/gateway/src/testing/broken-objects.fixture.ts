import type { GatewayBed } from './gateway-bed.fixture.ts'

/** The Secret that the connector may read, which is no certificate. */
const NO_CERTIFICATE = 'cert'

const to = (name: string, more: object = {}) => ({ backendRefs: [{ name, port: 8080, ...more }] })
const forHost = (host: string, rule: object, parentRef: object = {}) => ({
  parentRefs: [{ name: 'crowd', ...parentRef }],
  hostnames: [host],
  rules: [rule],
})

interface Broken {
  /** @param number how many such objects there are before it */
  readonly spec: (number: number) => object
  /** The expected condition: type, status and reason. */
  readonly says: Readonly<Record<string, string>>
}

export const goodHost = (number: number): string => `good-${number}.example.org`
const brokenHost = (number: number): string => `broken-${number}.example.org`

/** Broken HTTPRoutes of Gateway `crowd`. */
const BROKEN: readonly Broken[] = [
  { spec: (at) => forHost(brokenHost(at), to('nobody')), says: { ResolvedRefs: 'False BackendNotFound' } },
  { spec: (at) => forHost(brokenHost(at), to('outside')), says: { ResolvedRefs: 'False BackendNotFound' } },
  {
    spec: (at) => forHost(brokenHost(at), to('far', { namespace: 'team' })),
    says: { ResolvedRefs: 'False RefNotPermitted' },
  },
  {
    spec: (at) =>
      forHost(brokenHost(at), { ...to('web'), matches: [{ path: { type: 'RegularExpression', value: '/(' } }] }),
    says: { Accepted: 'False UnsupportedValue' },
  },
  {
    spec: (at) => forHost(brokenHost(at), to('web'), { sectionName: 'missing' }),
    says: { Accepted: 'False NoMatchingParent' },
  },
  // The older route has the host and the path.
  { spec: (at) => forHost(goodHost(at), to('nobody')), says: { ResolvedRefs: 'False BackendNotFound' } },
]

/** The kind of broken route for a number. */
export const brokenRoute = (number: number): Broken => BROKEN[number % BROKEN.length]!

/**
 * Objects that the broken ones name, and Gateways whose Secret is no certificate.
 * @returns the names of the Gateways
 */
export async function createBrokenSurroundings({ api, createGateway }: GatewayBed, gateways: number) {
  await api.create('/api/v1/namespaces/shop/services', {
    metadata: { name: 'outside', namespace: 'shop' },
    spec: { type: 'ExternalName', externalName: 'metadata.internal' },
  } as object)
  await api.apply(`/api/v1/namespaces/shop/secrets/${NO_CERTIFICATE}`, {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: NO_CERTIFICATE, namespace: 'shop' } },
    ...{ type: 'kubernetes.io/tls', data: { 'tls.crt': 'bm9uZQ==', 'tls.key': 'bm9uZQ==' } },
  })
  const names = Array.from({ length: gateways }, (_, number) => `no-certificate-${number}`)
  const tls = { certificateRefs: [{ name: NO_CERTIFICATE }] }
  await Promise.all(
    names.map((name) => createGateway(name, { listeners: [{ name: 'https', port: 443, protocol: 'HTTPS', tls }] })),
  )
  return names
}

/** Runs `each` for the numbers below `count`, some at a time. */
export async function forEach(count: number, each: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < count) await each(next++)
  }
  await Promise.all(Array.from({ length: 8 }, work))
}
