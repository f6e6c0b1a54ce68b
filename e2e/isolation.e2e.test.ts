import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import {
  byLength,
  Caller,
  domainNamespaces,
  must,
  NODES,
  nodeManagementAddress,
  PortScanner,
  recordFault,
  type ScannedPorts,
  type ShownLoadBalancer,
  startMember,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACME, BOLT, balancer, member, PORT, quickCheck, tally, vipOf } from './fixtures.ts'

const METADATA = '169.254.169.254'
const REFUSED_WITHIN_MS = 250
/** A port of a TCP member without a listener; the UDP member's is one higher. */
const REPLY_PORT = 9555

let system: TestSystem
let client: Caller
/** A caller on a member of tenant acme, whose default route is the load-balancer node. */
let hostile: Caller
let acme: Tenant
let bolt: Tenant
/** VIPs of both tenants. */
let vips: readonly string[]

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT] })
  ;[acme, bolt] = system.tenants as [Tenant, Tenant]
  const { lab } = system
  const subnet6 = { name: 'subnet6', cidr: 'fd10::/64', gatewayIp: 'fd10::1' }
  await system.api(system.access.admin, 'POST', `/networks/${acme.networkId}/subnets`, subnet6)
  // Everything that must be out of reach listens, so that a missing server is not what keeps the tenant away.
  await Promise.all([...NODES, 'router', 'client'].map((place) => startMember(lab, place)))
  for (const node of NODES) await lab.must(node, ['ip', 'addr', 'add', `${METADATA}/32`, 'dev', 'lo'])
  client = await Caller.start(lab, 'client')
  hostile = await Caller.start(lab, 'tenant-a-member1')
  const created = [
    await system.createLoadBalancer(acme, balancer('shop', 'tcp')),
    await system.createLoadBalancer(acme, balancer('shop-http', 'http')),
    await system.createLoadBalancer(acme, balancer('replies', 'tcp', { memberPort: REPLY_PORT })),
    await system.createLoadBalancer(bolt, balancer('blog', 'http')),
  ]
  vips = created.map(vipOf)
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await hostile?.[Symbol.asyncDispose]()
  await system?.destroy()
})

const OUT_OF_REACH: readonly (readonly [what: string, address: () => string])[] = [
  ['the router', () => '198.51.100.1'],
  ['the router, IPv6', () => '2001:db8:f::1'],
  ['the fabric address of node1', () => '198.51.100.2'],
  ['the fabric address of node2', () => '198.51.100.3'],
  ['the fabric address of node1, IPv6', () => '2001:db8:f::2'],
  ['the fabric address of node2, IPv6', () => '2001:db8:f::3'],
  ['the management address of node1', () => nodeManagementAddress(system.lab.number, 0)],
  ['the management address of node2', () => nodeManagementAddress(system.lab.number, 1)],
  ['the internet', () => '203.0.113.10'],
  ['the internet, IPv6', () => '2001:db8:c::10'],
  ['the metadata address', () => METADATA],
  ["the root's end of the uplink", () => '240.0.0.2'],
  ["the root's end of the other tenant's uplink", () => '240.0.0.4'],
]

/** What answers at an address when a caller on a member tries all it can. */
async function whatAnswers(caller: Caller, address: string): Promise<readonly unknown[]> {
  const options = { timeoutMs: REFUSED_WITHIN_MS }
  const outcomes = await Promise.all([
    caller.tcp(address, PORT.tcp, options),
    caller.udp(address, PORT.udp, 'hello', options),
    // From ports where members answer, as if it were the reply to a client.
    caller.tcp(address, PORT.tcp, { ...options, sourcePort: REPLY_PORT }),
    caller.udp(address, PORT.udp, 'hello', { ...options, sourcePort: REPLY_PORT + 1 }),
  ])
  return outcomes.filter(({ ok }) => ok)
}

