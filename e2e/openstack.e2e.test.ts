import { writeFileSync } from 'node:fs'
import {
  askOn,
  Caller,
  issueCertificate,
  NODES,
  OpenStackProgram,
  type ShownLoadBalancer,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACME, BOLT, balancer, CLIENT, member, PORT, tally } from './fixtures.ts'
import { type Document, OpenStackClient } from './openstack-client.ts'
import { failuresOf } from './traffic.ts'

let system: TestSystem
let client: Caller
let acme: Tenant
let bolt: Tenant
let program: OpenStackProgram
let alice: OpenStackClient
let bob: OpenStackClient

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT] })
  ;[acme, bolt] = system.tenants as [Tenant, Tenant]
  program = new OpenStackProgram()
  alice = new OpenStackClient(program, system.access, acme)
  bob = new OpenStackClient(program, system.access, bolt)
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await program?.[Symbol.asyncDispose]()
  await system?.destroy()
})

const memberCommand = (pool: string, index: 1 | 2): string =>
  `loadbalancer member create --name member${index} --address 10.0.0.${10 + index} --protocol-port 8080 --wait ${pool}`

/** Everything from nothing to a service, command by command. */
const commandsFor = (name: string, protocol: 'TCP' | 'HTTP', listenerOptions = '', vip = '--vip-network-id public') => [
  `loadbalancer create --name ${name} ${vip} --wait`,
  `loadbalancer listener create --name ${name}-listener --protocol ${protocol} --protocol-port 80 ${listenerOptions} --wait ${name}`,
  `loadbalancer pool create --name ${name}-pool --protocol ${protocol} --lb-algorithm ROUND_ROBIN --listener ${name}-listener --wait`,
  memberCommand(`${name}-pool`, 1),
  memberCommand(`${name}-pool`, 2),
  `loadbalancer healthmonitor create --name ${name}-check --type ${protocol} --delay 1 --timeout 1 --max-retries 1 --max-retries-down 1 --wait ${name}-pool`,
]

const shownAs = async (who: Tenant, name: string): Promise<ShownLoadBalancer> => {
  const { items } = await system.api<{ items: ShownLoadBalancer[] }>(who, 'GET', `/load-balancers?name=${name}`)
  const [found] = items
  if (found === undefined) throw new Error(`there is no load balancer ${name}`)
  return found
}

const addressOf = async (who: Tenant, name: string): Promise<string> =>
  (await shownAs(who, name)).vips[0]?.address ?? ''

const served = (address: string, members: readonly string[]) =>
  waitFor(
    async () => {
      const answers = await client.members(address, 16)
      const names = [...tally(answers.map((answer) => answer?.member ?? '-')).keys()].sort()
      return names.join() === members.join() && answers
    },
    { what: `${members.join(' and ')} to answer at ${address}` },
  )

const TLS_PORT = 8443

/** OpenSSL's own server, with a self-signed certificate. */
async function startTlsServer(place: string) {
  const { directory } = system.lab
  const [key, certificate] = [`${directory}/${place}.key`, `${directory}/${place}.crt`]
  const made = ['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=member', '-days', '1']
  await system.lab.must(place, [...made, '-keyout', key, '-out', certificate])
  const serve = ['openssl', 's_server', '-www', '-accept', `${TLS_PORT}`, '-key', key, '-cert', certificate]
  return system.lab.start(place, `tls-${place}`, serve, { readyText: 'ACCEPT' })
}

const membersOf = (tenant: string): readonly string[] => [`${tenant}-member1`, `${tenant}-member2`]

