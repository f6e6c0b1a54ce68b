import { OpenStackProgram } from '@spout/testkit'
import type { FastifyRequest } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { id, nodeOf, statusOf } from './testing/fixtures.ts'
import { TestService, type Who } from './testing/service.ts'

/**
 * The unmodified `openstack` command line against the API on a loopback port. Its token goes as it is (auth type
 * `admin_token`), so no identity service takes part; subnets, which it looks up before it creates a load balancer, are
 * listed beside the API.
 */
let service: TestService
let endpoint: string
let program: OpenStackProgram

beforeAll(async () => {
  service = await TestService.start((app) => {
    app.get('/load-balancer/v2.0/subnets', async ({ query }: FastifyRequest) => {
      const { id, name } = query as { id?: string; name?: string }
      const known = [{ id: service.ids.pool, name: 'public' }]
      return { subnets: known.filter((one) => one.id === id || one.name === name) }
    })
  })
  // Whatever is asked to become ACTIVE is: nodes are not the matter here.
  service.status.otherwise = statusOf({ confirmedGeneration: Number.MAX_SAFE_INTEGER })
  const address = await service.app.listen({ host: '127.0.0.1', port: 0 })
  endpoint = `${address}/load-balancer`
  program = new OpenStackProgram()
})
afterAll(async () => {
  await service.stop()
  await program[Symbol.asyncDispose]()
})

/** Runs `openstack loadbalancer …`. Words after the first text may hold spaces. */
function run(command: string, more: readonly string[] = [], who: Who = 'member') {
  const access = ['--os-auth-type', 'admin_token', '--os-endpoint', endpoint, '--os-token', who]
  return program.run([...access, 'loadbalancer', ...command.split(' '), ...more], { env: {} })
}

/** The output of the command. */
async function openstack(command: string, ...more: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command, more)
  if (code !== 0) throw new Error(`openstack loadbalancer ${command}: ${stderr}`)
  return stdout
}

async function asAdmin(command: string): Promise<string> {
  const { code, stdout, stderr } = await run(command, [], 'admin')
  if (code !== 0) throw new Error(`openstack loadbalancer ${command}: ${stderr}`)
  return stdout
}

const shown = async (command: string): Promise<unknown> => JSON.parse(await openstack(`${command} -f json`))

const fails = async (command: string): Promise<string> => {
  const { code, stderr } = await run(command)
  if (code === 0) throw new Error(`openstack loadbalancer ${command} succeeded`)
  return stderr.trim()
}

