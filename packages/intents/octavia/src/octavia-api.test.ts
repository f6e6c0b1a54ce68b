import { DEFAULT_CIPHERS, httpRoute } from '@spout/model'
import { issueCertificate, revocationList } from '@spout/testkit/tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestService, type Who } from './testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const NOBODY = '11111111-2222-4333-8444-555555555555'

const newLoadBalancer = (fields: object = {}) =>
  service.make('/loadbalancers', 'loadbalancer', { name: 'web', vip_subnet_id: service.ids.pool, ...fields })

async function newCertificate(): Promise<string> {
  const { certificate: chain, key } = issueCertificate({ names: ['shop.example.com'] })
  const draft = { projectId: service.ids.project, name: 'shop', chain, key }
  return (await service.admission.createCertificate(draft)).id
}

describe('versions', () => {
  test('are 31, ascending, the last one current, and need no token', async () => {
    const reply = await service.app.inject({ url: '/load-balancer/' })
    const { versions } = reply.json<{ versions: { id: string; status: string; updated: string; links: unknown }[] }>()
    expect(versions.map(({ id }) => id)).toEqual(Array.from({ length: 31 }, (_, minor) => `v2.${minor}`))
    expect(versions.filter(({ status }) => status === 'CURRENT')).toEqual([
      {
        id: 'v2.30',
        status: 'CURRENT',
        updated: '2025-02-26T00:00:00Z',
        links: [{ href: 'http://lb.example/load-balancer/v2', rel: 'self' }],
      },
    ])
    expect(versions[7]?.updated).toBe('2018-01-25T12:00:00Z')
  })

  test('the versions themselves answer their name', async () => {
    expect((await service.call('GET', '/v2')).body).toBe('v2')
    expect((await service.call('GET', '/v2.0/lbaas')).body).toBe('v2')
  })
})