it('two tenants with the same addresses: each is served by its own members', async () => {
  await Promise.all([
    alice.run(...commandsFor('shop', 'TCP')),
    bob.run(...commandsFor('blog', 'HTTP', '--insert-headers X-Forwarded-For=true')),
  ])
  const [shop, blog] = [await addressOf(acme, 'shop'), await addressOf(bolt, 'blog')]
  expect(shop).not.toBe(blog)
  const [byShop] = await served(shop, membersOf('tenant-a'))
  expect(byShop).toMatchObject({ from: `::ffff:${CLIENT}` })
  expect(byShop).not.toHaveProperty('forwardedFor')
  const [byBlog] = await served(blog, membersOf('tenant-b'))
  expect(byBlog?.forwardedFor).toBe(CLIENT)
  expect(byBlog?.from).not.toContain(CLIENT)
})

it('what a client claims in X-Forwarded-For does not reach the member', async () => {
  const answers = await client.members(await addressOf(bolt, 'blog'), 4, {
    headers: { 'x-forwarded-for': '192.0.2.66' },
  })
  expect(tally(answers.map((answer) => answer?.forwardedFor))).toEqual(new Map([[CLIENT, 4]]))
})

describe('what the user is told', () => {
  it('status, all the way down', async () => {
    const member = (name: string) => ({
      name,
      provisioning_status: 'ACTIVE',
      operating_status: 'ONLINE',
      protocol_port: 8080,
    })
    const tree = await waitFor(
      async () => {
        const [tree] = await alice.run('loadbalancer status show shop')
        // NO_MONITOR or OFFLINE until the node has reported a member's first probe.
        return !/NO_MONITOR|OFFLINE/.test(JSON.stringify(tree)) && (tree as { loadbalancer: object }).loadbalancer
      },
      { what: 'members to be probed' },
    )
    expect(tree).toMatchObject({
      name: 'shop',
      provisioning_status: 'ACTIVE',
      operating_status: 'ONLINE',
      listeners: [
        {
          name: 'shop-listener',
          operating_status: 'ONLINE',
          pools: [
            {
              name: 'shop-pool',
              operating_status: 'ONLINE',
              members: [member('member1'), member('member2')],
              health_monitor: { name: 'shop-check', type: 'TCP', provisioning_status: 'ACTIVE' },
            },
          ],
        },
      ],
    })
  })

  it('lists and shows', async () => {
    const [balancers, listeners, pools, members, shown] = await alice.run(
      'loadbalancer list -f json',
      'loadbalancer listener list -f json',
      'loadbalancer pool list -f json',
      'loadbalancer member list shop-pool -f json',
      'loadbalancer listener show shop-listener -f json',
    )
    expect(balancers).toMatchObject([{ name: 'shop', provisioning_status: 'ACTIVE', operating_status: 'ONLINE' }])
    expect(listeners).toMatchObject([{ name: 'shop-listener', protocol: 'TCP', protocol_port: 80 }])
    expect(pools).toMatchObject([{ name: 'shop-pool', protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' }])
    expect(members).toMatchObject([{ address: '10.0.0.11' }, { address: '10.0.0.12' }])
    expect(shown).toMatchObject({ name: 'shop-listener', connection_limit: -1, admin_state_up: true })
  })

  it('counts connections and bytes, balanced per connection and per request', async () => {
    const statsOf = async (tenant: Tenant, name: string) => {
      const { status } = await shownAs(tenant, name)
      const [stats] = Object.values(status.stats)
      return stats ?? { totalConnections: 0, bytesOut: 0 }
    }
    for (const [tenant, who, name] of [
      [acme, alice, 'shop'],
      [bolt, bob, 'blog'],
    ] as const) {
      const before = await statsOf(tenant, name)
      await client.members(await addressOf(tenant, name), 10)
      const after = await waitFor(
        async () => {
          const now = await statsOf(tenant, name)
          return now.totalConnections >= before.totalConnections + 10 && now.bytesOut > before.bytesOut && now
        },
        { what: `the counters of ${name} to rise` },
      )
      const shown = await who.show(`loadbalancer stats show ${name}`)
      expect(Number(shown.total_connections)).toBeGreaterThanOrEqual(after.totalConnections)
      expect(Number(shown.bytes_out)).toBeGreaterThanOrEqual(after.bytesOut)
      expect(Number(shown.bytes_in)).toBeGreaterThan(0)
    }
  })

  it('a member that does not answer', async () => {
    await alice.run(
      'loadbalancer member create --name nobody --address 10.0.0.99 --protocol-port 8080 --wait shop-pool',
    )
    await waitFor(
      async () => Object.values((await shownAs(acme, 'shop')).status.members).some(({ health }) => health === 'down'),
      { what: 'the member to be found down' },
    )
    const nobody = await alice.show('loadbalancer member show shop-pool nobody')
    expect(nobody).toMatchObject({ operating_status: 'ERROR', provisioning_status: 'ACTIVE' })
    await served(await addressOf(acme, 'shop'), membersOf('tenant-a'))
    await alice.run('loadbalancer member delete --wait shop-pool nobody')
  })

  it.each([
    ['packet path', 'HTTPS', () => ({ who: alice, tenant: acme, lb: 'shop', place: 'tenant-a-member1' })],
    ['proxy', 'HTTP', () => ({ who: bob, tenant: bolt, lb: 'blog', place: 'tenant-b-member1' })],
  ] as const)('which members speak TLS, probed by TLS-HELLO and HTTPS (%s)', async (_, protocol, of) => {
    const { who, tenant, lb, place } = of()
    const server = await startTlsServer(place)
    const member = (index: 1 | 2, probed: number) =>
      `loadbalancer member create --name secure${index} --address 10.0.0.${10 + index} --protocol-port 8080 --monitor-port ${probed} --wait secure-pool`
    await who.run(
      `loadbalancer listener create --name secure --protocol ${protocol} --protocol-port 8443 --wait ${lb}`,
      `loadbalancer pool create --name secure-pool --protocol ${protocol} --lb-algorithm ROUND_ROBIN --listener secure --wait`,
      member(1, TLS_PORT),
      member(2, 8080),
      'loadbalancer healthmonitor create --name secure-check --type TLS-HELLO --delay 1 --timeout 1 --max-retries 2 --max-retries-down 2 --wait secure-pool',
    )
    expect(await who.show('loadbalancer healthmonitor show secure-check')).toMatchObject({ type: 'TLS-HELLO' })
    const healthIs = (index: 1 | 2, health: string, reason: string | null) =>
      waitFor(
        async () => {
          const { pools, status } = await shownAs(tenant, lb)
          const id = pools.flatMap(({ members }) => members).find(({ name }) => name === `secure${index}`)?.id ?? ''
          const told = status.members[id]
          return told?.health === health && told.reason === reason
        },
        { what: `secure${index} to be ${health} (${reason})`, timeoutMs: 30_000 },
      )
    await healthIs(1, 'up', null)
    await healthIs(2, 'down', 'the answer is not TLS')
    await who.run(
      'loadbalancer healthmonitor delete --wait secure-check',
      'loadbalancer healthmonitor create --name secure-check --type HTTPS --delay 1 --timeout 1 --max-retries 2 --max-retries-down 2 --expected-codes 204 --http-version 1.1 --domain-name app.example --wait secure-pool',
    )
    await healthIs(1, 'down', 'status 200, expected 204')
    await who.run('loadbalancer healthmonitor set --expected-codes 200-204 --wait secure-check')
    expect(await who.show('loadbalancer healthmonitor show secure-check')).toMatchObject({
      type: 'HTTPS',
      expected_codes: '200-204',
      domain_name: 'app.example',
    })
    await healthIs(1, 'up', null)
    await healthIs(2, 'down', 'the answer is not TLS')
    await system.lab.stop(server)
    await healthIs(1, 'down', 'connection refused')
    const again = await startTlsServer(place)
    await healthIs(1, 'up', null)
    await who.run('loadbalancer pool delete --wait secure-pool', 'loadbalancer listener delete --wait secure')
    await system.lab.stop(again)
  })
})

describe('changes', () => {
  it('are in force when the command returns', async () => {
    const shop = await addressOf(acme, 'shop')
    const [shown] = await alice.run(
      'loadbalancer set --description wares --wait shop',
      'loadbalancer member set --weight 0 --wait shop-pool member1',
      'loadbalancer show shop -f json',
    )
    const answers = await client.members(shop, 16)
    expect(tally(answers.map((answer) => answer?.member))).toEqual(new Map([['tenant-a-member2', 16]]))
    expect(shown).toMatchObject({ description: 'wares' })
    await alice.run('loadbalancer member set --weight 1 --wait shop-pool member1')
    await served(shop, membersOf('tenant-a'))
  })

  it('a disabled load balancer refuses, an enabled one serves', async () => {
    const shop = await addressOf(acme, 'shop')
    const [shown] = await alice.run('loadbalancer set --disable --wait shop', 'loadbalancer show shop -f json')
    expect(await client.tcp(shop, 80, { timeoutMs: 500 })).toMatchObject({ ok: false })
    expect(shown).toMatchObject({ operating_status: 'OFFLINE' })
    await alice.run('loadbalancer set --enable --wait shop')
    await served(shop, membersOf('tenant-a'))
  })

  it('an HTTPS listener with a certificate of the project', async () => {
    const { certificate: chain, key } = issueCertificate({ names: ['shop.example.com'] })
    const { id } = await system.api<{ id: string }>(acme, 'POST', '/certificates', { name: 'shop', chain, key })
    const [pool, listener] = await alice.run(
      'loadbalancer pool create --name secure-pool --protocol HTTP --lb-algorithm ROUND_ROBIN --loadbalancer shop --wait -f json',
      `loadbalancer listener create --name secure --protocol TERMINATED_HTTPS --protocol-port 443 --default-tls-container-ref ${id} --default-pool secure-pool --wait shop -f json`,
      memberCommand('secure-pool', 1),
    )
    expect(listener).toMatchObject({
      protocol: 'TERMINATED_HTTPS',
      default_tls_container_ref: id,
      default_pool_id: (pool as Document).id,
    })
    const trusted = `${system.lab.directory}/shop.crt`
    writeFileSync(trusted, chain)
    const to = `shop.example.com:443:${await addressOf(acme, 'shop')}`
    const curl = ['curl', '-sS', '--cacert', trusted, '--resolve', to, 'https://shop.example.com/']
    await waitFor(async () => (await system.lab.must('client', curl)).includes('tenant-a-member1'), {
      what: 'the member to answer over TLS',
    })
    await alice.run('loadbalancer listener delete --wait secure', 'loadbalancer pool delete --wait secure-pool')
  })

  it('L7 policies: to a pool, to a URL, and rejections', async () => {
    // `l7rule create --wait` asks for the rule under swapped ids in this version of the client.
    const [front] = await alice.run(
      'loadbalancer pool create --name l7-pool --protocol HTTP --lb-algorithm ROUND_ROBIN --loadbalancer shop --wait',
      'loadbalancer listener create --name l7 --protocol HTTP --protocol-port 8081 --wait shop -f json',
      memberCommand('l7-pool', 2),
      'loadbalancer l7policy create --name cart --action REDIRECT_TO_POOL --redirect-pool l7-pool --wait l7',
      'loadbalancer l7rule create --type PATH --compare-type STARTS_WITH --value /cart cart',
      'loadbalancer l7policy create --name old --action REDIRECT_TO_URL --redirect-url http://new.example.com/ --redirect-http-code 301 --wait l7',
      'loadbalancer l7rule create --type HOST_NAME --compare-type EQUAL_TO --value old.example.com old',
      'loadbalancer l7policy create --name admin --action REJECT --wait l7',
      'loadbalancer l7rule create --type PATH --compare-type STARTS_WITH --value /cart/admin admin',
    )
    expect(front).toMatchObject({ protocol: 'HTTP' })
    const url = `http://${await addressOf(acme, 'shop')}:8081`
    const curl = (path: string, host: string) =>
      system.lab.must('client', [
        'curl',
        '-s',
        '-w',
        ' %{http_code} %{redirect_url}',
        '-H',
        `Host: ${host}`,
        url + path,
      ])
    await waitFor(async () => (await curl('/cart/1', 'shop.example.com')).includes('tenant-a-member2'), {
      what: 'the pool of the policy to answer',
    })
    expect(await curl('/', 'old.example.com')).toContain(' 301 http://new.example.com/')
    expect(await curl('/cart/admin', 'shop.example.com')).toContain(' 403 ')
    expect(await curl('/', 'shop.example.com')).toContain(' 503 ')
    const [policies] = await alice.run('loadbalancer l7policy list -f json')
    expect(policies).toMatchObject([
      { name: 'cart', position: 1 },
      { name: 'old', position: 2 },
      { name: 'admin', position: 3 },
    ])
    await alice.run(
      'loadbalancer l7policy set --position 1 --wait admin',
      'loadbalancer l7policy delete --wait old',
      'loadbalancer listener delete --wait l7',
      'loadbalancer pool delete --wait l7-pool',
    )
  })

  it('all members at once, in the batch call of the API', async () => {
    const pool = (await shownAs(acme, 'shop')).pools[0]?.id
    const put = (body: object) =>
      fetch(`${system.access.endpoint}/load-balancer/v2/lbaas/pools/${pool}/members`, {
        method: 'PUT',
        headers: { 'x-auth-token': acme.token, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const member = (index: 1 | 2) => ({ name: `member${index}`, address: `10.0.0.${10 + index}`, protocol_port: 8080 })
    const shop = await addressOf(acme, 'shop')
    expect((await put({ members: [member(2)] })).status).toBe(202)
    await served(shop, ['tenant-a-member2'])
    expect((await put({ members: [member(1), member(2)] })).status).toBe(202)
    await served(shop, membersOf('tenant-a'))
  })
})

describe('the other tenant', () => {
  it('sees nothing and can change nothing', async () => {
    const { id: shop } = await shownAs(acme, 'shop')
    expect(await bob.list('loadbalancer list')).toMatchObject([{ name: 'blog' }])
    expect(await bob.refused(`loadbalancer show ${shop}`)).toContain('Policy does not allow')
    for (const [method, path] of [
      ['GET', `loadbalancers/${shop}`],
      ['GET', `loadbalancers/${shop}/status`],
      ['PUT', `loadbalancers/${shop}`],
      ['DELETE', `loadbalancers/${shop}?cascade=true`],
    ] as const) {
      const answer = await fetch(`${system.access.endpoint}/load-balancer/v2/lbaas/${path}`, {
        method,
        headers: { 'x-auth-token': bolt.token, 'content-type': 'application/json' },
        ...(method === 'PUT' ? { body: JSON.stringify({ loadbalancer: { name: 'mine' } }) } : {}),
      })
      expect([method, path, answer.status]).toEqual([method, path, 403])
      expect(await answer.text()).not.toContain('shop-')
    }
    await served(await addressOf(acme, 'shop'), membersOf('tenant-a'))
  })
})

describe('a VIP in the tenant network', () => {
  it('is reached inside at once, and outside by a floating IP', async () => {
    await using inside = await Caller.start(system.lab, 'tenant-b-member1')
    const documents = await bob.run(
      ...commandsFor('inner', 'HTTP', '', '--vip-subnet-id subnet'),
      'loadbalancer show inner -f json',
      'floating ip create public -f json',
    )
    const [shown, floating] = documents as [Document, Document]
    const inner = String(shown.vip_address)
    expect(inner).toMatch(/^10\.0\.0\./)
    await waitFor(async () => (await inside.members(inner, 8)).every((answer) => answer !== null), {
      what: `${inner} to answer inside`,
    })
    const address = String(floating.floating_ip_address)
    expect(await client.tcp(address, 80, { timeoutMs: 300 })).toMatchObject({ ok: false })
    const [bound] = await bob.run(
      `floating ip set --port ${shown.vip_port_id} ${address}`,
      `floating ip show ${address} -f json`,
    )
    await served(address, membersOf('tenant-b'))
    expect(bound).toMatchObject({
      fixed_ip_address: inner,
      port_id: shown.vip_port_id,
      status: 'ACTIVE',
    })
    await bob.run(`floating ip unset --port ${address}`)
    await waitFor(async () => !(await client.tcp(address, 80, { timeoutMs: 300 })).ok, {
      what: `${address} to be gone`,
    })
    expect((await inside.members(inner, 1))[0]).not.toBeNull()
    await bob.run(`floating ip delete ${address}`, 'loadbalancer delete --cascade --wait inner')
    expect((await inside.tcp(inner, 80, { timeoutMs: 500 })).ok).toBe(false)
  })

  it.each(['tcp', 'http'] as const)(
    'its floating IP moves between load balancers of %s under load',
    async (protocol) => {
      const vips = [{ from: 'subnet', networkId: bolt.networkId, subnetId: bolt.subnetId }]
      const sides = await Promise.all(
        ([1, 2] as const).map((index) => {
          const pool = { members: [member(index, PORT.http)] }
          return system.createLoadBalancer(bolt, { ...balancer(`side${index}`, protocol, { pool }), vips })
        }),
      )
      const [floating] = (await bob.run('floating ip create public -f json')) as [Document]
      const address = String(floating.floating_ip_address)
      const moveTo = (side: ShownLoadBalancer | undefined) =>
        bob.run(`floating ip set --port ${side?.vips[0]?.addressId} ${address}`)
      await moveTo(sides[0])
      await served(address, ['tenant-b-member1'])
      let asked = 0
      const asking = askOn(() => {
        asked++
        return client.http(address, 80)
      })
      for (const round of [1, 2, 3, 4]) {
        await moveTo(sides[round % 2])
        await served(address, [`tenant-b-member${(round % 2) + 1}`])
        // A busy machine asks less often.
        await waitFor(() => asked > 26 * round, { what: 'enough requests' })
      }
      const outcomes = await asking.stop()
      expect(outcomes.length).toBeGreaterThan(100)
      expect(failuresOf(outcomes)).toEqual([])
      const gone = sides.map(({ id }) => `loadbalancer delete --cascade --wait ${id}`)
      await bob.run(`floating ip delete ${address}`, ...gone)
    },
  )
})

describe('deleting', () => {
  it('needs --cascade while there is something inside', async () => {
    expect(await alice.refused('loadbalancer delete shop')).toContain('has children')
    await served(await addressOf(acme, 'shop'), membersOf('tenant-a'))
  })

  it('takes everything from the nodes, and the other tenant goes on', async () => {
    const shop = await shownAs(acme, 'shop')
    const address = shop.vips[0]?.address ?? ''
    const left = await alice.run('loadbalancer delete --cascade --wait shop', 'loadbalancer list -f json')
    expect(left).toEqual([[]])
    expect(await alice.refused(`loadbalancer show ${shop.id}`)).toContain('Unable to locate')
    const answer = await fetch(`${system.access.endpoint}/load-balancer/v2/lbaas/loadbalancers/${shop.id}`, {
      headers: { 'x-auth-token': acme.token },
    })
    expect(answer.status).toBe(404)
    await waitFor(
      async () => {
        const bound = await Promise.all(NODES.map((node) => system.boundAddresses(node)))
        return !bound.flat().includes(address)
      },
      { what: `${address} to be gone from the nodes` },
    )
    expect(await client.tcp(address, 80, { timeoutMs: 500 })).toMatchObject({ ok: false })
    for (const node of NODES)
      expect(await system.lab.must(node, ['ip', 'route', 'show', 'table', 'all'])).not.toContain(address)
    await served(await addressOf(bolt, 'blog'), membersOf('tenant-b'))
  })
})
