import type { LoadBalancerSpec } from '@spout/custom-resources'
import type { EndpointSlice, Service } from '@spout/kube'
import { expect, test } from 'vitest'
import { HOSTILE } from '../../../../connector/src/testing/hostile-texts.ts'
import { creation } from '../../../../server/src/native/load-balancers/load-balancers.ts'
import type { LoadBalancerObject } from '../load-balancer-object.ts'
import { type Compiled, compile, type Surroundings, secretsOf, specOf } from './compile.ts'

const SERVICE: Service = {
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
  spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
}
const slice = (text: string): EndpointSlice => ({
  metadata: { name: 'web-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints: [
    { addresses: ['10.0.0.1'], conditions: { ready: true } },
    { addresses: [text], zone: text, nodeName: text, conditions: { ready: true } },
  ],
})
const around = (slices: readonly EndpointSlice[]): Surroundings => ({
  cluster: 'c1',
  certificate: (key) =>
    key === 'shop/tls'
      ? { type: 'ready', certificate: { id: CERTIFICATE, name: '', tags: [], names: [] }, notice: null }
      : { type: 'refused', refusal: { reason: 'SecretNotFound', field: 'secret', message: 'There is none.' } },
  service: (key) => (key === 'shop/web' ? SERVICE : undefined),
  services: () => [SERVICE],
  slicesOf: () => slices,
  slice: (key) => (key === 'shop/web-1' ? slices[0] : undefined),
  families: [4],
})
const CERTIFICATE = '00000000-0000-4000-8000-000000000001'

/** An object that sets every kind of field. */
const WHOLE = {
  class: 'gold',
  addressPools: ['public'],
  addresses: [{ family: 'IPv4', address: '198.51.100.7' }],
  securityGroupIds: [CERTIFICATE],
  dnsNames: ['shop.example.org'],
  listeners: [
    {
      ...{ name: 'web', protocol: 'https', port: 443, defaultPool: 'web', insertHeaders: ['x-forwarded-for'] },
      allowedCidrs: ['10.0.0.0/8'],
      tls: { secretNames: ['tls'], certificateIds: [CERTIFICATE], alpn: ['h2'] },
      routes: [
        {
          name: 'a',
          conditions: [
            { type: 'host', compare: 'exact', values: ['a.example.org'] },
            { type: 'path', compare: 'elements', values: ['/x'] },
            { type: 'path', compare: 'regex', values: ['^/y'] },
            { type: 'header', compare: 'exact', name: 'x-a', values: ['b'] },
            { type: 'cookie', compare: 'exact', name: 'c', values: ['d'] },
            { type: 'query', compare: 'exact', name: 'q', values: ['r'] },
            { type: 'method', values: ['GET'] },
            { type: 'source', values: ['10.0.0.0/8'] },
          ],
          action: {
            type: 'forward',
            pools: [{ pool: 'web', weight: 1 }],
            mirrors: [{ pool: 'web', percent: 1 }],
            filters: [
              { type: 'request-headers', set: [{ name: 'x-b', value: 'c' }], remove: ['x-c'] },
              { type: 'response-headers', add: [{ name: 'x-d', value: 'e' }] },
              { type: 'rewrite', host: 'in.example.org', path: '/z' },
              { type: 'cors', origins: ['https://a.example.org'], methods: ['GET'], headers: ['x-e'] },
            ],
          },
        },
        {
          name: 'b',
          conditions: [],
          action: { type: 'redirect', code: 302, scheme: 'https', host: 'b.example.org', path: '/w' },
        },
      ],
    },
  ],
  pools: [
    {
      ...{ name: 'web', protocol: 'http', algorithm: 'round-robin', tls: { serverName: 'in.example.org' } },
      persistence: { type: 'cookie', cookie: { name: 'e', path: '/' } },
      members: [{ name: 'one', address: '10.0.0.9', port: 80, monitorAddress: '10.0.0.9' }],
      membersFrom: [
        { service: { name: 'web', port: 'http' } },
        { services: { matchLabels: { app: 'web' }, port: 'http' } },
        { endpointSlice: { name: 'web-1', port: 'http' } },
      ],
      monitor: { type: 'http', http: { method: 'GET', path: '/', host: 'a.example.org' } },
    },
  ],
}

/** The paths of all texts, such as `pools.0.name`. */
const placesOf = (value: unknown, at: readonly string[] = []): readonly (readonly string[])[] =>
  typeof value === 'string'
    ? [at]
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, one]) => placesOf(one, [...at, name]))
      : []

function withText(place: readonly string[], text: string): unknown {
  const spec: unknown = structuredClone(WHOLE)
  const holder = place.slice(0, -1).reduce((one, name) => (one as Record<string, unknown>)[name], spec)
  ;(holder as Record<string, unknown>)[place.at(-1)!] = text
  return spec
}

const objectOf = (spec: unknown): LoadBalancerObject => ({
  metadata: { name: 'lb', namespace: 'shop', uid: CERTIFICATE, generation: 1 },
  spec: spec as Record<string, unknown>,
})
const compiled = (spec: unknown, slices = [slice('10.0.0.2')]): Compiled | null => {
  const object = objectOf(spec)
  const read = specOf(object)
  if ('refusal' in read) {
    expectPrintable(read.refusal.message)
    return null
  }
  secretsOf(object, read.value as LoadBalancerSpec)
  const made = compile(object, read.value, around(slices))
  if ('value' in made) return made.value
  expectPrintable(made.refusal.message)
  return null
}
const expectPrintable = (text: string): void => {
  expect(text).not.toMatch(/[^\x20-\x7e]/)
  expect(text.length).toBeLessThan(1000)
}
/** The load balancer that the control plane stores; null when it refuses it. */
const taken = ({ document }: Compiled) => {
  const read = creation.safeParse({ ...document, vips: [{ from: 'pool', poolId: CERTIFICATE, address: null }] })
  return read.success ? read.data : null
}

/**
 * The paths of names. They are for people and for references, and no node gets them. Conditions are compiled:
 * expressions to tables, the rest to payloads of maps.
 */
const NAMES =
  /^(class|listeners\.0\.(name|defaultPool|routes\.\d\.name)|.*\.(pools|mirrors)\.0\.pool|pools\.0\.(members\.0\.)?name)$/

test('the object of these tests says what is taken', () => {
  expect(specOf(objectOf(WHOLE))).not.toHaveProperty('refusal')
  const made = compiled(WHOLE)!
  expect(made.problems).toEqual([])
  expect(taken(made)).not.toBeNull()
  expect(placesOf(WHOLE).length).toBeGreaterThan(80)
})

test.each(placesOf(WHOLE).map((place) => [place.join('.'), place] as const))(
  'hostile text in %s is refused, or data that the control plane takes',
  (name, place) => {
    for (const text of HOSTILE) {
      const made = compiled(withText(place, text))
      for (const { field, message } of made?.problems ?? []) expectPrintable(`${field}: ${message}`)
      const document = made === null ? null : taken(made)
      if (document !== null && !NAMES.test(name) && !name.includes('conditions'))
        expect(JSON.stringify(document)).not.toMatch(/\\[rn]|\\u0000/)
    }
  },
)

test('hostile text in an EndpointSlice leaves its endpoint out, and no other', () => {
  for (const text of HOSTILE) {
    const { document } = compiled(WHOLE, [slice(text)])!
    expect(JSON.stringify(document)).not.toMatch(/load_module|\\[rn]/)
    const [pool] = (document as unknown as { pools: { members: { address: string }[] }[] }).pools
    expect(pool!.members.map(({ address }) => address)).toEqual(['10.0.0.9', '10.0.0.1'])
  }
})