describe('from a member, through its gateway', () => {
  it('the gateway is the way: the tenant has no other', async () => {
    const { lab } = system
    expect(await lab.must('tenant-a-member1', ['ip', 'route', 'get', '198.51.100.1'])).toContain('via 10.0.0.1')
    await lab.must('tenant-a-member1', ['ping', '-c', '1', '-W', '1', '10.0.0.1'])
    expect(await hostile.tcp('10.0.0.12', PORT.tcp)).toEqual({ ok: true, value: 'tenant-a-member2' })
  })

  it.each(OUT_OF_REACH)('%s is not reached', async (_what, address) => {
    expect(await whatAnswers(hostile, address())).toEqual([])
  })

  it('those servers do answer whom they should', async () => {
    for (const address of ['198.51.100.1', '198.51.100.2', '198.51.100.3', '2001:db8:f::2'])
      expect(await client.tcp(address, PORT.tcp)).toMatchObject({ ok: true })
    await using node = await Caller.start(system.lab, 'node1')
    for (const address of [METADATA, nodeManagementAddress(system.lab.number, 1)])
      expect(await node.tcp(address, PORT.tcp)).toMatchObject({ ok: true })
  })

  it('the control plane is not reached', async () => {
    const agentLink = 9131
    const options = { timeoutMs: REFUSED_WITHIN_MS }
    expect(await hostile.tcp(system.lab.hostAddress, agentLink, options)).toMatchObject({ ok: false })
    const { code } = await system.lab.run('node1', ['curl', '-sk', `https://${system.lab.hostAddress}:${agentLink}/`])
    expect(code).toBe(0)
  })

  it('addresses of the other tenant are those of its own network', async () => {
    for (const address of ['10.0.0.11', '10.0.0.12'])
      expect(await hostile.tcp(address, PORT.tcp)).toMatchObject({
        ok: true,
        value: expect.stringMatching(/^tenant-a-/),
      })
  })

  it("HAProxy's own ports are not reached, its own or the other tenant's, from either side", async () => {
    const ports = await proxyPorts()
    expect(ports.length).toBeGreaterThan(0)
    const options = { timeoutMs: REFUSED_WITHIN_MS }
    for (const { addresses, port } of ports) {
      const attempts = [
        ...[...addresses, '10.0.0.1', ...vips].map((target) => hostile.tcp(target, port, options)),
        ...vips.map((target) => client.tcp(target, port, options)),
      ]
      expect([port, (await Promise.all(attempts)).filter(({ ok }) => ok)]).toEqual([port, []])
    }
  })

  it('a member that speaks as somebody else makes no VIP answer there', async () => {
    const { lab } = system
    const claimed = '203.0.113.10'
    const resets = async () =>
      /^Tcp: (\d.*)$/m.exec(await lab.must('client', ['cat', '/proc/net/snmp']))?.[1]?.split(' ')[13]
    await lab.must('tenant-a-member1', ['ip', 'addr', 'add', `${claimed}/32`, 'dev', 'lo'])
    const before = await resets()
    const options = { source: claimed, timeoutMs: REFUSED_WITHIN_MS }
    for (const vip of vips) expect(await hostile.tcp(vip, 80, options)).toMatchObject({ ok: false })
    // The client would have reset a VIP's answer to a connection that it never opened.
    expect(await resets()).toBe(before)
    await lab.must('tenant-a-member1', ['ip', 'addr', 'delete', `${claimed}/32`, 'dev', 'lo'])
  })

  it('a UDP member that speaks first reaches clients, but no address of the system', async () => {
    await system.createLoadBalancer(acme, balancer('first', 'udp', { port: 53, memberPort: REPLY_PORT + 1 }))
    const options = { sourcePort: REPLY_PORT + 1, timeoutMs: REFUSED_WITHIN_MS }
    // Replies may pass: a client is reached, and sees only the load balancer's address.
    expect(await hostile.udp('203.0.113.10', PORT.udp, 'hello', options)).toEqual({ ok: true, value: 'client hello' })
    for (const target of [
      '198.51.100.1',
      '198.51.100.2',
      '198.51.100.3',
      METADATA,
      nodeManagementAddress(system.lab.number, 0),
      nodeManagementAddress(system.lab.number, 1),
    ])
      expect([target, await hostile.udp(target, PORT.udp, 'hello', options)]).toMatchObject([target, { ok: false }])
  })
})