describe('a load balancer', () => {
  test('is made with its address, port, subnet and network at once', async () => {
    const lb = await newLoadBalancer({ name: 'made', tags: ['blue'] })
    expect(lb).toMatchObject({
      name: 'made',
      description: '',
      admin_state_up: true,
      project_id: service.ids.project,
      tenant_id: service.ids.project,
      provisioning_status: 'PENDING_CREATE',
      operating_status: 'OFFLINE',
      vip_address: expect.stringMatching(/^192\.0\.2\./),
      vip_network_id: service.ids.pool,
      vip_subnet_id: service.ids.pool,
      vip_qos_policy_id: null,
      vip_vnic_type: 'normal',
      vip_sg_ids: [],
      additional_vips: [],
      provider: 'amphora',
      flavor_id: null,
      availability_zone: null,
      listeners: [],
      pools: [],
      tags: ['blue'],
      updated_at: null,
    })
    expect(lb.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/)
    const port = service.view.addressByPort(String(lb.vip_port_id))
    expect(port).toMatchObject({ address: lb.vip_address, ownerId: lb.id })
    await expect(service.call('GET', `/loadbalancers/${lb.id}`)).resolves.toMatchObject({
      status: 200,
      body: { loadbalancer: { id: lb.id, vip_address: lb.vip_address } },
    })
  })

  test('names security groups of its project, which may change and go', async () => {
    const words = { projectId: service.ids.project, description: '', tags: [] }
    const one = (await service.admission.createSecurityGroup({ ...words, name: 'one' })).id
    const two = (await service.admission.createSecurityGroup({ ...words, name: 'two' })).id
    const listeners = [{ name: 'l', protocol: 'HTTP', protocol_port: 80 }]
    const { id } = await newLoadBalancer({ vip_sg_ids: [one, one], listeners })
    const shown = async () => {
      const { body } = await service.call('GET', `/loadbalancers/${id}`)
      return (body as { loadbalancer: { vip_sg_ids: string[] } }).loadbalancer.vip_sg_ids
    }
    const put = (loadbalancer: object) => service.call('PUT', `/loadbalancers/${id}`, { loadbalancer })
    expect(await shown()).toEqual([one])
    expect(await put({ vip_sg_ids: [one, two] })).toMatchObject({ status: 200 })
    expect(await put({ name: 'renamed' })).toMatchObject({ status: 200 })
    expect(await shown()).toEqual([one, two])
    expect(await put({ vip_sg_ids: [NOBODY] })).toMatchObject({
      status: 400,
      body: { faultstring: `Security Group ${NOBODY} not found.` },
    })
    await expect(service.admission.deleteSecurityGroup(two)).rejects.toMatchObject({ code: 'InUse' })

    const listener = service.view.get('loadBalancer', String(id))?.value.listeners[0]?.id
    const sources = { listener: { allowed_cidrs: ['192.0.2.0/24'] } }
    expect(await service.call('PUT', `/listeners/${listener}`, sources)).toMatchObject({
      status: 400,
      body: {
        faultstring: 'Validation failure: Allowed CIDRs are not allowed when using custom VIP Security Groups.',
      },
    })
    expect(await put({ vip_sg_ids: null })).toMatchObject({ status: 200 })
    expect(await shown()).toEqual([])
    await service.admission.deleteSecurityGroup(two)
    expect(await service.call('PUT', `/listeners/${listener}`, sources)).toMatchObject({ status: 200 })
    // Groups may be added to a load balancer whose listeners have a list, as in Octavia.
    expect(await put({ vip_sg_ids: [one] })).toMatchObject({ status: 200 })
    expect(await service.call('PUT', `/listeners/${listener}`, { listener: { name: 'm' } })).toMatchObject({
      status: 200,
    })
  })

  test('is ACTIVE once confirmed, with a time of update; PENDING_UPDATE after the next change; never 409', async () => {
    const { id } = await newLoadBalancer()
    service.confirm(id)
    const active = await service.call('GET', `/loadbalancers/${id}`)
    expect(active.body).toMatchObject({
      loadbalancer: { provisioning_status: 'ACTIVE', operating_status: 'ONLINE', updated_at: expect.any(String) },
    })
    const listeners = await Promise.all(
      [80, 81, 82, 83].map((port) =>
        service.call('POST', '/listeners', {
          listener: { loadbalancer_id: id, protocol: 'TCP', protocol_port: port },
        }),
      ),
    )
    expect(listeners.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    const pending = await service.call('GET', `/loadbalancers/${id}`)
    expect(pending.body).toMatchObject({ loadbalancer: { provisioning_status: 'PENDING_UPDATE' } })
    service.confirm(id, { provisioning: 'error', reason: 'KernelRefused' })
    const failed = await service.call('GET', `/loadbalancers/${id}`)
    expect(failed.body).toMatchObject({ loadbalancer: { provisioning_status: 'ERROR', operating_status: 'ERROR' } })
  })

  test('is renamed without becoming pending', async () => {
    const { id } = await newLoadBalancer()
    service.confirm(id)
    const reply = await service.call('PUT', `/loadbalancers/${id}`, { loadbalancer: { name: 'other', tags: ['x'] } })
    expect(reply).toMatchObject({
      status: 200,
      body: { loadbalancer: { name: 'other', tags: ['x'], provisioning_status: 'ACTIVE' } },
    })
  })

  test('is gone at once when deleted, and its children with it', async () => {
    const { id } = await newLoadBalancer()
    const listener = await service.make('/listeners', 'listener', {
      loadbalancer_id: id,
      protocol: 'HTTP',
      protocol_port: 80,
    })
    await expect(service.call('DELETE', `/loadbalancers/${id}`)).resolves.toMatchObject({
      status: 400,
      body: {
        faultcode: 'Client',
        faultstring: `Validation failure: Cannot delete Load Balancer ${id} - it has children`,
        debuginfo: null,
      },
    })
    await expect(service.call('DELETE', `/loadbalancers/${id}?cascade=true`)).resolves.toMatchObject({
      status: 204,
      body: undefined,
    })
    await expect(service.call('GET', `/loadbalancers/${id}`)).resolves.toMatchObject({
      status: 404,
      body: { faultstring: `Load Balancer ${id} not found.` },
    })
    await expect(service.call('GET', `/listeners/${listener.id}`)).resolves.toMatchObject({ status: 404 })
  })

  test('is created with all its children in one call, and returned in full', async () => {
    const lb = await newLoadBalancer({
      name: 'graph',
      vip_subnet_id: service.ids.subnet,
      vip_address: '10.0.7.7',
      listeners: [
        {
          name: 'https',
          protocol: 'HTTPS',
          protocol_port: 443,
          default_pool: {
            name: 'tls',
            protocol: 'HTTPS',
            lb_algorithm: 'ROUND_ROBIN',
            members: [{ address: '10.0.1.1', protocol_port: 443, subnet_id: service.ids.subnet }],
            healthmonitor: { type: 'TCP', delay: 2, timeout: 3, max_retries: 2 },
          },
        },
      ],
    })
    expect(lb).toMatchObject({
      vip_address: '10.0.7.7',
      vip_network_id: service.ids.network,
      vip_subnet_id: service.ids.subnet,
      listeners: [
        { name: 'https', protocol: 'HTTPS', protocol_port: 443, default_pool_id: expect.any(String), l7policies: [] },
      ],
      pools: [
        {
          name: 'tls',
          protocol: 'HTTPS',
          members: [{ address: '10.0.1.1', operating_status: 'OFFLINE', vnic_type: 'normal' }],
          healthmonitor: { type: 'TCP', delay: 2, timeout: 3, max_retries: 2, max_retries_down: 3, url_path: null },
        },
      ],
    })
  })
})

describe('children', () => {
  const tree = async () => {
    const { id } = await newLoadBalancer()
    const listener = await service.make('/listeners', 'listener', {
      name: 'front',
      loadbalancer_id: id,
      protocol: 'HTTP',
      protocol_port: 80,
      connection_limit: '100',
      insert_headers: { 'X-Forwarded-For': 'true', 'X-Forwarded-Port': 'false' },
      allowed_cidrs: ['0.0.0.0/0'],
    })
    const pool = await service.make('/pools', 'pool', {
      name: 'back',
      listener_id: listener.id,
      protocol: 'HTTP',
      lb_algorithm: 'ROUND_ROBIN',
      session_persistence: { type: 'SOURCE_IP' },
    })
    const member = await service.make(`/pools/${pool.id}/members`, 'member', {
      address: '10.0.2.1',
      protocol_port: 8080,
      name: 'one',
    })
    const monitor = await service.make('/healthmonitors', 'healthmonitor', {
      pool_id: pool.id,
      type: 'HTTP',
      delay: 5,
      timeout: 3,
      max_retries: 2,
    })
    return { id, listener, pool, member, monitor }
  }

  test('print as Octavia prints them', async () => {
    const { id, listener, pool, member, monitor } = await tree()
    await expect(service.call('GET', `/listeners/${listener.id}`)).resolves.toMatchObject({
      status: 200,
      body: {
        listener: {
          default_pool_id: pool.id,
          loadbalancers: [{ id }],
          connection_limit: 100,
          insert_headers: { 'X-Forwarded-For': 'true', 'X-Forwarded-Port': 'false' },
          allowed_cidrs: ['0.0.0.0/0'],
          timeout_client_data: 50_000,
          timeout_member_connect: 5000,
          timeout_tcp_inspect: 0,
          client_authentication: 'NONE',
          tls_versions: null,
          sni_container_refs: [],
          l7policies: [],
        },
      },
    })
    await expect(service.call('GET', `/pools/${pool.id}`)).resolves.toMatchObject({
      body: {
        pool: {
          listeners: [{ id: listener.id }],
          loadbalancers: [{ id }],
          members: [{ id: member.id }],
          healthmonitor_id: monitor.id,
          session_persistence: {
            type: 'SOURCE_IP',
            cookie_name: null,
            persistence_timeout: null,
            persistence_granularity: null,
          },
          tls_enabled: false,
        },
      },
    })
    expect(monitor).toMatchObject({
      pools: [{ id: pool.id }],
      http_method: 'GET',
      url_path: '/',
      expected_codes: '200',
      http_version: null,
      domain_name: null,
    })
    expect(member).toMatchObject({ weight: 1, backup: false, subnet_id: null, operating_status: 'NO_MONITOR' })
  })

  test('are not updated when another one is', async () => {
    const { id, listener, pool, member, monitor } = await tree()
    const paths = [`/pools/${pool.id}/members/${member.id}`, `/healthmonitors/${monitor.id}`, `/pools/${pool.id}`]
    const times = async () => {
      const replies = await Promise.all(paths.map((path) => service.call('GET', path)))
      return replies.map(
        ({ body }) => Object.values(body as Record<string, { updated_at: string | null }>)[0]?.updated_at,
      )
    }
    service.confirm(id, { confirmedAt: '2099-01-01T00:00:01.000Z' })
    const before = await times()
    expect(before).not.toContain(null)
    await service.call('PUT', `/listeners/${listener.id}`, { listener: { name: 'f', connection_limit: 7 } })
    expect(await times()).toEqual(before)
    service.confirm(id, { confirmedAt: '2099-01-01T00:00:02.000Z' })
    expect(await times()).toEqual(before)
    const members = `/pools/${pool.id}/members`
    const second = { address: '10.0.0.77', protocol_port: 80 }
    const added = await service.make(members, 'member', second)
    await service.call('PUT', `${members}/${added.id}`, { member: { weight: 7 } })
    await service.call('PUT', `${members}?additive_only=true`, { members: [{ ...second, weight: 3 }] })
    await service.call('DELETE', `${members}/${added.id}`)
    service.confirm(id, { confirmedAt: '2099-01-01T00:00:03.000Z' })
    expect(await times()).toEqual(before)
  })

  test('are changed and deleted', async () => {
    const { id, listener, pool, member, monitor } = await tree()
    const put = (path: string, root: string, fields: object) => service.call('PUT', path, { [root]: fields })
    await expect(
      put(`/listeners/${listener.id}`, 'listener', { connection_limit: null, allowed_cidrs: null, name: 'f' }),
    ).resolves.toMatchObject({
      status: 200,
      body: { listener: { connection_limit: -1, allowed_cidrs: null, name: 'f', protocol_port: 80 } },
    })
    await expect(
      put(`/pools/${pool.id}`, 'pool', { lb_algorithm: 'SOURCE_IP', session_persistence: null }),
    ).resolves.toMatchObject({ status: 200, body: { pool: { lb_algorithm: 'SOURCE_IP', session_persistence: null } } })
    await expect(
      put(`/pools/${pool.id}/members/${member.id}`, 'member', { weight: 0, monitor_port: 9 }),
    ).resolves.toMatchObject({ status: 200, body: { member: { weight: 0, monitor_port: 9, name: 'one' } } })
    await expect(
      put(`/healthmonitors/${monitor.id}`, 'healthmonitor', { url_path: '/up', http_version: 1.1, domain_name: 'a.b' }),
    ).resolves.toMatchObject({
      status: 200,
      body: { healthmonitor: { url_path: '/up', http_version: 1.1, domain_name: 'a.b', delay: 5 } },
    })
    for (const path of [
      `/healthmonitors/${monitor.id}`,
      `/pools/${pool.id}/members/${member.id}`,
      `/pools/${pool.id}`,
      `/listeners/${listener.id}`,
    ]) {
      await expect(service.call('DELETE', path)).resolves.toMatchObject({ status: 204 })
      await expect(service.call('GET', path)).resolves.toMatchObject({ status: 404 })
    }
    await expect(service.call('DELETE', `/loadbalancers/${id}`)).resolves.toMatchObject({ status: 204 })
  })

  test('an HTTPS monitor has all that an HTTP one has', async () => {
    const { id } = await newLoadBalancer()
    const pool = await service.make('/pools', 'pool', {
      loadbalancer_id: id,
      protocol: 'HTTPS',
      lb_algorithm: 'ROUND_ROBIN',
    })
    const times = { delay: 5, timeout: 3, max_retries: 2 }
    const { id: plain } = await service.make('/healthmonitors', 'healthmonitor', {
      ...times,
      pool_id: pool.id,
      type: 'HTTPS',
    })
    const shown = { type: 'HTTPS', http_method: 'GET', url_path: '/', expected_codes: '200', http_version: null }
    const path = `/healthmonitors/${plain}`
    await expect(service.call('GET', path)).resolves.toMatchObject({ body: { healthmonitor: shown } })
    const asked = {
      http_method: 'HEAD',
      url_path: '/up',
      expected_codes: '200-204',
      http_version: 1.1,
      domain_name: 'app.example',
    }
    const put = service.call('PUT', path, { healthmonitor: asked })
    await expect(put).resolves.toMatchObject({ status: 200, body: { healthmonitor: { ...asked, type: 'HTTPS' } } })
    await expect(service.call('GET', path)).resolves.toMatchObject({ body: { healthmonitor: asked } })
  })

  test('the status tree and statistics follow the nodes’ reports', async () => {
    const { id, listener, pool, member, monitor } = await tree()
    service.confirm(id, {
      health: { [member.id]: 'down' },
      stats: [{ listenerId: listener.id, bytesIn: 10, bytesOut: 20, activeConnections: 1, totalConnections: 5 }],
    })
    const expected = {
      statuses: {
        loadbalancer: {
          id,
          name: 'web',
          provisioning_status: 'ACTIVE',
          operating_status: 'ERROR',
          listeners: [
            {
              id: listener.id,
              name: 'front',
              provisioning_status: 'ACTIVE',
              operating_status: 'ONLINE',
              pools: [
                {
                  id: pool.id,
                  name: 'back',
                  provisioning_status: 'ACTIVE',
                  operating_status: 'ERROR',
                  health_monitor: {
                    id: monitor.id,
                    name: '',
                    type: 'HTTP',
                    provisioning_status: 'ACTIVE',
                    operating_status: 'ONLINE',
                  },
                  members: [
                    {
                      id: member.id,
                      name: 'one',
                      address: '10.0.2.1',
                      protocol_port: 8080,
                      provisioning_status: 'ACTIVE',
                      operating_status: 'ERROR',
                    },
                  ],
                },
              ],
            },
          ],
        },
      },
    }
    for (const word of ['status', 'statuses'])
      expect((await service.call('GET', `/loadbalancers/${id}/${word}`)).body).toEqual(expected)
    const stats = { bytes_in: 10, bytes_out: 20, active_connections: 1, total_connections: 5, request_errors: 0 }
    expect((await service.call('GET', `/loadbalancers/${id}/stats`)).body).toEqual({ stats })
    expect((await service.call('GET', `/listeners/${listener.id}/stats`)).body).toEqual({ stats })
  })

  test('sessions are kept by our cookie, or with one of the application', async () => {
    const lb = await service.make('/loadbalancers', 'loadbalancer', { vip_subnet_id: service.ids.pool })
    const made = async (persistence: object) =>
      service.make('/pools', 'pool', {
        ...{ loadbalancer_id: lb.id, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' },
        session_persistence: persistence,
      })
    const { id } = await made({ type: 'HTTP_COOKIE' })
    const application = { type: 'APP_COOKIE', cookie_name: 'JSESSIONID' }
    expect(await made(application)).toMatchObject({ session_persistence: application })
    const stored = () => service.view.get('loadBalancer', lb.id)!.value.pools.map(({ persistence }) => persistence)
    expect(stored()).toEqual([{ type: 'cookie' }, { type: 'application-cookie', cookieName: 'JSESSIONID' }])
    await service.call('PUT', `/pools/${id}`, { pool: { session_persistence: null } })
    expect(stored()[0]).toBeNull()
  })

  test('addresses of a member are answered as they were written, and stored as they are', async () => {
    const lb = await service.make('/loadbalancers', 'loadbalancer', { vip_subnet_id: service.ids.pool })
    const pool = await service.make('/pools', 'pool', {
      ...{ loadbalancer_id: lb.id, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' },
    })
    const written = { address: '10.0.0.9', monitor_address: '0:0:0:0:0:FFFF:10.0.0.9' }
    const member = await service.make(`/pools/${pool.id}/members`, 'member', { ...written, protocol_port: 80 })
    expect(member).toMatchObject(written)
    const stored = () => service.view.get('loadBalancer', lb.id)!.value.pools[0]!.members[0]!
    expect(stored()).toMatchObject({ address: '10.0.0.9', monitorAddressText: written.monitor_address })
    const { generation } = service.view.get('loadBalancer', lb.id)!.value
    const path = `/pools/${pool.id}/members/${member.id}`
    await service.call('PUT', path, { member: { monitor_address: stored().monitorAddress } })
    expect(stored()).not.toHaveProperty('monitorAddressText')
    // Another text for the same address changes nothing for the nodes, so the generation stays.
    expect(service.view.get('loadBalancer', lb.id)!.value.generation).toBe(generation)
  })

  test('a member belongs to its pool', async () => {
    const [a, b] = [await tree(), await tree()]
    await expect(service.call('GET', `/pools/${a.pool.id}/members/${b.member.id}`)).resolves.toMatchObject({
      status: 404,
      body: { faultstring: `Member ${b.member.id} not found.` },
    })
  })
})

describe('PROMETHEUS (API 2.25)', () => {
  test('a PROMETHEUS listener has no children', async () => {
    const { id } = await newLoadBalancer({ vip_subnet_id: service.ids.subnet })
    const figures = {
      loadbalancer_id: id,
      protocol: 'PROMETHEUS',
      protocol_port: 9100,
      allowed_cidrs: ['192.0.2.0/24'],
    }
    const made = await service.make('/listeners', 'listener', figures)
    expect(await service.call('GET', `/listeners/${made.id}`)).toMatchObject({
      body: { listener: { protocol: 'PROMETHEUS', default_pool_id: null, allowed_cidrs: ['192.0.2.0/24'] } },
    })
    expect(service.view.get('loadBalancer', id)?.value).toMatchObject({
      listeners: [{ protocol: 'metrics', port: 9100, defaultPoolId: null }],
    })
    const refused = { status: 400, body: { faultstring: 'Protocol PROMETHEUS listeners cannot have child objects.' } }
    const pool = { protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' }
    expect(await service.call('POST', '/pools', { pool: { ...pool, listener_id: made.id } })).toMatchObject(refused)
    const { id: poolId } = await service.make('/pools', 'pool', { ...pool, loadbalancer_id: id })
    expect(await service.call('PUT', `/listeners/${made.id}`, { listener: { default_pool_id: poolId } })).toMatchObject(
      refused,
    )
    const l7policy = { listener_id: made.id, action: 'REJECT' }
    expect(await service.call('POST', '/l7policies', { l7policy })).toMatchObject(refused)
  })
})

describe('a listener of the native protocol tls-passthrough', () => {
  test('is shown as HTTPS, which passes TLS on, too, and stays what it is', async () => {
    const { id } = await newLoadBalancer({ vip_subnet_id: service.ids.subnet })
    const pool = { protocol: 'HTTPS', lb_algorithm: 'ROUND_ROBIN', loadbalancer_id: id }
    const [one, other] = [await service.make('/pools', 'pool', pool), await service.make('/pools', 'pool', pool)]
    const fields = { loadbalancer_id: id, protocol: 'HTTPS', protocol_port: 443, default_pool_id: one.id }
    const made = await service.make('/listeners', 'listener', fields)
    const route = httpRoute.parse({
      ...{ id: crypto.randomUUID(), name: 'shop', description: '', createdAt: '2026-01-01T00:00:00.000Z' },
      ...{ updatedAt: null, tags: [] },
      conditions: [{ on: 'host', compare: 'exact', values: ['shop.example.com'] }],
      action: { type: 'forward', pools: [{ poolId: other.id }] },
    })
    await service.admission.changeLoadBalancer(id, ({ listeners, pools }) => ({
      listeners: listeners.map((each) => ({ ...each, protocol: 'tls-passthrough', routes: [route] })),
      pools: pools.map((each) => ({ ...each, protocol: 'tcp-proxy' })),
    }))
    expect(await service.call('GET', `/listeners/${made.id}`)).toMatchObject({
      body: { listener: { protocol: 'HTTPS', default_pool_id: one.id, l7policies: [], sni_container_refs: [] } },
    })
    const changed = { listener: { name: 'renamed', timeout_tcp_inspect: 2_000 } }
    expect(await service.call('PUT', `/listeners/${made.id}`, changed)).toMatchObject({ status: 200 })
    await service.make('/listeners', 'listener', { ...fields, protocol: 'TCP', protocol_port: 444 })
    const l7policy = { listener_id: made.id, action: 'REJECT' }
    expect(await service.call('POST', '/l7policies', { l7policy })).toMatchObject({ status: 501 })
    expect(service.view.get('loadBalancer', id)?.value).toMatchObject({
      listeners: [
        { name: 'renamed', protocol: 'tls-passthrough', routes: [route], timeouts: { inspectMs: 2_000 } },
        { protocol: 'tcp-proxy' },
      ],
      pools: [{ protocol: 'tcp-proxy' }, { protocol: 'tcp-proxy' }],
    })
  })

  test('may have its port with one that ends TLS, unless its default pool takes all that no route takes', async () => {
    const { id } = await newLoadBalancer({ vip_subnet_id: service.ids.subnet })
    const pool = await service.make('/pools', 'pool', {
      ...{ protocol: 'HTTPS', lb_algorithm: 'ROUND_ROBIN', loadbalancer_id: id },
    })
    const fields = { loadbalancer_id: id, protocol: 'HTTPS', protocol_port: 443 }
    const made = await service.make('/listeners', 'listener', { ...fields, default_pool_id: pool.id })
    await service.admission.changeLoadBalancer(id, ({ listeners }) => ({
      listeners: listeners.map((each) => ({ ...each, protocol: 'tls-passthrough' })),
    }))
    const ending = { ...fields, protocol: 'TERMINATED_HTTPS', default_tls_container_ref: await newCertificate() }
    expect(await service.call('POST', '/listeners', { listener: ending })).toMatchObject({ status: 400 })
    const none = { listener: { default_pool_id: null } }
    expect(await service.call('PUT', `/listeners/${made.id}`, none)).toMatchObject({ status: 200 })
    await service.make('/listeners', 'listener', ending)
    expect(await service.call('POST', '/listeners', { listener: ending })).toMatchObject({ status: 409 })
    const renamed = { listener: { name: 'renamed' } }
    expect(await service.call('PUT', `/listeners/${made.id}`, renamed)).toMatchObject({ status: 200 })
  })
})

describe('a listener of the native protocol tls', () => {
  test('is shown as TERMINATED_HTTPS, and stays what it is', async () => {
    const { id } = await newLoadBalancer()
    const ref = await newCertificate()
    const fields = { loadbalancer_id: id, protocol: 'TERMINATED_HTTPS', default_tls_container_ref: ref }
    const made = await service.make('/listeners', 'listener', { ...fields, protocol_port: 853 })
    const pool = await service.make('/pools', 'pool', {
      ...{ protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN', loadbalancer_id: id },
    })
    await service.admission.changeLoadBalancer(id, ({ listeners, pools }) => ({
      listeners: listeners.map((each) => ({ ...each, protocol: 'tls', defaultPoolId: pool.id })),
      pools: pools.map((each) => ({ ...each, protocol: 'tcp-proxy' })),
    }))
    expect(await service.call('GET', `/listeners/${made.id}`)).toMatchObject({
      body: { listener: { protocol: 'TERMINATED_HTTPS', default_pool_id: pool.id, default_tls_container_ref: ref } },
    })
    const changed = { listener: { name: 'renamed' } }
    expect(await service.call('PUT', `/listeners/${made.id}`, changed)).toMatchObject({ status: 200 })
    const l7policy = { listener_id: made.id, action: 'REJECT' }
    expect(await service.call('POST', '/l7policies', { l7policy })).toMatchObject({ status: 501 })
    expect(service.view.get('loadBalancer', id)?.value).toMatchObject({
      listeners: [{ name: 'renamed', protocol: 'tls', defaultPoolId: pool.id, tls: { certificateIds: [ref] } }],
      pools: [{ protocol: 'tcp-proxy' }],
    })
  })
})

describe('SCTP (API 2.23)', () => {
  test('listeners share a port with those of TCP and UDP, with pools of their own', async () => {
    const { id } = await newLoadBalancer({ vip_subnet_id: service.ids.subnet })
    const made = []
    for (const protocol of ['TCP', 'UDP', 'SCTP'])
      made.push(
        await service.make('/listeners', 'listener', {
          loadbalancer_id: id,
          protocol,
          protocol_port: 3868,
          name: protocol,
        }),
      )
    const twice = { loadbalancer_id: id, protocol: 'SCTP', protocol_port: 3868 }
    expect(await service.call('POST', '/listeners', { listener: twice })).toMatchObject({
      status: 409,
      body: {
        faultstring: 'Another Listener on this Load Balancer is already using protocol SCTP and protocol_port 3868',
      },
    })
    const pool = await service.make('/pools', 'pool', {
      listener_id: made[2]!.id,
      protocol: 'SCTP',
      lb_algorithm: 'ROUND_ROBIN',
      session_persistence: { type: 'SOURCE_IP', persistence_timeout: 60 },
    })
    expect(await service.call('GET', `/listeners/${made[2]!.id}`)).toMatchObject({
      body: { listener: { protocol: 'SCTP', protocol_port: 3868, default_pool_id: pool.id } },
    })
    expect(await service.call('GET', `/pools/${pool.id}`)).toMatchObject({
      body: { pool: { protocol: 'SCTP', session_persistence: { type: 'SOURCE_IP', persistence_timeout: 60 } } },
    })
    expect(service.view.get('loadBalancer', id)?.value).toMatchObject({
      listeners: [{ protocol: 'tcp' }, { protocol: 'udp' }, { protocol: 'sctp' }],
      pools: [{ protocol: 'sctp' }],
    })
  })

  test('members are probed by SCTP', async () => {
    const { id } = await newLoadBalancer()
    const pool = await service.make('/pools', 'pool', {
      loadbalancer_id: id,
      protocol: 'SCTP',
      lb_algorithm: 'ROUND_ROBIN',
    })
    const monitor = { pool_id: pool.id, type: 'SCTP', delay: 5, timeout: 2, max_retries: 2 }
    const made = await service.make('/healthmonitors', 'healthmonitor', monitor)
    expect(await service.call('GET', `/healthmonitors/${made.id}`)).toMatchObject({
      body: { healthmonitor: { type: 'SCTP', http_method: null, url_path: null, expected_codes: null } },
    })
    expect(service.view.get('loadBalancer', id)?.value).toMatchObject({ pools: [{ monitor: { type: 'sctp' } }] })
    const change = { healthmonitor: { url_path: '/x' } }
    expect(await service.call('PUT', `/healthmonitors/${made.id}`, change)).toMatchObject({
      status: 400,
      body: { faultstring: expect.stringContaining('url_path is not a valid option for health monitors of type SCTP') },
    })
  })

  test('members are probed over TCP or HTTP at a port of their own', async () => {
    const { id } = await newLoadBalancer()
    const pool = await service.make('/pools', 'pool', {
      loadbalancer_id: id,
      protocol: 'SCTP',
      lb_algorithm: 'ROUND_ROBIN',
    })
    const member = (fields: object) =>
      service.call('POST', `/pools/${pool.id}/members`, { member: { protocol_port: 3868, ...fields } })
    expect((await member({ address: '10.0.0.11', monitor_port: 8080 })).status).toBe(201)
    const monitor = (type: string) =>
      service.call('POST', '/healthmonitors', {
        healthmonitor: { pool_id: pool.id, type, delay: 5, timeout: 2, max_retries: 2 },
      })
    expect(await monitor('UDP-CONNECT')).toMatchObject({ status: 501 })
    expect(await monitor('PING')).toMatchObject({
      status: 400,
      body: {
        faultstring:
          'Validation failure: The associated pool protocol is SCTP, so only a UDP-CONNECT/SCTP/TCP/HTTP health monitor is supported.',
      },
    })
    expect(await monitor('TCP')).toMatchObject({ status: 201 })
    expect(await member({ address: '10.0.0.12' })).toMatchObject({
      status: 400,
      body: { faultstring: expect.stringContaining("the members' port speaks SCTP") },
    })
  })
})

describe('TERMINATED_HTTPS', () => {
  test('a listener has the certificates of its references, and prints them', async () => {
    const { id } = await newLoadBalancer()
    const ref = await newCertificate()
    const made = await service.make('/listeners', 'listener', {
      ...{ loadbalancer_id: id, protocol: 'TERMINATED_HTTPS', protocol_port: 443, default_tls_container_ref: ref },
    })
    expect(made).toMatchObject({
      protocol: 'TERMINATED_HTTPS',
      default_tls_container_ref: ref,
      sni_container_refs: [],
      tls_versions: ['TLSv1.2', 'TLSv1.3'],
      alpn_protocols: ['h2', 'http/1.1'],
    })
    const path = `/listeners/${made.id}`
    const change = { tls_versions: ['TLSv1.3'], alpn_protocols: ['http/1.1'] }
    expect(await service.call('PUT', path, { listener: change })).toMatchObject({ status: 200 })
    expect(await service.call('GET', path)).toMatchObject({ body: { listener: change } })
    expect(service.view.get('loadBalancer', id)?.value.listeners).toMatchObject([
      {
        protocol: 'https',
        tls: { certificateIds: [ref], unknownNames: 'default', minVersion: '1.3', alpn: ['http/1.1'] },
      },
    ])
    // Back to the defaults.
    expect(await service.call('PUT', path, { listener: { tls_versions: null, alpn_protocols: null } })).toMatchObject({
      body: { listener: { tls_versions: ['TLSv1.2', 'TLSv1.3'], alpn_protocols: ['h2', 'http/1.1'] } },
    })
  })

  test('listeners and pools have the ciphers of their text, and print the usual ones where they have none', async () => {
    const { id } = await newLoadBalancer()
    const listener = await service.make('/listeners', 'listener', {
      ...{ loadbalancer_id: id, protocol: 'TERMINATED_HTTPS', protocol_port: 443 },
      ...{ default_tls_container_ref: await newCertificate() },
    })
    const pool = await service.make('/pools', 'pool', {
      ...{ loadbalancer_id: id, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN', tls_enabled: true },
    })
    const model = () => service.view.get('loadBalancer', id)!.value
    const usual = DEFAULT_CIPHERS.join(':')
    // Octavia's own default.
    const text =
      'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:' +
      'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:' +
      'ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES128-GCM-SHA256:' +
      'DHE-RSA-AES256-GCM-SHA384:DHE-RSA-CHACHA20-POLY1305'
    const set = async (tls_ciphers: string | null) => {
      await service.call('PUT', `/listeners/${listener.id}`, { listener: { tls_ciphers } })
      await service.call('PUT', `/pools/${pool.id}`, { pool: { tls_ciphers } })
      const [first, second] = await Promise.all([
        service.call('GET', `/listeners/${listener.id}`),
        service.call('GET', `/pools/${pool.id}`),
      ])
      return [first, second].map(({ body }) => body)
    }
    expect([listener.tls_ciphers, pool.tls_ciphers]).toEqual([usual, usual])
    expect(await set(text)).toMatchObject([{ listener: { tls_ciphers: text } }, { pool: { tls_ciphers: text } }])
    expect(model()).toMatchObject({
      listeners: [{ tls: { ciphers: text.split(':') } }],
      pools: [{ tls: { ciphers: text.split(':') } }],
    })
    // What is printed can be sent, and null is the default again.
    for (const other of [usual, null]) {
      await set(text)
      expect(await set(other)).toMatchObject([{ listener: { tls_ciphers: usual } }, { pool: { tls_ciphers: usual } }])
      expect(model()).toMatchObject({ listeners: [{ tls: { ciphers: null } }] })
      expect(model().pools[0]?.tls).not.toHaveProperty('ciphers')
    }
  })

  test('a listener tells clients to insist on TLS', async () => {
    const { id } = await newLoadBalancer()
    const made = await service.make('/listeners', 'listener', {
      ...{ loadbalancer_id: id, protocol: 'TERMINATED_HTTPS', protocol_port: 443 },
      ...{ default_tls_container_ref: await newCertificate(), hsts_max_age: 60, hsts_preload: true },
    })
    expect(made).toMatchObject({ hsts_max_age: 60, hsts_include_subdomains: false, hsts_preload: true })
    expect(service.view.get('loadBalancer', id)?.value.listeners).toMatchObject([
      { tls: { hsts: { maxAgeSeconds: 60, includeSubdomains: false, preload: true } } },
    ])
    const off = { hsts_max_age: null, hsts_preload: false }
    expect(await service.call('PUT', `/listeners/${made.id}`, { listener: off })).toMatchObject({
      body: { listener: { ...off, hsts_include_subdomains: false } },
    })
  })

  test('without a default, names that no certificate has are refused', async () => {
    const { id } = await newLoadBalancer()
    const refs = [await newCertificate(), await newCertificate()]
    const made = await service.make('/listeners', 'listener', {
      ...{ loadbalancer_id: id, protocol: 'TERMINATED_HTTPS', protocol_port: 443, sni_container_refs: refs },
    })
    expect(made).toMatchObject({ default_tls_container_ref: null, sni_container_refs: refs })
    expect(service.view.get('loadBalancer', id)?.value.listeners).toMatchObject([
      { tls: { certificateIds: refs, unknownNames: 'refuse' } },
    ])
    // Another change of the load balancer leaves it as it is.
    await service.make('/listeners', 'listener', { loadbalancer_id: id, protocol: 'TCP', protocol_port: 80 })
    expect(await service.call('GET', `/listeners/${made.id}`)).toMatchObject({
      body: { listener: { default_tls_container_ref: null, sni_container_refs: refs } },
    })
  })

  test('a listener asks clients for certificates, and tells members of them', async () => {
    const { id } = await newLoadBalancer()
    const authority = issueCertificate({ isAuthority: true })
    const { id: ca } = await service.admission.createCertificate({
      ...{ projectId: service.ids.project, name: 'clients', chain: authority.certificate },
    })
    const asks = { client_authentication: 'OPTIONAL', client_ca_tls_container_ref: ca }
    const headers = { 'X-SSL-Client-CN': 'true', 'X-SSL-Client-Verify': 'false', 'X-Forwarded-For': 'true' }
    const made = await service.make('/listeners', 'listener', {
      ...{ loadbalancer_id: id, protocol: 'TERMINATED_HTTPS', protocol_port: 443 },
      ...{ default_tls_container_ref: await newCertificate(), insert_headers: headers, ...asks },
    })
    expect(made).toMatchObject({ ...asks, insert_headers: headers })
    const model = () => service.view.get('loadBalancer', id)?.value.listeners[0]
    expect(model()).toMatchObject({
      insertHeaders: ['x-ssl-client-cn', 'x-forwarded-for'],
      tls: { clientCertificates: { caCertificateId: ca, required: false } },
    })
    const path = `/listeners/${made.id}`
    await service.call('PUT', path, { listener: { client_authentication: 'MANDATORY' } })
    expect(model()).toMatchObject({ tls: { clientCertificates: { caCertificateId: ca, required: true } } })
    expect(await service.call('PUT', path, { listener: { client_authentication: 'NONE' } })).toMatchObject({
      body: { listener: { client_authentication: 'NONE', client_ca_tls_container_ref: null } },
    })
    expect(model()).toMatchObject({ tls: { clientCertificates: null } })
  })

  test('a listener looks clients up in lists of revoked certificates', async () => {
    const { id } = await newLoadBalancer()
    const authority = issueCertificate({ isAuthority: true })
    const stored = async (chain: string) =>
      (await service.admission.createCertificate({ projectId: service.ids.project, name: 'clients', chain })).id
    const [ca, crl] = [await stored(authority.certificate), await stored(revocationList(authority))]
    const refs = { client_ca_tls_container_ref: ca, client_crl_container_ref: crl }
    const made = await service.make('/listeners', 'listener', {
      ...{ loadbalancer_id: id, protocol: 'TERMINATED_HTTPS', protocol_port: 443 },
      ...{ default_tls_container_ref: await newCertificate(), client_authentication: 'MANDATORY', ...refs },
    })
    expect(made).toMatchObject(refs)
    const clients = () => service.view.get('loadBalancer', id)?.value.listeners[0]?.tls?.clientCertificates
    expect(clients()).toEqual({ caCertificateId: ca, crlCertificateId: crl, required: true })
    const put = (change: object) => service.call('PUT', `/listeners/${made.id}`, { listener: change })
    const foreign = await stored(revocationList(issueCertificate({ isAuthority: true })))
    expect(await put({ client_crl_container_ref: foreign })).toMatchObject({
      status: 400,
      body: { faultstring: expect.stringMatching(/^Validation failure: client_crl_container_ref: names no list that/) },
    })
    expect(await put({ client_crl_container_ref: null })).toMatchObject({
      body: { listener: { client_ca_tls_container_ref: ca, client_crl_container_ref: null } },
    })
    expect(clients()).toEqual({ caCertificateId: ca, required: true })
    await put({ client_crl_container_ref: crl })
    expect(await put({ client_authentication: 'NONE' })).toMatchObject({
      body: { listener: { client_ca_tls_container_ref: null, client_crl_container_ref: null } },
    })
    expect(clients()).toBeNull()
  })

  test('a pool speaks TLS with its members, behind TCP listeners too, and prints how', async () => {
    const { id } = await newLoadBalancer()
    const authority = issueCertificate({ isAuthority: true })
    const { id: ca } = await service.admission.createCertificate({
      ...{ projectId: service.ids.project, name: 'inner', chain: authority.certificate },
    })
    const own = await newCertificate()
    const refs = { ca_tls_container_ref: ca, tls_container_ref: own }
    const made = await service.make('/pools', 'pool', {
      ...{ loadbalancer_id: id, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN', tls_enabled: true },
      ...refs,
    })
    const usual = { tls_versions: ['TLSv1.2', 'TLSv1.3'], alpn_protocols: ['h2', 'http/1.1'] }
    expect(made).toMatchObject({ tls_enabled: true, ...refs, ...usual })
    await service.make('/listeners', 'listener', {
      ...{ loadbalancer_id: id, protocol: 'TCP', protocol_port: 80, default_pool_id: made.id },
    })
    const model = () => service.view.get('loadBalancer', id)?.value
    expect(model()?.listeners).toMatchObject([{ protocol: 'tcp-proxy' }])
    expect(model()?.pools).toMatchObject([
      { tls: { caCertificateId: ca, clientCertificateId: own, serverName: null, minVersion: '1.2' } },
    ])
    const change = { tls_versions: ['TLSv1.3'], alpn_protocols: ['http/1.1'], tls_container_ref: null }
    expect(await service.call('PUT', `/pools/${made.id}`, { pool: change })).toMatchObject({ body: { pool: change } })
    const off = { tls_enabled: false, ca_tls_container_ref: null, tls_versions: null, alpn_protocols: null }
    expect(await service.call('PUT', `/pools/${made.id}`, { pool: { tls_enabled: false } })).toMatchObject({
      body: { pool: off },
    })
    expect(model()?.pools[0]).not.toHaveProperty('tls')
    expect(model()?.listeners).toMatchObject([{ protocol: 'tcp' }])
  })

  test('a pool looks members up in lists of revoked certificates, and forgets them without TLS', async () => {
    const { id } = await newLoadBalancer()
    const authority = issueCertificate({ isAuthority: true })
    const stored = async (chain: string) =>
      (await service.admission.createCertificate({ projectId: service.ids.project, name: 'members', chain })).id
    const [ca, crl] = [await stored(authority.certificate), await stored(revocationList(authority))]
    const refs = { ca_tls_container_ref: ca, crl_container_ref: crl }
    const wanted = { loadbalancer_id: id, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN', tls_enabled: true }
    const needsCa = { status: 400, body: { faultstring: expect.stringContaining('A CA reference is required to') } }
    expect(await service.call('POST', '/pools', { pool: { ...wanted, crl_container_ref: crl } })).toMatchObject(needsCa)
    const made = await service.make('/pools', 'pool', { ...wanted, ...refs })
    expect(made).toMatchObject(refs)
    const model = () => service.view.get('loadBalancer', id)?.value.pools[0]?.tls
    expect(model()).toMatchObject({ caCertificateId: ca, crlCertificateId: crl })
    const put = (change: object) => service.call('PUT', `/pools/${made.id}`, { pool: change })
    const foreign = await stored(revocationList(issueCertificate({ isAuthority: true })))
    expect(await put({ crl_container_ref: foreign })).toMatchObject({
      status: 400,
      body: { faultstring: expect.stringMatching(/^Validation failure: crl_container_ref: names no list that/) },
    })
    expect(await put({ ca_tls_container_ref: null })).toMatchObject({
      status: 400,
      body: {
        faultstring:
          'Validation failure: A CA reference cannot be removed when a certificate revocation list is present.',
      },
    })
    expect(await put({ crl_container_ref: null })).toMatchObject({
      body: { pool: { ca_tls_container_ref: ca, crl_container_ref: null } },
    })
    expect(model()).not.toHaveProperty('crlCertificateId')
    expect(await put({ crl_container_ref: crl })).toMatchObject({ body: { pool: refs } })
    await put({ tls_enabled: false })
    expect(await put({ tls_enabled: true })).toMatchObject({
      body: { pool: { tls_enabled: true, ca_tls_container_ref: null, crl_container_ref: null } },
    })
  })

  test('others print no versions and no protocols', async () => {
    const { id } = await newLoadBalancer()
    expect(
      await service.make('/listeners', 'listener', { loadbalancer_id: id, protocol: 'HTTP', protocol_port: 80 }),
    ).toMatchObject({
      default_tls_container_ref: null,
      sni_container_refs: [],
      tls_versions: null,
      alpn_protocols: null,
    })
  })
})

describe('the whole set of members', () => {
  const poolWith = async (members: readonly object[]) => {
    const { id } = await newLoadBalancer()
    const pool = await service.make('/pools', 'pool', {
      loadbalancer_id: id,
      protocol: 'TCP',
      lb_algorithm: 'ROUND_ROBIN',
    })
    const put = (set: readonly object[], query = '') =>
      service.call('PUT', `/pools/${pool.id}/members${query}`, { members: set })
    await expect(put(members)).resolves.toMatchObject({ status: 202, body: undefined })
    return { lb: id, pool: pool.id, put }
  }
  const addresses = async (pool: string) => {
    const { body } = await service.call('GET', `/pools/${pool}/members?fields=address`)
    return (body as { members: { address: string }[] }).members.map(({ address }) => address)
  }
  const member = (address: string, fields: object = {}) => ({ address, protocol_port: 80, ...fields })

  test('replaces, adds and removes', async () => {
    const { pool, put } = await poolWith([member('10.0.3.1'), member('10.0.3.2')])
    await put([member('10.0.3.2'), member('10.0.3.3')])
    expect(await addresses(pool)).toEqual(['10.0.3.2', '10.0.3.3'])
    await put([member('10.0.3.4')], '?additive_only=True')
    expect(await addresses(pool)).toEqual(['10.0.3.2', '10.0.3.3', '10.0.3.4'])
    await put([])
    expect(await addresses(pool)).toEqual([])
  })

  test('a set that changes nothing writes nothing', async () => {
    const { lb, put } = await poolWith([member('10.0.3.1', { name: 'a' })])
    const before = service.view.get('loadBalancer', lb)
    await expect(put([member('10.0.3.1')])).resolves.toMatchObject({ status: 202 })
    expect(service.view.get('loadBalancer', lb)?.revision).toBe(before?.revision)
  })

  test('adds, changes and takes away the subnet of members that are there; without one it stays', async () => {
    const network = await service.admission.createNetwork({
      projectId: service.ids.project,
      name: 'second',
      description: '',
      returnPath: 'snat',
      segment: { physicalNetwork: 'physnet1', vlan: 102 },
    })
    const second = await service.admission.addSubnet(network.id, {
      name: 'second-v4',
      description: '',
      cidr: '10.8.0.0/24',
      gatewayIp: null,
      nodeRange: null,
    })
    const { pool, put } = await poolWith([member('10.0.3.1')])
    const subnetOf = async () => {
      const { body } = await service.call('GET', `/pools/${pool}/members?fields=subnet_id`)
      return (body as { members: { subnet_id: string | null }[] }).members[0]?.subnet_id
    }
    expect(await subnetOf()).toBeNull()
    await expect(put([member('10.0.3.1', { subnet_id: service.ids.subnet })])).resolves.toMatchObject({ status: 202 })
    expect(await subnetOf()).toBe(service.ids.subnet)
    await expect(put([member('10.0.3.1', { weight: 5 })])).resolves.toMatchObject({ status: 202 })
    expect(await subnetOf()).toBe(service.ids.subnet)
    await expect(put([member('10.0.3.1', { subnet_id: second.id })])).resolves.toMatchObject({
      status: 400,
      body: { faultstring: expect.stringMatching(/^Validation failure: .*10\.0\.3\.1 is not in 10\.8\.0\.0\/24/) },
    })
    await expect(put([member('10.0.3.1', { subnet_id: NOBODY })])).resolves.toMatchObject({
      status: 400,
      body: { faultstring: `Subnet ${NOBODY} not found.` },
    })
    expect(await subnetOf()).toBe(service.ids.subnet)
    await expect(put([member('10.0.3.1', { subnet_id: null })])).resolves.toMatchObject({ status: 202 })
    expect(await subnetOf()).toBeNull()
  })

  test('a thousand members are one write', async () => {
    const { lb, pool, put } = await poolWith([])
    const { generation } = service.view.get('loadBalancer', lb)?.value ?? { generation: 0 }
    const thousand = Array.from({ length: 1000 }, (_, index) =>
      member(`10.0.${40 + Math.floor(index / 250)}.${(index % 250) + 1}`, { name: `member-${index}`, weight: 10 }),
    )
    await expect(put(thousand)).resolves.toMatchObject({ status: 202 })
    expect(service.view.get('loadBalancer', lb)?.value.generation).toBe(generation + 1)
    expect(await addresses(pool)).toHaveLength(1000)
  })
})

describe('lists', () => {
  test('are pinned to the project; administrators see all and may narrow', async () => {
    const { id } = await newLoadBalancer({ name: 'scoped' })
    const ids = async (who: Who, query = '') => {
      const { body } = await service.call('GET', `/loadbalancers?name=scoped${query}`, undefined, who)
      return (body as { loadbalancers?: { id: string }[] }).loadbalancers?.map((lb) => lb.id)
    }
    expect(await ids('reader')).toEqual([id])
    expect(await ids('stranger')).toEqual([])
    expect(await ids('admin')).toEqual([id])
    expect(await ids('admin', `&project_id=${service.ids.otherProject}`)).toEqual([])
    expect(await ids('admin', `&project_id=${service.ids.project}`)).toEqual([id])
    await expect(service.call('GET', `/loadbalancers?project_id=${service.ids.otherProject}`)).resolves.toMatchObject({
      status: 403,
      body: { faultstring: 'Policy does not allow this request to be performed.' },
    })
  })

  test('filter by parents, and page with links', async () => {
    const { id } = await newLoadBalancer({ name: 'paged' })
    const other = await newLoadBalancer({ name: 'unpaged' })
    for (const port of [1, 2, 3])
      await service.make('/listeners', 'listener', { loadbalancer_id: id, protocol: 'UDP', protocol_port: port })
    await service.make('/listeners', 'listener', { loadbalancer_id: other.id, protocol: 'UDP', protocol_port: 9 })
    const first = await service.call('GET', `/listeners?loadbalancer_id=${id}&limit=2&sort=protocol_port:desc`)
    const { listeners, listeners_links: links } = first.body as {
      listeners: { protocol_port: number; id: string }[]
      listeners_links: { rel: string; href: string }[]
    }
    expect(listeners.map(({ protocol_port }) => protocol_port)).toEqual([3, 2])
    expect(links.map(({ rel }) => rel)).toEqual(['next'])
    const next = new URL(links[0]?.href ?? '')
    expect(next.origin + next.pathname).toBe('http://lb.example/load-balancer/v2/lbaas/listeners')
    const second = await service.call('GET', `/listeners${next.search}`)
    expect(second.body).toMatchObject({ listeners: [{ protocol_port: 1 }], listeners_links: [{ rel: 'previous' }] })
  })

  test('of things that do not exist here are empty, under the keys that clients read', async () => {
    const empty: readonly [string, Who, object][] = [
      ['/l7policies', 'reader', { l7policies: [], l7policies_links: [] }],
      ['/v2/octavia/amphorae', 'admin', { amphorae: [], amphorae_links: [] }],
    ]
    for (const [path, who, body] of empty)
      await expect(service.call('GET', path, undefined, who)).resolves.toMatchObject({ status: 200, body })
  })

  test('of providers show the fields that are asked for', async () => {
    const { body } = await service.call('GET', '/providers?fields=name')
    expect((body as { providers: object[] }).providers[0]).toEqual({ name: 'amphora' })
  })

  test('of providers hold the names that clients send', async () => {
    const { body } = await service.call('GET', '/providers')
    expect((body as { providers: { name: string }[] }).providers.map(({ name }) => name)).toEqual([
      'amphora',
      'octavia',
      'amphorav2',
      'spout',
    ])
  })
})

describe('quotas', () => {
  const limits = {
    loadbalancer: 100,
    load_balancer: 100,
    member: 5000,
    health_monitor: 500,
    l7policy: 1000,
    l7rule: 100_000,
  }

  test('are shown in both spellings; `defaults` is a project of its own', async () => {
    await expect(service.call('GET', `/quotas/${service.ids.project}`)).resolves.toMatchObject({
      status: 200,
      body: { quota: { project_id: service.ids.project, ...limits } },
    })
    await expect(service.call('GET', '/quotas/defaults')).resolves.toMatchObject({ body: { quota: limits } })
    await expect(service.call('GET', `/quotas/${service.ids.project}/default`)).resolves.toMatchObject({
      body: { quota: limits },
    })
  })

  test('are changed and reset by administrators alone', async () => {
    const path = `/quotas/${service.ids.otherProject}`
    const quota = { load_balancer: 7, pool: -1 }
    await expect(service.call('PUT', path, { quota })).resolves.toMatchObject({ status: 403 })
    await expect(service.call('PUT', path, { quota }, 'admin')).resolves.toMatchObject({
      status: 202,
      body: { quota: { loadbalancer: 7, load_balancer: 7, pool: 1_000_000, member: 5000 } },
    })
    await expect(service.call('GET', '/quotas', undefined, 'admin')).resolves.toMatchObject({
      body: { quotas: [{ project_id: service.ids.otherProject, loadbalancer: 7 }] },
    })
    await expect(service.call('PUT', path, { quota: { pool: null } }, 'admin')).resolves.toMatchObject({
      body: { quota: { loadbalancer: 7, pool: 500 } },
    })
    await expect(service.call('DELETE', path, undefined, 'admin')).resolves.toMatchObject({
      status: 202,
      body: undefined,
    })
    await expect(service.call('GET', path, undefined, 'admin')).resolves.toMatchObject({
      body: { quota: { loadbalancer: 100 } },
    })
    await expect(service.call('GET', '/quotas', undefined, 'admin')).resolves.toMatchObject({ body: { quotas: [] } })
  })

  test('of L7 policies and rules alone are listed, follow each other, and are reset', async () => {
    const path = `/quotas/${service.ids.otherProject}`
    const set = (quota: object) => service.call('PUT', path, { quota }, 'admin')
    await expect(set({ l7policy: 20 })).resolves.toMatchObject({ body: { quota: { l7policy: 20, l7rule: 100_000 } } })
    await expect(set({ l7policy: 5000 })).resolves.toMatchObject({ body: { quota: { l7rule: 500_000 } } })
    await expect(set({ l7rule: 3 })).resolves.toMatchObject({ body: { quota: { l7policy: 5000, l7rule: 3 } } })
    await expect(set({ l7rule: -1 })).resolves.toMatchObject({ body: { quota: { l7rule: 1_000_000 } } })
    await expect(set({ l7rule: -2 })).resolves.toMatchObject({
      status: 400,
      body: {
        faultstring: "Invalid input for field/attribute l7rule. Value: '-2'. Value should be greater or equal to -1",
      },
    })
    await expect(service.call('GET', '/quotas', undefined, 'admin')).resolves.toMatchObject({
      body: { quotas: [{ project_id: service.ids.otherProject, l7policy: 5000 }] },
    })
    await service.call('DELETE', path, undefined, 'admin')
    await expect(service.call('GET', path, undefined, 'admin')).resolves.toMatchObject({
      body: { quota: { l7policy: 1000, l7rule: 100_000 } },
    })
    await expect(service.call('GET', '/quotas', undefined, 'admin')).resolves.toMatchObject({ body: { quotas: [] } })
  })

  test('are reported in Octavia’s words', async () => {
    const before = service.admission.quotaOf(service.ids.project)
    await service.admission.setQuota(service.ids.project, { loadBalancers: before.used.loadBalancers })
    const reply = await service.call('POST', '/loadbalancers', { loadbalancer: { vip_subnet_id: service.ids.pool } })
    await service.admission.setQuota(service.ids.project, { loadBalancers: before.limits.loadBalancers })
    expect(reply).toMatchObject({
      status: 403,
      body: { faultcode: 'Client', faultstring: 'Quota has been met for resources: Load Balancer' },
    })
  })
})

describe('who may not', () => {
  test.each<[Who, 'GET' | 'POST' | 'PUT' | 'DELETE', number]>([
    ['reader', 'GET', 200],
    ['reader', 'PUT', 403],
    ['reader', 'DELETE', 403],
    ['stranger', 'GET', 403],
    ['stranger', 'PUT', 403],
    ['stranger', 'DELETE', 403],
    ['unscoped', 'GET', 403],
    ['admin', 'GET', 200],
  ])('%s %s somebody’s load balancer: %i', async (who, method, status) => {
    const { id } = await newLoadBalancer()
    const body = method === 'PUT' ? { loadbalancer: { name: 'x' } } : undefined
    await expect(service.call(method, `/loadbalancers/${id}`, body, who)).resolves.toMatchObject({ status })
  })

  test('another project’s objects are forbidden in Octavia’s words, unknown ones are not found', async () => {
    const lb = await newLoadBalancer()
    const listener = await service.make('/listeners', 'listener', {
      loadbalancer_id: lb.id,
      protocol: 'TCP',
      protocol_port: 80,
    })
    const pool = await service.make('/pools', 'pool', {
      listener_id: listener.id,
      protocol: 'TCP',
      lb_algorithm: 'ROUND_ROBIN',
    })
    const member = await service.make(`/pools/${pool.id}/members`, 'member', { address: '10.0.6.1', protocol_port: 80 })
    const probe = { type: 'TCP', delay: 5, timeout: 3, max_retries: 3 }
    const monitor = await service.make('/healthmonitors', 'healthmonitor', { pool_id: pool.id, ...probe })
    const before = service.view.get('loadBalancer', lb.id)
    const requests: readonly ['GET' | 'POST' | 'PUT' | 'DELETE', string, object?][] = [
      ['GET', `/loadbalancers/${lb.id}/status`],
      ['GET', `/loadbalancers/${lb.id}/stats`],
      ['PUT', `/loadbalancers/${lb.id}/failover`],
      ['DELETE', `/loadbalancers/${lb.id}?cascade=true`],
      ...[
        [`/listeners/${listener.id}`, 'listener'],
        [`/pools/${pool.id}`, 'pool'],
        [`/pools/${pool.id}/members/${member.id}`, 'member'],
        [`/healthmonitors/${monitor.id}`, 'healthmonitor'],
      ].flatMap(([path = '', root = '']): [['GET', string], ['PUT', string, object], ['DELETE', string]] => [
        ['GET', path],
        ['PUT', path, { [root]: { name: 'mine' } }],
        ['DELETE', path],
      ]),
      ['GET', `/listeners/${listener.id}/stats`],
      ['POST', '/listeners', { listener: { loadbalancer_id: lb.id, protocol: 'TCP', protocol_port: 81 } }],
      ['POST', '/pools', { pool: { loadbalancer_id: lb.id, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' } }],
      ['POST', '/healthmonitors', { healthmonitor: { pool_id: pool.id, ...probe } }],
      ['GET', `/pools/${pool.id}/members`],
      ['POST', `/pools/${pool.id}/members`, { member: { address: '10.0.6.2', protocol_port: 80 } }],
      ['PUT', `/pools/${pool.id}/members`, { members: [] }],
    ]
    for (const [method, path, body] of requests) {
      const refused = await service.call(method, path, body, 'stranger')
      expect([method, path, refused.status, refused.body]).toEqual([
        method,
        path,
        403,
        {
          faultcode: 'Client',
          faultstring: 'Policy does not allow this request to be performed.',
          debuginfo: null,
        },
      ])
    }
    expect(service.view.get('loadBalancer', lb.id)).toEqual(before)
    for (const path of ['loadbalancers', 'listeners', 'pools', 'healthmonitors', `pools/${pool.id}/members`])
      expect(await service.call('GET', `/${path}/${NOBODY}`)).toMatchObject({ status: 404 })
    const lists = await Promise.all(
      [`/loadbalancers?id=${lb.id}`, `/listeners?loadbalancer_id=${lb.id}`, `/pools?id=${pool.id}`].map((path) =>
        service.call('GET', path, undefined, 'stranger'),
      ),
    )
    for (const { status, body } of lists) {
      expect(status).toBe(200)
      expect(Object.values(body as Record<string, unknown>)).toEqual([[], []])
    }
  })

  test('only administrators create for another project', async () => {
    const loadbalancer = { vip_subnet_id: service.ids.pool, project_id: service.ids.project }
    const create = (who: Who) => service.call('POST', '/loadbalancers', { loadbalancer }, who)
    await expect(create('stranger')).resolves.toMatchObject({ status: 403 })
    await expect(create('admin')).resolves.toMatchObject({
      status: 201,
      body: { loadbalancer: { project_id: service.ids.project } },
    })
  })

  test('another project’s subnet does not exist', async () => {
    const loadbalancer = { vip_subnet_id: service.ids.subnet }
    await expect(service.call('POST', '/loadbalancers', { loadbalancer }, 'stranger')).resolves.toMatchObject({
      status: 400,
      body: { faultstring: `Subnet ${service.ids.subnet} not found.` },
    })
  })

  test('nobody without a token', async () => {
    const reply = await service.app.inject({ url: '/load-balancer/v2/lbaas/loadbalancers' })
    expect(reply.statusCode).toBe(401)
    expect(reply.headers['www-authenticate']).toBe('Keystone uri="http://lb.example/identity"')
    expect(reply.json()).toMatchObject({ faultcode: 'Client' })
  })
})

describe('bad input', () => {
  let lb: string
  let udpPool: string
  let httpPool: string
  let subnet: string
  beforeAll(async () => {
    lb = (await newLoadBalancer({ vip_subnet_id: service.ids.subnet })).id
    subnet = service.ids.subnet
    const pool = (protocol: string) =>
      service.make('/pools', 'pool', { loadbalancer_id: lb, protocol, lb_algorithm: 'ROUND_ROBIN' })
    udpPool = (await pool('UDP')).id
    httpPool = (await pool('HTTP')).id
    await service.make('/listeners', 'listener', { loadbalancer_id: lb, protocol: 'HTTP', protocol_port: 80 })
    await service.make(`/pools/${httpPool}/members`, 'member', { address: '10.0.9.1', protocol_port: 80 })
  })

  type Request = readonly ['POST' | 'PUT', string, unknown]
  const loadBalancer = (fields: object): Request => [
    'POST',
    '/loadbalancers',
    { loadbalancer: { vip_subnet_id: subnet, ...fields } },
  ]
  const listener = (fields: object): Request => [
    'POST',
    '/listeners',
    { listener: { loadbalancer_id: lb, protocol: 'HTTP', protocol_port: 8080, ...fields } },
  ]
  const tlsListener = (fields: object): Request =>
    listener({ protocol: 'TERMINATED_HTTPS', protocol_port: 8443, default_tls_container_ref: NOBODY, ...fields })
  const pool = (fields: object): Request => [
    'POST',
    '/pools',
    { pool: { loadbalancer_id: lb, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN', ...fields } },
  ]
  const member = (fields: object): Request => [
    'POST',
    `/pools/${httpPool}/members`,
    { member: { address: '10.0.9.2', protocol_port: 80, ...fields } },
  ]
  const monitor = (fields: object): Request => [
    'POST',
    '/healthmonitors',
    { healthmonitor: { pool_id: httpPool, type: 'TCP', delay: 5, timeout: 3, max_retries: 3, ...fields } },
  ]
  const unsupported = (what: string) => `Provider 'spout' does not support a requested option: ${what}`

  const cases: readonly [string, () => Request, number, string | RegExp][] = [
    ['no body', () => ['POST', '/loadbalancers', undefined], 400, 'Missing argument: "load_balancer"'],
    [
      'a name of 256 characters',
      () => loadBalancer({ name: 'x'.repeat(256) }),
      400,
      /attribute name\. Value: 'x+.*'\. Value should have a maximum character requirement of 255$/,
    ],
    [
      'a description of 256 characters',
      () => ['PUT', `/loadbalancers/${lb}`, { loadbalancer: { description: 'x'.repeat(256) } }],
      400,
      /attribute description\. Value: 'x+.*'\. Value should have a maximum character requirement of 255$/,
    ],
    [
      'a tag of 256 characters',
      () => listener({ tags: ['a', 'x'.repeat(256)] }),
      400,
      /attribute tags\. Value: .*Value should have a maximum character requirement of 255$/,
    ],
    ['101 tags', () => pool({ tags: Array.from({ length: 101 }, (_, at) => `t${at}`) }), 400, /at most 100 items$/],
    [
      'a provider of 65 characters',
      () => loadBalancer({ provider: 'x'.repeat(65) }),
      400,
      /attribute provider\. Value: 'x{65}'\. Value should have a maximum character requirement of 64$/,
    ],
    ['a provider of elsewhere', () => loadBalancer({ provider: 'f5' }), 400, "Provider 'f5' is not enabled."],
    [
      'a subnet that is no UUID',
      () => loadBalancer({ vip_subnet_id: 'x' }),
      400,
      "Invalid input for field/attribute vip_subnet_id. Value: 'x'. Value should be UUID format",
    ],
    [
      'a project that is too long for a UUID',
      () => loadBalancer({ project_id: 'x'.repeat(37) }),
      400,
      /attribute project_id\. Value: 'x{37}'\. Value should have a maximum character requirement of 36$/,
    ],
    ['no such port', () => loadBalancer({ vip_port_id: NOBODY }), 400, `Port ${NOBODY} not found.`],
    ['no such network', () => loadBalancer({ vip_network_id: NOBODY }), 400, `Network ${NOBODY} not found.`],
    [
      'a VIP from nowhere',
      () => loadBalancer({ vip_subnet_id: null }),
      400,
      'Validation failure: VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.',
    ],
    ['security groups', () => loadBalancer({ vip_sg_ids: [NOBODY] }), 400, `Security Group ${NOBODY} not found.`],
    ['a flavor', () => loadBalancer({ flavor_id: NOBODY }), 400, 'Validation failure: Invalid flavor_id.'],
    ['broken JSON', () => ['POST', '/listeners', '{"listener":'], 400, 'Request is not in valid JSON format'],
    [
      'another root',
      () => ['POST', '/loadbalancers', { listener: {} }],
      400,
      'Unknown attribute for argument load_balancer: listener',
    ],
    [
      'an immutable field',
      () => ['PUT', `/loadbalancers/${lb}`, { loadbalancer: { vip_address: '10.0.0.9' } }],
      400,
      'Unknown attribute for argument load_balancer.loadbalancer: vip_address',
    ],
    [
      'a nested unknown field',
      () => [
        'POST',
        '/loadbalancers',
        { loadbalancer: { vip_subnet_id: subnet, listeners: [{ protocol: 'TCP', protocol_port: 1, a: 1, b: 1 }] } },
      ],
      400,
      'Unknown attributes for argument load_balancer.loadbalancer.listeners: a, b',
    ],
    [
      'no protocol',
      () => ['POST', '/listeners', { listener: { loadbalancer_id: lb, protocol_port: 1 } }],
      400,
      "Invalid input for field/attribute protocol. Value: 'None'. Mandatory field missing.",
    ],
    [
      'port 0',
      () => listener({ protocol_port: 0 }),
      400,
      "Invalid input for field/attribute protocol_port. Value: '0'. Value should be greater or equal to 1",
    ],
    [
      'a protocol of elsewhere',
      () => listener({ protocol: 'QUIC' }),
      400,
      "Invalid input for field/attribute protocol. Value: 'QUIC'. Value should be one of: HTTP, HTTPS, PROMETHEUS, SCTP, TCP, TERMINATED_HTTPS, UDP",
    ],
    [
      'a port that is taken',
      () => listener({ protocol: 'TCP', protocol_port: 80 }),
      409,
      'Another Listener on this Load Balancer is already using protocol HTTP and protocol_port 80',
    ],
    ['no such load balancer', () => listener({ loadbalancer_id: NOBODY }), 404, `Load Balancer ${NOBODY} not found.`],
    ['no such default pool', () => listener({ default_pool_id: NOBODY }), 404, `Pool ${NOBODY} not found.`],
    [
      'a default pool of another protocol',
      () => listener({ default_pool_id: udpPool }),
      400,
      "Validation failure: The pool protocol 'UDP' is invalid while the listener protocol is 'HTTP'.",
    ],
    [
      'headers on TCP',
      () => listener({ protocol: 'TCP', insert_headers: { 'X-Forwarded-For': 'true' } }),
      400,
      'insert-headers is not a valid option for a TCP protocol listener.',
    ],
    [
      'a header of TLS on HTTP',
      () => listener({ insert_headers: { 'X-SSL-Client-DN': 'true' } }),
      400,
      "['X-SSL-Client-DN'] is not a valid option for HTTP protocol listener.",
    ],
    [
      'a header that nobody knows',
      () => listener({ insert_headers: { 'X-Evil\nX': 'true' } }),
      400,
      /is not a valid option for insert_headers$/,
    ],
    [
      'a header not offered',
      () => listener({ insert_headers: { 'X-Client-IP': 'true' } }),
      501,
      unsupported(
        'insert_headers X-Client-IP: X-Forwarded-For, -Port and -Proto, X-Real-IP and X-SSL-* are inserted here',
      ),
    ],
    [
      'a source that is no prefix',
      () => listener({ allowed_cidrs: ['10.0.0.0/40'] }),
      400,
      "Invalid input for field/attribute allowed_cidrs. Value: '['10.0.0.0/40']'. Value should be IPv4 or IPv6 CIDR format",
    ],
    [
      'a certificate of a listener without TLS',
      () => listener({ default_tls_container_ref: NOBODY }),
      400,
      'Validation failure: Certificate container references are not allowed on HTTP protocol listeners.',
    ],
    [
      'a certificate of a UDP listener',
      () => listener({ protocol: 'UDP', sni_container_refs: [NOBODY] }),
      400,
      'Validation failure: UDP protocol listener does not support TLS.',
    ],
    [
      'TLS without a certificate',
      () => listener({ protocol: 'TERMINATED_HTTPS' }),
      400,
      'Validation failure: An SNI or default certificate container reference must be provided for TERMINATED_HTTPS protocol listeners.',
    ],
    [
      'a certificate that does not exist',
      () => listener({ protocol: 'TERMINATED_HTTPS', protocol_port: 443, default_tls_container_ref: NOBODY }),
      400,
      `Could not retrieve certificate: ['${NOBODY}']`,
    ],
    [
      'a reference that is none',
      () => listener({ protocol: 'TERMINATED_HTTPS', protocol_port: 443, sni_container_refs: ['http://x/y'] }),
      400,
      "Could not retrieve certificate: ['http://x/y']",
    ],
    [
      'versions that are too old',
      () => tlsListener({ tls_versions: ['TLSv1.1', 'TLSv1.2'] }),
      400,
      'Validation failure: Requested TLS versions are less than the minimum: TLSv1.1 < TLSv1.2',
    ],
    [
      'versions that do not exist',
      () => tlsListener({ tls_versions: ['TLSv9'] }),
      400,
      'Validation failure: Invalid TLS versions: TLSv9',
    ],
    [
      'TLS 1.2 alone',
      () => tlsListener({ tls_versions: ['TLSv1.2'] }),
      501,
      unsupported("tls_versions ['TLSv1.2']: TLSv1.3 is always among them here, and TLSv1.2 or not"),
    ],
    [
      'no versions',
      () => tlsListener({ tls_versions: [] }),
      400,
      'Validation failure: Empty TLS version list. Either specify at least one TLS version or remove this parameter to use the default.',
    ],
    [
      'protocols that do not exist',
      () => tlsListener({ alpn_protocols: ['h9'] }),
      400,
      'Validation failure: Invalid ALPN protocol: h9',
    ],
    [
      'ciphers that are not safe',
      () => tlsListener({ tls_ciphers: 'ECDHE-RSA-AES128-GCM-SHA256:RC4-MD5:AES128-SHA' }),
      400,
      'Validation failure: The following ciphers have been prohibited by an administrator: RC4-MD5 uses RC4, which is broken (RFC 7465), AES128-SHA has no forward secrecy (RFC 9325 section 4.1)',
    ],
    [
      'ciphers that are a configuration',
      () => tlsListener({ tls_ciphers: 'HIGH\nbind :1' }),
      400,
      'Validation failure: Invalid characters in cipher string. Only alphanumeric, -, +, !, :, @, =, _, and . are allowed.',
    ],
    [
      'HSTS without TLS',
      () => listener({ hsts_max_age: 60 }),
      400,
      'Validation failure: The HSTS feature can only be used for listeners using the TERMINATED_HTTPS protocol.',
    ],
    [
      'HSTS without its time',
      () => tlsListener({ hsts_preload: true }),
      400,
      'Validation failure: HSTS configuration options hsts_include_subdomains and hsts_preload only make sense if hsts_max_age is set as well.',
    ],
    [
      'HTTP/1.0 by ALPN',
      () => tlsListener({ alpn_protocols: ['http/1.0'] }),
      501,
      unsupported('alpn_protocols http/1.0: h2 and http/1.1 are negotiated here'),
    ],
    [
      'client authentication without TLS',
      () => listener({ client_authentication: 'MANDATORY' }),
      400,
      'Validation failure: Certificate container references are not allowed on HTTP protocol listeners.',
    ],
    [
      'client authentication by nobody',
      () => tlsListener({ default_tls_container_ref: NOBODY, client_authentication: 'MANDATORY' }),
      400,
      'Validation failure: Client authentication setting MANDATORY requires a client CA container reference.',
    ],
    [
      'lists of revoked certificates without authorities',
      () => tlsListener({ default_tls_container_ref: NOBODY, client_crl_container_ref: NOBODY }),
      400,
      'Validation failure: A client authentication CA reference is required to specify a client authentication revocation list.',
    ],
    [
      'authorities for clients that are not asked',
      () => tlsListener({ client_ca_tls_container_ref: NOBODY }),
      501,
      unsupported('client_authentication NONE: authorities are kept here for clients that are asked'),
    ],
    [
      'a time-out beyond 24 days',
      () => listener({ timeout_client_data: 2_073_600_001 }),
      400,
      "Invalid input for field/attribute timeout_client_data. Value: '2073600001'. Value should be lower or equal to 2073600000",
    ],
    [
      'a pool of nothing',
      () => ['POST', '/pools', { pool: { protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' } }],
      400,
      'Validation failure: Must provide at least one of: loadbalancer_id, listener_id',
    ],
    [
      'no such listener',
      () => pool({ loadbalancer_id: null, listener_id: NOBODY }),
      404,
      `Listener ${NOBODY} not found.`,
    ],
    [
      'cookies where nobody sees them',
      () => pool({ protocol: 'TCP', session_persistence: { type: 'HTTP_COOKIE' } }),
      501,
      unsupported('session_persistence type HTTP_COOKIE: only pools of protocol HTTP see cookies here'),
    ],
    [
      'a cookie name that is none',
      () => pool({ session_persistence: { type: 'APP_COOKIE', cookie_name: 'a=b' } }),
      400,
      'Validation failure: Field "cookie_name" is not the name of a cookie (RFC 6265).',
    ],
    [
      'a cookie without its name',
      () => pool({ session_persistence: { type: 'APP_COOKIE' } }),
      400,
      'Validation failure: Field "cookie_name" must be specified when using the "APP_COOKIE" session persistence type.',
    ],
    [
      'a name without a cookie',
      () => pool({ session_persistence: { type: 'SOURCE_IP', cookie_name: 'c' } }),
      400,
      'Validation failure: Field "cookie_name" can only be specified with session persistence of type "APP_COOKIE".',
    ],
    [
      'cookies for UDP',
      () => pool({ protocol: 'UDP', session_persistence: { type: 'HTTP_COOKIE' } }),
      400,
      'Validation failure: Session persistence of type HTTP_COOKIE is not supported for UDP/SCTP protocol pools.',
    ],
    [
      'cookies for SCTP',
      () => pool({ protocol: 'SCTP', session_persistence: { type: 'HTTP_COOKIE' } }),
      400,
      'Validation failure: Session persistence of type HTTP_COOKIE is not supported for UDP/SCTP protocol pools.',
    ],
    [
      'headers for SCTP',
      () => listener({ protocol: 'SCTP', insert_headers: { 'X-Forwarded-For': 'true' } }),
      400,
      'Validation failure: SCTP protocol listener does not support TLS or header insertion.',
    ],
    [
      'a pool of UDP behind SCTP',
      () => listener({ protocol: 'SCTP', default_pool_id: udpPool }),
      400,
      "Validation failure: The pool protocol 'UDP' is invalid while the listener protocol is 'SCTP'.",
    ],
    [
      'a time-out of sessions for TCP',
      () => pool({ session_persistence: { type: 'SOURCE_IP', persistence_timeout: 5 } }),
      400,
      'Validation failure: persistence_timeout and persistence_granularity is only for UDP and SCTP protocol pools.',
    ],
    [
      'sessions without a type',
      () => pool({ session_persistence: {} }),
      400,
      "Invalid input for field/attribute type. Value: 'None'. Mandatory field missing.",
    ],
    [
      'certificates of a pool without TLS',
      () => pool({ ca_tls_container_ref: NOBODY }),
      501,
      unsupported('tls_enabled False: certificates of a pool without TLS are not kept here'),
    ],
    [
      'authorities that do not exist',
      () => pool({ protocol: 'HTTP', tls_enabled: true, ca_tls_container_ref: NOBODY }),
      400,
      `Could not retrieve certificate: ['${NOBODY}']`,
    ],
    [
      'TLS to members of UDP',
      () => pool({ protocol: 'UDP', tls_enabled: true }),
      400,
      'Validation failure: UDP pools do not support TLS.',
    ],
    [
      'an algorithm of elsewhere',
      () => ['PUT', `/pools/${httpPool}`, { pool: { lb_algorithm: null } }],
      400,
      'None is not a valid option for lb_algorithm',
    ],
    [
      'a member that is there',
      () => member({ address: '10.0.9.1' }),
      409,
      'Another member on this pool is already using ip 10.0.9.1 on protocol_port 80',
    ],
    [
      'a member in no network',
      () => member({ address: '198.51.100.1' }),
      400,
      'Validation failure: address: 198.51.100.1 is in none of the networks of this project.',
    ],
    [
      'a member on loopback',
      () => member({ address: '127.0.0.1' }),
      400,
      '127.0.0.1 is not a valid option for member address',
    ],
    [
      'a member of IPv6 in a subnet of IPv4, whose network does not have it',
      () => member({ address: 'fd00::9', subnet_id: subnet }),
      400,
      /^Validation failure: .*fd00::9 is not in 10\.0\.0\.0\/16/,
    ],
    ['no such subnet', () => member({ subnet_id: NOBODY }), 400, `Subnet ${NOBODY} not found.`],
    [
      'a weight too many',
      () => member({ weight: 257 }),
      400,
      "Invalid input for field/attribute weight. Value: '257'. Value should be lower or equal to 256",
    ],
    [
      'SR-IOV',
      () => member({ request_sriov: true }),
      400,
      'The load balancer flavor does not allow SR-IOV member ports.',
    ],
    [
      'an address that is none',
      () => member({ address: 'example.org' }),
      400,
      "Invalid input for field/attribute address. Value: 'example.org'. Value should be IPv4 or IPv6 format",
    ],
    [
      'members that are no list',
      () => ['PUT', `/pools/${httpPool}/members`, { members: {} }],
      400,
      "Invalid input for field/attribute members. Value: '{}'. Value not a valid list.",
    ],
    [
      'a bad member among good ones',
      () => ['PUT', `/pools/${httpPool}/members`, { members: [{ address: '10.0.9.1', protocol_port: 80, port: 1 }] }],
      400,
      'Unknown attribute for argument members_.members: port',
    ],
    ['no such pool', () => monitor({ pool_id: NOBODY }), 404, `Pool ${NOBODY} not found.`],
    [
      'a probe over TLS for UDP',
      () => monitor({ pool_id: udpPool, type: 'HTTPS' }),
      400,
      'Validation failure: The associated pool protocol is UDP, so only a UDP-CONNECT/SCTP/TCP/HTTP health monitor is supported.',
    ],
    [
      'a host name over TLS without HTTP 1.1',
      () => monitor({ type: 'HTTPS', domain_name: 'a.b' }),
      400,
      "Validation failure: 'http_version' must be specified when 'domain_name' is provided.",
    ],
    [
      'a probe of SCTP for UDP',
      () => monitor({ pool_id: udpPool, type: 'SCTP' }),
      501,
      unsupported('type SCTP: members of UDP pools are probed by UDP-CONNECT, TCP or HTTP here'),
    ],
    [
      'a TLS hello for UDP',
      () => monitor({ pool_id: udpPool, type: 'TLS-HELLO' }),
      400,
      'Validation failure: The associated pool protocol is UDP, so only a UDP-CONNECT/SCTP/TCP/HTTP health monitor is supported.',
    ],
    [
      'a path for a TLS hello',
      () => monitor({ type: 'TLS-HELLO', url_path: '/x' }),
      400,
      'url_path is not a valid option for health monitors of type TLS-HELLO',
    ],
    [
      'a host name for a TLS hello',
      () => monitor({ type: 'TLS-HELLO', domain_name: 'a.b' }),
      400,
      'domain_name is not a valid option for health monitors of type TLS-HELLO',
    ],
    [
      'a probe of UDP for HTTP',
      () => monitor({ type: 'UDP-CONNECT' }),
      400,
      'Validation failure: The UDP-CONNECT type is only supported for pools of type UDP/SCTP.',
    ],
    [
      'a ping for UDP',
      () => monitor({ pool_id: udpPool, type: 'PING' }),
      400,
      'Validation failure: The associated pool protocol is UDP, so only a UDP-CONNECT/SCTP/TCP/HTTP health monitor is supported.',
    ],
    [
      'a path for TCP',
      () => monitor({ url_path: '/x' }),
      400,
      'url_path is not a valid option for health monitors of type TCP',
    ],
    [
      'a path that ends the request line',
      () => monitor({ type: 'HTTP', url_path: '/x HTTP/1.0\r\nHost: evil' }),
      400,
      /Value must be a valid URL Path string$/,
    ],
    [
      'a host name without HTTP 1.1',
      () => monitor({ type: 'HTTP', domain_name: 'a.b' }),
      400,
      "Validation failure: 'http_version' must be specified when 'domain_name' is provided.",
    ],
    [
      'a host name with HTTP 1.0',
      () => monitor({ type: 'HTTP', domain_name: 'a.b', http_version: 1.0 }),
      400,
      'http_version 1.0 is not a valid option for health monitors HTTP 1.1 domain name health check',
    ],
    [
      'a host name that is none',
      () => monitor({ type: 'HTTP', domain_name: 'a b', http_version: 1.1 }),
      400,
      /^Invalid input for field\/attribute domain_name\. Value: 'a b'\. Value should match the pattern/,
    ],
    [
      'codes beyond HTTP',
      () => monitor({ type: 'HTTP', expected_codes: '200-999' }),
      400,
      "Invalid input for field/attribute expected_codes. Value: '200-999'. Value should be HTTP status codes between 100 and 599",
    ],
    [
      'an L7 policy',
      () => ['POST', '/l7policies', { l7policy: {} }],
      400,
      "Invalid input for field/attribute action. Value: 'None'. Mandatory field missing.",
    ],
  ]
  test.each(cases)('%s', async (_, request, status, faultstring) => {
    const [method, path, body] = request()
    const reply = await service.call(method, path, body)
    expect(reply.body).toMatchObject({
      faultcode: status < 500 ? 'Client' : 'Server',
      faultstring: typeof faultstring === 'string' ? faultstring : expect.stringMatching(faultstring),
      debuginfo: null,
    })
    expect(reply.status).toBe(status)
  })

  test.each([
    ['/loadbalancers?colour=red', 'One or more arguments are either duplicate or invalid'],
    ['/loadbalancers?name=a&name=b', 'One or more arguments are either duplicate or invalid'],
    ['/loadbalancers?limit=1&limit=2', "Parameter 'limit' is given more than once."],
    ['/quotas?limit=1&limit=2', "Parameter 'limit' is given more than once."],
    ['/providers?limit=1&limit=2', "Parameter 'limit' is given more than once."],
    ['/pools?marker=a&marker=a', "Parameter 'marker' is given more than once."],
    ['/loadbalancers?sort=colour', "Supplied sort key 'colour' is not valid."],
    ['/loadbalancers?sort=name:up', "Supplied sort direction 'up' is not valid."],
    ['/loadbalancers?limit=few', "Supplied pagination limit 'few' is not valid."],
    [`/loadbalancers?marker=${NOBODY}`, `Supplied pagination marker '${NOBODY}' is not valid.`],
    ['/listeners?marker=', "Supplied pagination marker '' is not valid."],
    ['/loadbalancers?sort=name:asc:desc', "Supplied sort key 'name:asc:desc' is not valid."],
    ['/loadbalancers?sort=,', "Supplied sort key '' is not valid."],
    ['/loadbalancers?%ff=1', 'One or more arguments are either duplicate or invalid'],
    ['/loadbalancers?__proto__=1', 'One or more arguments are either duplicate or invalid'],
  ])('%s', async (path, faultstring) => {
    await expect(service.call('GET', path)).resolves.toMatchObject({ status: 400, body: { faultstring } })
  })

  test.each(['x', '..%2f..%2fetc', '%00'])('an id that is none is not found: %s', async (id) => {
    for (const path of ['loadbalancers', 'listeners', 'pools', 'healthmonitors'])
      expect(await service.call('GET', `/${path}/${id}`)).toMatchObject({
        status: 404,
        body: { faultcode: 'Client', faultstring: expect.stringMatching(/not found\.$/), debuginfo: null },
      })
  })

  test('an unknown path, and a client that takes no JSON', async () => {
    await expect(service.call('GET', '/nothing')).resolves.toMatchObject({
      status: 404,
      body: { faultcode: 'Client', faultstring: 'Not Found', debuginfo: null },
    })
    const reply = await service.app.inject({ url: '/load-balancer/', headers: { accept: 'text/html' } })
    expect(reply.statusCode).toBe(406)
  })
})

test('paths with and without `lbaas`, both spellings of the version, and `.json` are one API', async () => {
  const { id } = await newLoadBalancer()
  for (const path of ['/v2/lbaas', '/v2', '/v2.0/lbaas', '/v2.0']) {
    await expect(service.call('GET', `${path}/loadbalancers/${id}.json`)).resolves.toMatchObject({ status: 200 })
    await expect(service.call('GET', `${path}/loadbalancers.json?id=${id}`)).resolves.toMatchObject({
      status: 200,
      body: { loadbalancers: [{ id }] },
    })
  }
})
