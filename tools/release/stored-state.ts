/**
 * Makes test data: the state that programs of one version leave on disk, for the tests that later versions take it
 * over. `node tools/release/stored-state.ts VERSION [COMMIT]`, as root; without COMMIT the programs are this checkout's.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { checkoutOf, type Tenant, TestSystem, THIS_CHECKOUT } from '@spout/testkit'
import { issueCertificate } from '@spout/testkit/tls'

const [name, commit] = process.argv.slice(2)
if (name === undefined) throw new Error('usage: stored-state.ts VERSION [COMMIT]')

const of = (project: string, user: string, segment: string) =>
  ({ project, user, password: `${user}-in-the-lab`, segment, returnPath: 'snat' }) as const
const LISTS = ['load-balancers', 'certificates', 'networks', 'addresses', 'address-pools', 'node-groups', 'nodes']
const checkout = commit === undefined ? THIS_CHECKOUT : await checkoutOf(commit)
const system = await TestSystem.start({
  ...{ tenants: [of('acme', 'alice', 'tenant-a'), of('bolt', 'bob', 'tenant-b')], checkout },
  ...{ nodes: ['node1'], set: ['nodes.announcer=vrrp'] },
})
try {
  await makeObjects(system.tenants as readonly [Tenant, Tenant])
  await copyState(name)
} finally {
  await system.destroy()
}

/** One load balancer for each way through a node: the kernel, the proxy, TLS with a certificate. */
async function makeObjects([acme, bolt]: readonly [Tenant, Tenant]): Promise<void> {
  const members = (port: number) => [1, 2].map((at) => ({ name: `member${at}`, address: `10.0.0.${10 + at}`, port }))
  const tcp = { name: 'echo', protocol: 'tcp', members: members(9000), monitor: { type: 'tcp' } }
  const http = { name: 'web', protocol: 'http', members: members(8080), monitor: { type: 'http' } }
  await system.createLoadBalancer(acme, {
    ...{ name: 'shop', description: 'Schöne Grüße', pools: [tcp] },
    listeners: [{ name: 'tcp', protocol: 'tcp', port: 80, defaultPool: 'echo', allowedCidrs: ['203.0.113.0/24'] }],
  })
  const { certificate, key } = issueCertificate({ names: ['blog.example'], days: 3650 })
  const { id } = await system.api<{ id: string }>(bolt, 'POST', '/certificates', {
    name: 'blog',
    chain: certificate,
    key,
  })
  const second = { name: 'second', protocol: 'http', members: [] }
  const where = [
    { on: 'host', compare: 'exact', values: ['blog.example'] },
    { on: 'path', compare: 'elements', values: ['/second'] },
  ]
  await system.createLoadBalancer(bolt, {
    ...{ name: 'blog', pools: [http, second] },
    listeners: [
      {
        ...{ name: 'http', protocol: 'http', port: 80, defaultPool: 'web' },
        routes: [{ name: 'second', conditions: where, action: { type: 'forward', pools: [{ pool: 'second' }] } }],
      },
      { name: 'https', protocol: 'https', port: 443, defaultPool: 'web', tls: { certificateIds: [id] } },
    ],
  })
}

async function copyState(version: string): Promise<void> {
  const stored = path.join(THIS_CHECKOUT, 'apps/control-plane/src/testdata/released', version)
  mkdirSync(stored, { recursive: true })
  const shown: Record<string, unknown> = {}
  for (const list of LISTS) {
    const { items } = await system.api<{ items: { status?: unknown }[] }>(system.access.admin, 'GET', `/${list}`)
    shown[list] = items.map(({ status: _, ...object }) => object)
  }
  writeFileSync(path.join(stored, 'objects.json'), `${JSON.stringify(shown, null, 2)}\n`)
  for (const part of ['agent-node1', 'control-plane']) {
    const running = system.lab.process(part)
    if (running !== null) await system.lab.stop(running)
  }
  const state = path.join(system.lab.directory, 'control-plane')
  for (const file of ['spout.db', 'sealing-keys']) copyFileSync(path.join(state, file), path.join(stored, file))
  const journals = path.join(THIS_CHECKOUT, 'packages/agent/src/testdata/released')
  mkdirSync(journals, { recursive: true })
  copyFileSync(path.join(system.lab.directory, 'node1/entries.journal'), path.join(journals, `${version}.journal`))
}
