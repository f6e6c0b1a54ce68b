import { randomUUID } from 'node:crypto'
import { Endpoints } from '@spout/client/endpoints'
import { NativeLoadBalancers } from '@spout/connector'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../../server/src/testing/test-bed.ts'
import { NGINX_PREFIX } from './ingress-nginx/registry.ts'
import { compiled } from './testing/compiled.ts'
import { ingress, rule } from './testing/objects.ts'
import { SERVED } from './testing/served-annotations.ts'

let bed: TestBed
let native: NativeLoadBalancers
let poolId: string
let usersId: string
beforeAll(async () => {
  bed = await openTestBed()
  const endpoint = await bed.app.listen({ host: '127.0.0.1', port: 0 })
  const { id: projectId } = await bed.admission.createProject({ name: 'tenant', description: '' })
  const { token } = await bed.login('connector', projectId, 'balancer')
  native = new NativeLoadBalancers({
    session: async () => ({ endpoints: new Endpoints([endpoint]), token }),
    forget: () => {},
  })
  const pool = await bed.admission.createAddressPool({
    ...{ name: 'public', description: '', cidr: '198.51.100.0/24', gatewayIp: null, projectIds: null },
    ranges: [{ first: '198.51.100.10', last: '198.51.100.20' }],
    quarantineSeconds: 0,
  })
  poolId = pool.id
  // Of the password `a`.
  const users = await bed.admission.createCertificate({
    projectId,
    name: 'users',
    users: 'joe:{SHA}hvfkN/qlp/zhXR3cuerq6jd2Z7g=',
  })
  usersId = users.id
  const network = await bed.admission.createNetwork({
    ...{ projectId, name: 'pods', description: '', returnPath: 'snat' },
    segment: { physicalNetwork: 'physnet1', vlan: null },
  })
  await bed.admission.addSubnet(network.id, {
    ...{ name: '', description: '', cidr: '10.0.0.0/24', gatewayIp: null, nodeRange: null },
  })
})
afterAll(() => bed.close())

test('the control plane takes a load balancer of Ingresses with each annotation that is served', async () => {
  const ingresses = Object.entries(SERVED).map(([name, given], at) => {
    const [value, beside] = typeof given === 'string' ? [given, {}] : given
    const annotations = Object.entries({ ...beside, [name]: value }).map(([key, one]) => [`${NGINX_PREFIX}${key}`, one])
    return ingress(
      `i${at}`,
      at,
      { rules: [rule(`host-${at}.example /a(/|$)(.*) ImplementationSpecific web`)] },
      Object.fromEntries([...annotations, [`${NGINX_PREFIX}use-regex`, 'true']]),
    )
  })
  const certificate = { id: usersId, name: '', tags: [], names: [] }
  const { content } = compiled.around({ certificate: () => ({ type: 'ready', certificate, notice: null }) })(
    ...ingresses,
  )
  const made = await native.create(randomUUID(), content, { poolId, address: null })
  expect(made.document.listeners[0]?.routes.length).toBe(content.listeners[0]?.routes?.length)
  expect(made.document.pools.map(({ name }) => name)).toEqual(content.pools.map(({ name }) => name))
})