describe('openstack loadbalancer', () => {
  test('create --wait, show, list, set, unset', async () => {
    expect(await shown('create --name web --vip-subnet-id public --tag blue --wait')).toMatchObject({
      name: 'web',
      provisioning_status: 'ACTIVE',
      operating_status: 'ONLINE',
      vip_address: expect.stringMatching(/^192\.0\.2\./),
      vip_subnet_id: service.ids.pool,
      provider: 'amphora',
      tags: 'blue',
      updated_at: expect.any(String),
    })
    await openstack('set web --description', 'the shop', '--tag', 'green', '--wait')
    expect(await shown('show web')).toMatchObject({ description: 'the shop', tags: expect.stringMatching(/green/) })
    await openstack('unset web --description --tag blue')
    expect(await shown('show web')).toMatchObject({ description: '', tags: 'green' })
    expect(await shown('list --tags green --provisioning-status active')).toMatchObject([
      { name: 'web', provisioning_status: 'ACTIVE' },
    ])
    expect(await shown('list --name nobody')).toEqual([])
  })

  test('listeners, pools, members and health monitors', async () => {
    expect(
      await shown(
        'listener create --name http --protocol HTTP --protocol-port 80 --connection-limit 500 --insert-headers X-Forwarded-For=true --allowed-cidr 0.0.0.0/0 --wait web',
      ),
    ).toMatchObject({ name: 'http', connection_limit: 500, allowed_cidrs: '0.0.0.0/0', provisioning_status: 'ACTIVE' })
    expect(
      await shown(
        'pool create --name back --protocol HTTP --lb-algorithm ROUND_ROBIN --listener http --session-persistence type=SOURCE_IP --wait',
      ),
    ).toMatchObject({ name: 'back', lb_algorithm: 'ROUND_ROBIN' })
    expect(
      await shown('member create --name one --address 10.0.0.11 --protocol-port 8080 --weight 5 --wait back'),
    ).toMatchObject({ address: '10.0.0.11', weight: 5, operating_status: 'NO_MONITOR' })
    expect(
      await shown(
        'healthmonitor create --name probe --type HTTP --delay 5 --timeout 3 --max-retries 2 --url-path /up --http-version 1.1 --domain-name a.example --wait back',
      ),
    ).toMatchObject({ type: 'HTTP', url_path: '/up', http_version: 1.1, domain_name: 'a.example' })

    await openstack('listener set http --connection-limit 700 --wait')
    await openstack('listener unset http --allowed-cidrs')
    expect(await shown('listener show http')).toMatchObject({ connection_limit: 700, allowed_cidrs: null })
    await openstack('pool set back --lb-algorithm LEAST_CONNECTIONS')
    await openstack('pool unset back --session-persistence')
    expect(await shown('pool show back')).toMatchObject({
      lb_algorithm: 'LEAST_CONNECTIONS',
      session_persistence: null,
    })
    await openstack('member set back one --weight 0')
    expect(await shown('member list back')).toMatchObject([{ name: 'one', weight: 0 }])
    await openstack('healthmonitor set probe --delay 9')
    await openstack('healthmonitor unset probe --domain-name --url-path')
    expect(await shown('healthmonitor show probe')).toMatchObject({ delay: 9, domain_name: null, url_path: '/' })

    await openstack('healthmonitor delete probe --wait')
    expect(
      await shown(
        'healthmonitor create --name probe --type HTTPS --delay 5 --timeout 3 --max-retries 2 --expected-codes 200-204 --http-version 1.1 --domain-name a.example --wait back',
      ),
    ).toMatchObject({ type: 'HTTPS', url_path: '/', expected_codes: '200-204', domain_name: 'a.example' })
    await openstack('healthmonitor set probe --http-method HEAD --url-path /up')
    expect(await shown('healthmonitor show probe')).toMatchObject({ http_method: 'HEAD', url_path: '/up' })
  })

  test('status, stats, providers and quotas', async () => {
    expect(JSON.parse(await openstack('status show web'))).toMatchObject({
      loadbalancer: {
        name: 'web',
        listeners: [{ name: 'http', pools: [{ name: 'back', members: [{ name: 'one' }] }] }],
      },
    })
    expect(await shown('stats show web')).toMatchObject({ total_connections: 0 })
    expect(await shown('listener stats show http')).toMatchObject({ bytes_in: 0 })
    expect(await shown('provider list')).toMatchObject([{ name: 'amphora' }, {}, {}, { name: 'spout' }])
    expect(await shown('quota defaults show')).toMatchObject({ load_balancer: 100, member: 5000 })
    expect(await shown(`quota show ${service.ids.project}`)).toMatchObject({ load_balancer: 100 })
    expect(await shown('flavor list')).toEqual([])
    expect(await shown('l7policy list')).toEqual([])
  })

  test('amphorae and failover, for administrators', async () => {
    const group = await service.admission.createNodeGroup({ name: 'default', announcer: 'l2' })
    const [carrying, other] = [1, 2].map((number) => id('node', number)) as [string, string]
    for (const nodeId of [carrying, other]) {
      await service.put('node', nodeOf(nodeId, `n${nodeId.at(-1)}`, group.id))
      service.status.connected.add(nodeId)
    }
    const lb = service.view.list('loadBalancer')[0]!
    const confirmed = { connection: 'connected', state: 'programmed', message: null, announced: [] } as const
    const nodes = [carrying, other].map((nodeId) => ({ ...confirmed, nodeId, nodeName: `n${nodeId.at(-1)}` }))
    const confirmedGeneration = Number.MAX_SAFE_INTEGER
    service.status.set(lb.id, statusOf({ confirmedGeneration, ownerNodeId: carrying, nodes }))

    const list = `amphora list --loadbalancer ${lb.id} -f json`
    const amphorae = JSON.parse(await asAdmin(list)) as { id: string; role: string }[]
    expect(amphorae.map(({ role }) => role).toSorted()).toEqual(['BACKUP', 'MASTER'])
    const master = amphorae.find(({ role }) => role === 'MASTER')!.id
    const amphora: unknown = JSON.parse(await asAdmin(`amphora show ${master} -f json`))
    expect(amphora).toMatchObject({ id: master, compute_id: carrying, status: 'ALLOCATED', lb_network_ip: '192.0.2.1' })
    expect(await asAdmin(`amphora stats show ${master}`)).toContain('total_connections')
    await asAdmin(`amphora configure ${master}`)
    expect(service.view.get('loadBalancer', lb.id)?.value).not.toHaveProperty('leftNodeId')
    await asAdmin(`amphora failover ${master}`)
    expect(service.view.get('loadBalancer', lb.id)?.value.leftNodeId).toBe(carrying)
    await asAdmin('failover web')
    expect(await fails('amphora list')).toContain('Policy does not allow this request to be performed. (HTTP 403)')
  })

  test('prints the faults that it is answered', async () => {
    expect(await fails('listener create --name twice --protocol TCP --protocol-port 80 web')).toMatch(
      /^Another Listener on this Load Balancer is already using protocol HTTP and protocol_port 80 \(HTTP 409\)/,
    )
    expect(await fails('delete web')).toMatch(/Cannot delete Load Balancer \S+ - it has children \(HTTP 400\)/)
    expect(await fails('show nobody')).toMatch(/Unable to locate nobody in loadbalancers/)
  })

  test('deletes', async () => {
    await openstack('healthmonitor delete probe --wait')
    await openstack('member delete back one')
    await openstack('delete web --cascade --wait')
    expect(await shown('list')).toEqual([])
  })
})