describe("from a member that makes a node's own address its gateway", () => {
  it('nothing is reached either', async () => {
    const { lab } = system
    const place = 'tenant-b-member1'
    const { number } = await system.api<{ number: number }>(bolt, 'GET', `/networks/${bolt.networkId}`)
    const found = NODES.flatMap((node) => domainNamespaces(lab, node).filter((name) => name.endsWith(`-d${number}`)))
    expect(found.length).toBeGreaterThan(0)
    await using caller = await Caller.start(lab, place)
    for (const namespace of found) {
      const text = await must(['ip', '-j', '-4', '-n', namespace, 'addr', 'show', 'dev', 'segment'])
      const [link] = JSON.parse(text) as { readonly addr_info: readonly { readonly local: string }[] }[]
      const nodeAddress = link?.addr_info[0]?.local ?? ''
      await lab.must(place, ['ping', '-c', '1', '-W', '1', nodeAddress])
      await lab.must(place, ['ip', 'route', 'replace', 'default', 'via', nodeAddress])
      for (const [what, address] of OUT_OF_REACH.filter(([name]) => !name.includes('IPv6')))
        expect([what, await whatAnswers(caller, address())]).toEqual([what, []])
    }
  })
})

/** Ports on which HAProxy listens in the domains of all nodes, a few per domain, and the domain's addresses. */
async function proxyPorts(): Promise<readonly { readonly addresses: readonly string[]; readonly port: number }[]> {
  const ports: { addresses: readonly string[]; port: number }[] = []
  for (const node of NODES)
    for (const namespace of domainNamespaces(system.lab, node)) {
      const text = await must(['ip', 'netns', 'exec', namespace, 'ss', '-Hltn', '-4'])
      const local = text
        .split('\n')
        .filter(Boolean)
        .map((line) => line.trim().split(/\s+/)[3] ?? '')
      const shown = await must(['ip', '-n', namespace, '-4', '-j', 'addr', 'show', 'scope', 'global'])
      const links = JSON.parse(shown) as readonly { readonly addr_info: readonly { readonly local: string }[] }[]
      const addresses = links.flatMap(({ addr_info }) => addr_info.map(({ local: address }) => address))
      for (const socket of local.slice(0, 2))
        ports.push({ addresses, port: Number(socket.slice(socket.lastIndexOf(':') + 1)) })
    }
  return ports
}

/** Ports on which somebody listens: on a node, in a domain, on the machine of the control plane, at a member. */
async function listeningPorts(): Promise<readonly number[]> {
  const { lab } = system
  const members = [1, 2].flatMap((at) => [`tenant-a-member${at}`, `tenant-b-member${at}`])
  const namespaces = [
    ...[...NODES, ...members].map((place) => lab.namespace(place)),
    ...NODES.flatMap((node) => domainNamespaces(lab, node)),
  ]
  const show = ['ss', '-Hltn']
  const texts = await Promise.all([
    must(show),
    ...namespaces.map((name) => must(['ip', 'netns', 'exec', name, ...show])),
  ])
  const sockets = texts
    .flatMap((text) => text.split('\n').filter(Boolean))
    .map((line) => line.trim().split(/\s+/)[3] ?? '')
  const ports = new Set(sockets.map((socket) => Number(socket.slice(socket.lastIndexOf(':') + 1))))
  expect(ports).toContain(PORT.http)
  return [...ports]
}

