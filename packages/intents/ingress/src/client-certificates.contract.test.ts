import { LONGEST_BUILD_MS } from '@spout/testkit'
import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NGINX_PREFIX } from './ingress-nginx/registry.ts'
import { type IngressBed, openIngressBed, type RunningIngresses } from './testing/ingress-bed.fixture.ts'
import { rule } from './testing/objects.ts'

let bed: IngressBed
let running: RunningIngresses
beforeAll(async () => {
  bed = await openIngressBed()
  await bed.service('web', ['10.128.0.1'])
  running = await bed.start()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.close())

const authorities = (certificate: string) =>
  bed.api.apply('/api/v1/namespaces/shop/secrets/staff-ca', {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'staff-ca', namespace: 'shop' }, type: 'Opaque' },
    data: { 'ca.crt': Buffer.from(certificate).toString('base64') },
  })
const httpsOf = () => bed.documents()[0]?.listeners.find(({ protocol }) => protocol === 'https')

test('the authorities of a Secret judge clients, are rotated, and close the paths when they go', async () => {
  const [first, second] = [issueCertificate({ names: ['one'] }), issueCertificate({ names: ['two'] })]
  await bed.secret('web-tls', 'a.example')
  await bed.api.create(bed.path('', 'shop').slice(0, -1), {
    metadata: { name: 'one', namespace: 'shop', annotations: { [`${NGINX_PREFIX}auth-tls-secret`]: 'shop/staff-ca' } },
    spec: {
      tls: [{ hosts: ['a.example'], secretName: 'web-tls' }],
      rules: [rule('a.example / Prefix web')],
    },
  } as object)
  const isClosed = () => httpsOf()?.routes[0]?.action.type === 'respond' && httpsOf()?.tls?.clientCertificates === null
  await bed.until('closed paths', isClosed)
  await bed.until('the reason', () => running.events.some(({ event }) => event.reason === 'AnnotationRefused'))

  await authorities(first.certificate)
  await bed.until('clients that are asked', () => httpsOf()?.tls?.clientCertificates !== null)
  const id = httpsOf()?.tls?.clientCertificates?.caCertificateId
  const contentOf = () => bed.certificates().find((one) => one.id === id)?.contentId
  const before = contentOf()
  expect(before).toBeDefined()
  expect(httpsOf()?.routes.map(({ action }) => (action.type === 'respond' ? action.code : action.type))).toEqual([
    400,
    'forward',
    404,
  ])
  await authorities(second.certificate)
  await bed.until('rotation', () => contentOf() !== before)

  await bed.api.delete('/api/v1/namespaces/shop/secrets/staff-ca')
  await bed.until('closed paths', isClosed)
  await bed.remove('one')
  await bed.until('nothing', () => bed.certificates().length === 0)
})
