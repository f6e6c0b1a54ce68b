import { expect, test } from 'vitest'
import { HTTP_ROUTE } from '../../route-kinds/http-route.ts'
import { grantOf, serviceOf, surroundingsOf, to } from '../../testing/objects.ts'
import { resolveBackend } from './backends.ts'

const from = { kind: 'HTTPRoute', namespace: 'shop', protocol: HTTP_ROUTE.backends }
const services = [
  serviceOf('web'),
  serviceOf('outside', { type: 'ExternalName', externalName: 'metadata.internal' }),
  serviceOf('wss', { ports: [{ port: 8080, appProtocol: 'kubernetes.io/wss' }] }),
  serviceOf('dns', { ports: [{ port: 8080, protocol: 'UDP' }] }),
  serviceOf('far', {}, 'other'),
]

test.each([
  ['there is none', to('missing'), [], 'BackendNotFound'],
  ['another port', to('web', { port: 81 }), [], 'BackendNotFound'],
  ['a UDP port', to('dns'), [], 'BackendNotFound'],
  ['a name outside of the cluster', to('outside'), [], 'BackendNotFound'],
  ['a protocol that members are not spoken to with', to('wss'), [], 'UnsupportedProtocol'],
  ['another kind', to('web', { kind: 'Bucket' }), [], 'InvalidKind'],
  ['another group', to('web', { group: 'example.com' }), [], 'InvalidKind'],
  ['another namespace without a grant', to('far', { namespace: 'other' }), [], 'RefNotPermitted'],
  ['a missing one of another namespace tells nothing', to('x', { namespace: 'other' }), [], 'RefNotPermitted'],
  [
    'a grant for another namespace',
    to('far', { namespace: 'other' }),
    [grantOf('other', 'blue', { kind: 'Service' })],
    'RefNotPermitted',
  ],
  [
    'a grant in another namespace',
    to('far', { namespace: 'other' }),
    [grantOf('blue', 'shop', { kind: 'Service' })],
    'RefNotPermitted',
  ],
  [
    'a grant for another kind',
    to('far', { namespace: 'other' }),
    [grantOf('other', 'shop', { kind: 'Secret' })],
    'RefNotPermitted',
  ],
  [
    'a grant for another name',
    to('far', { namespace: 'other' }),
    [grantOf('other', 'shop', { kind: 'Service', name: 'x' })],
    'RefNotPermitted',
  ],
])('does not resolve: %s', (_, ref, grants, reason) => {
  expect(resolveBackend(ref, from, surroundingsOf(services, grants))).toMatchObject({ unresolved: { reason } })
})

test.each([
  ['of its namespace', to('web'), [], 'shop/web'],
  [
    'that a grant allows',
    to('far', { namespace: 'other' }),
    [grantOf('other', 'shop', { kind: 'Service' })],
    'other/far',
  ],
  [
    'that a grant names',
    to('far', { namespace: 'other' }),
    [grantOf('other', 'shop', { kind: 'Service', name: 'far' })],
    'other/far',
  ],
])('a Service %s', (_, ref, grants, service) => {
  expect(resolveBackend(ref, from, surroundingsOf(services, grants))).toEqual({
    service,
    port: { name: 'http', protocol: 'TCP', port: 8080, targetPort: 3000 },
    protocol: 'http',
  })
})