describe('a scan of TCP ports', () => {
  /** To be open, a port beyond it would need a rule that leads it elsewhere: ports with a socket are scanned, too. */
  const last = byLength(10_000, 65_535)
  let ports: ScannedPorts
  /** The listener's port of the VIPs that the first tests made. */
  const LISTENER = 80
  /** The nodes are alike: scans one of them, and the addresses that both have. */
  const SCANNED = /node1|metadata|uplink/
  /** In the order of `vips`. Members of the third have no server: a listener of protocol `tcp` answers as they do. */
  const OPEN = [[LISTENER], [LISTENER], [], [LISTENER]]
  /** The last VIP is another tenant's. */
  const OPEN_TO_ACME = [[LISTENER], [LISTENER], [], []]
  let scanner: PortScanner

  beforeAll(async () => {
    scanner = await PortScanner.create()
    ports = { last, also: (await listeningPorts()).filter((port) => port > last) }
  })
  afterAll(() => scanner?.[Symbol.dispose]())

  const scan = async (place: string, address: string) => {
    const { open, closed, silent } = await scanner.scan(system.lab, place, address, ports)
    expect(open.length + closed + silent).toBe(ports.last + ports.also.length)
    return open
  }

  const tried = (addresses: number): string =>
    `ports 1 to ${last} and ${ports.also.length} others with a socket, of ${addresses} addresses`

  it("from a member: of a node, the control plane and the load balancers, listeners' ports alone take a connection", async () => {
    const from = 'tenant-a-member1'
    expect(await scan(from, '10.0.0.12')).toEqual([PORT.http, PORT.tcp])
    const nowhere = [
      ...OUT_OF_REACH.filter(([what]) => SCANNED.test(what)).map(([, address]) => address()),
      system.lab.hostAddress,
      ...(await segmentAddresses(acme)),
    ]
    const found = new Map<string, readonly number[]>()
    for (const address of nowhere) found.set(address, await scan(from, address))
    expect([...found].filter(([, open]) => open.length > 0)).toEqual([])
    const answered: (readonly number[])[] = []
    for (const vip of vips) answered.push(await scan(from, vip))
    expect(answered).toEqual(OPEN_TO_ACME)
    recordFault({
      fault: 'port scan from a member of a tenant',
      outcome: "listeners' ports of load balancers take connections, nothing else",
      figure: `${tried(nowhere.length + vips.length)}, ${answered.flat().length} open`,
    })
  })

  it("from the internet: a load balancer has its listeners' ports open, a node what it is given and nothing of ours", async () => {
    const answered: (readonly number[])[] = []
    for (const vip of vips) answered.push(await scan('client', vip))
    expect(answered).toEqual(OPEN)
    // Servers of this test, which prove that the path there is open.
    const nodes: (readonly number[])[] = []
    for (const node of ['198.51.100.2', '2001:db8:f::2']) nodes.push(await scan('client', node))
    expect(nodes).toEqual(nodes.map(() => [PORT.http, PORT.tcp]))
    recordFault({
      fault: 'port scan from the internet',
      outcome: "a load balancer's listeners take connections; of a node nothing of ours does",
      figure: `${tried(vips.length + nodes.length)}, ${answered.flat().length} open, each a listener`,
    })
  })

  it('what programs of ours talk through on a node is for its owner alone', () => {
    const { lab } = system
    const sockets = [lab.directory, lab.runDirectory].flatMap((directory) => socketsIn(directory))
    expect(sockets.filter((file) => file.startsWith(lab.runDirectory)).length).toBeGreaterThan(NODES.length)
    expect(sockets.some((file) => file.endsWith('control-plane/api.sock'))).toBe(true)
    const open = sockets.filter((file) => (statSync(file).mode & 0o777) !== 0o600)
    expect(open).toEqual([])
  })

  it('and none of them is an abstract socket, which has no mode', async () => {
    for (const node of NODES)
      for (const namespace of [system.lab.namespace(node), ...domainNamespaces(system.lab, node)]) {
        const text = await must(['ip', 'netns', 'exec', namespace, 'cat', '/proc/net/unix'])
        expect(text.split('\n').filter((line) => / @/.test(line))).toEqual([])
      }
  })
})

