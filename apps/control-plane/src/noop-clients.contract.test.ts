import { randomUUID } from 'node:crypto'
import { OpenStackProgram } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

/**
 * Debian's unmodified `openstack` against `octavia.noop`. Before it creates, it looks up in the network API what it
 * names.
 */

const PASSWORD = 'a-password-for-tests'
const LONG_MS = 120_000
const ROUND_ROBIN = ['--protocol', 'HTTP', '--lb-algorithm', 'ROUND_ROBIN'] as const

let controlPlane: ControlPlaneProcess
let program: OpenStackProgram

beforeAll(async () => {
  controlPlane = await ControlPlaneProcess.start([`admin.password=${PASSWORD}`, 'octavia.noop=true'])
  program = new OpenStackProgram()
}, LONG_MS)
afterAll(async () => {
  await program?.[Symbol.asyncDispose]()
  await controlPlane?.[Symbol.asyncDispose]()
})

const openstack = async (...argv: readonly string[]): Promise<Readonly<Record<string, string>>> => {
  const env = {
    OS_AUTH_URL: `${controlPlane.address}/identity`,
    OS_USERNAME: 'admin',
    OS_PASSWORD: PASSWORD,
    OS_PROJECT_NAME: 'admin',
    OS_USER_DOMAIN_NAME: 'Default',
    OS_PROJECT_DOMAIN_NAME: 'Default',
    OS_IDENTITY_API_VERSION: '3',
  }
  const { code, stdout, stderr } = await program.run([...argv, '-f', 'json'], { env })
  if (code !== 0) throw new Error(`openstack ${argv.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}
const created = (...argv: readonly string[]) => openstack('loadbalancer', 'create', ...argv)

test('a load balancer is created at a subnet, a network and a port by their names', { timeout: LONG_MS }, async () => {
  const network = await openstack('network', 'create', 'shop')
  const range = ['--subnet-range', '10.9.0.0/24']
  const subnet = await openstack('subnet', 'create', 'shop-subnet', '--network', 'shop', ...range)
  const port = await openstack('port', 'create', 'shop-vip', '--network', 'shop')
  const at = { vip_network_id: network['id'], vip_subnet_id: subnet['id'] }
  expect(await created('--name', 'a', '--vip-subnet-id', 'shop-subnet')).toMatchObject(at)
  expect(await created('--name', 'b', '--vip-network-id', 'shop')).toMatchObject({ vip_network_id: network['id'] })
  expect(await created('--name', 'c', '--vip-port-id', 'shop-vip')).toMatchObject({ vip_port_id: port['id'] })
  const member = ['--address', '10.9.0.7', '--protocol-port', '80', '--subnet-id', 'shop-subnet']
  await openstack('loadbalancer', 'pool', 'create', '--name', 'p', '--loadbalancer', 'a', ...ROUND_ROBIN)
  expect(await openstack('loadbalancer', 'member', 'create', ...member, 'p')).toMatchObject({ subnet_id: subnet['id'] })
})

test('any UUID is a subnet, a network and a port', { timeout: LONG_MS }, async () => {
  for (const kind of ['subnet', 'network', 'port']) {
    const id = randomUUID()
    expect(await created('--name', kind, `--vip-${kind}-id`, id)).toMatchObject({
      [`vip_${kind}_id`]: id,
      provisioning_status: 'ACTIVE',
    })
  }
})

test('a name that nothing has is told as one', { timeout: LONG_MS }, async () => {
  await expect(created('--name', 'none', '--vip-subnet-id', 'no-such')).rejects.toThrow(
    'Unable to locate no-such in subnets',
  )
})