/** Addresses of the nodes in a tenant's segment, its gateway among them. */
async function segmentAddresses(tenant: Tenant): Promise<readonly string[]> {
  const { number } = await system.api<{ number: number }>(tenant, 'GET', `/networks/${tenant.networkId}`)
  const namespaces = NODES.flatMap((node) =>
    domainNamespaces(system.lab, node).filter((name) => name.endsWith(`-d${number}`)),
  )
  const texts = await Promise.all(
    namespaces.map((name) => must(['ip', '-j', '-n', name, 'addr', 'show', 'dev', 'segment', 'scope', 'global'])),
  )
  const links = texts.flatMap(
    (text) => JSON.parse(text) as readonly { readonly addr_info?: readonly { readonly local?: string }[] }[],
  )
  const addresses = new Set(links.flatMap(({ addr_info = [] }) => addr_info.flatMap(({ local = [] }) => local)))
  expect(addresses).toContain('10.0.0.1')
  return [...addresses]
}

function socketsIn(directory: string, depth = 8): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(directory, entry.name)
    if (entry.isDirectory()) return depth === 0 ? [] : socketsIn(file, depth - 1)
    return entry.isSocket() ? [file] : []
  })
}

describe('names that try to be something else', () => {
  const MARK = 'zzEVILzz'
  const HOSTILE = [
    `${MARK}\n    server evil 198.51.100.2:22`,
    `${MARK}"; add rule inet spout requests4 accept; #`,
    `${MARK}'; touch /tmp/${MARK}; $(id) \`id\``,
    `${MARK}\u0001\u001b[2J\u007f\r\n`,
    `${MARK}\\x22 %[src] {{7*7}} \${HOME} \u202e`,
  ]

  it.each(HOSTILE.map((name, index) => ({ index, name })))(
    'number $index: everything works and no text of it is on a node',
    async ({ name, index }) => {
      const words = { name, description: name.slice(0, 255), tags: [name] }
      const protocol = index % 2 === 0 ? 'http' : 'tcp'
      const created = await system.createLoadBalancer(acme, {
        ...words,
        annotations: { note: name },
        listeners: [{ ...words, protocol, port: 80, defaultPool: name }],
        pools: [
          {
            ...words,
            protocol,
            members: [member(1, PORT.http, words), member(2, PORT.http, words)],
            monitor: { ...quickCheck(protocol), ...words },
          },
        ],
      })
      await waitFor(
        async () => {
          const answers = await client.members(vipOf(created), 8)
          return !answers.includes(null) && tally(answers.map((answer) => answer?.member)).size === 2
        },
        { what: 'both members to answer' },
      )
      expect(await system.loadBalancer(acme, created.id)).toMatchObject({ name, description: name, tags: [name] })
      const octavia = await fetch(`${system.access.endpoint}/load-balancer/v2/lbaas/loadbalancers/${created.id}`, {
        headers: { 'x-auth-token': acme.token },
      })
      expect(await octavia.json()).toMatchObject({ loadbalancer: { name } })
    },
  )

  it('text that holds NUL is refused by its field, and nothing is made', async () => {
    const before = (await system.api<{ items: unknown[] }>(acme, 'GET', '/load-balancers')).items.length
    const description = `${MARK}\u0000`
    await expect(system.createLoadBalancer(acme, { name: 'nul', description })).rejects.toThrow(/description/)
    expect((await system.api<{ items: unknown[] }>(acme, 'GET', '/load-balancers')).items).toHaveLength(before)
  })

  it('is in no file of a node, no log, no figure, no ruleset and no command line', async () => {
    const { lab } = system
    const figures = await (await fetch(`${system.access.statusUrl}/metrics`)).text()
    expect(figures).toMatch(/^spout_/m)
    expect(figures).not.toContain(MARK)
    const files = [lab.directory, lab.runDirectory].flatMap((directory) => filesIn(directory))
    const suspects = files.filter((file) => !file.startsWith(path.join(lab.directory, 'control-plane/')))
    expect(suspects.some((file) => file.endsWith('haproxy.cfg'))).toBe(true)
    expect(suspects.some((file) => file.endsWith('entries.journal'))).toBe(true)
    expect(suspects.some((file) => file.endsWith('control-plane.log'))).toBe(true)
    expect(suspects.filter((file) => readFileSync(file, 'latin1').includes(MARK))).toEqual([])

    for (const node of NODES)
      for (const namespace of [lab.namespace(node), ...domainNamespaces(lab, node)]) {
        const ruleset = await must(['ip', 'netns', 'exec', namespace, 'nft', 'list', 'ruleset'])
        expect(ruleset.includes(MARK)).toBe(false)
      }

    const lines = readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .map((pid) => readCommandLine(pid))
    expect(lines.filter((line) => line.includes('haproxy') && line.includes(lab.runDirectory))).not.toEqual([])
    expect(lines.filter((line) => line.includes(MARK))).toEqual([])
    expect(filesIn('/tmp', 0).filter((file) => path.basename(file) === MARK)).toEqual([])
  })
})

const readCommandLine = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

function filesIn(directory: string, depth = 8): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(directory, entry.name)
    if (entry.isDirectory()) return depth === 0 ? [] : filesIn(file, depth - 1)
    return entry.isFile() && statSync(file).size < 64 * 1024 * 1024 ? [file] : []
  })
}

describe('what the kernel refuses for one load balancer', () => {
  it('fails that one alone, in the words of the kernel, and is mended by itself', async () => {
    const { lab } = system
    // Another program put an element with the same key and another value into the map: the kernel refuses both.
    const taken = '198.51.100.200'
    const stray = `element inet spout service4 { ${taken} . tcp . 80 : 0x00000fff }`
    const namespaces = (
      await Promise.all(
        NODES.flatMap((node) => domainNamespaces(lab, node)).map(async (namespace) => {
          const text = await lab.run('host', ['ip', 'netns', 'exec', namespace, 'nft', 'list', 'tables'])
          return text.stdout.includes('inet spout\n') ? namespace : null
        }),
      )
    ).filter((namespace) => namespace !== null)
    const inEach = async (change: 'add' | 'delete'): Promise<void> => {
      for (const namespace of namespaces) await must(['ip', 'netns', 'exec', namespace, 'nft', `${change} ${stray}`])
    }
    await inEach('add')
    const create = (name: string, address: string | null) =>
      system.api<ShownLoadBalancer>(acme, 'POST', '/load-balancers', {
        ...balancer(name, 'tcp'),
        vips: [{ from: 'pool', poolId: system.publicPoolId, address }],
      })
    const [refused, ...others] = await Promise.all([
      create('refused', taken),
      create('beside-1', null),
      create('beside-2', null),
      create('beside-3', null),
    ])
    const shown = await waitFor(
      async () => {
        const now = await system.loadBalancer(acme, refused.id)
        return now.status.provisioning === 'error' && now
      },
      { what: 'the load balancer to be shown in error' },
    )
    expect(shown.status.reason).toBe('KernelRefused')
    expect(shown.status.message).toMatch(/^Node node[12]: .*File exists/)
    for (const { id } of others) {
      const other = await system.active(acme, id)
      expect(await client.tcp(vipOf(other), 80)).toMatchObject({ ok: true })
    }
    expect(await client.tcp(taken, 80, { timeoutMs: 500 })).toMatchObject({ ok: false })
    await inEach('delete')
    await waitFor(async () => (await system.loadBalancer(acme, refused.id)).status.provisioning === 'active', {
      what: 'the load balancer to be active once nothing is in its way',
      timeoutMs: 40_000,
    })
    expect(await client.tcp(taken, 80)).toMatchObject({ ok: true })
  })
})
