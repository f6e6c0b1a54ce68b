import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { findingsText } from '@spout/runtime/findings'
import { describe, expect, test } from 'vitest'
import { buildProgram } from '../../program.ts'
import { commandTable } from '../completion/command-table.ts'
import type { Facts } from './facts.ts'
import { findingsOf } from './installation.ts'

const AT = '2026-02-01T00:00:00.000Z'
const status = {
  ...{
    connection: 'connected',
    inSync: true,
    lastReportAt: AT,
    features: [],
    shards: [],
    bgpSessions: [],
    flows: null,
  },
  ...{ departure: null, addressConflicts: [], fabricAddress: '192.0.2.1', announced: 1, problems: [] },
}
const node = (name: string, own: object = {}, about: object = {}) => ({
  ...{ id: `id-${name}`, name, nodeGroupId: 'edge', scheduling: 'enabled', schedulingSince: null, ...about },
  status: { ...status, ...own },
})
const vip = {
  ...{
    address: '198.51.100.16',
    loadBalancerId: 'id-web',
    loadBalancerName: 'web',
    nodeGroup: 'edge',
    announcer: 'vrrp',
  },
  ...{ state: 'announced', owners: ['n1'] },
}
const serving = { state: 'yes', reason: 'Serving', message: '', membersUp: 1, members: 1 }
const lb = (name: string, own: object = {}) => ({
  ...{ id: `id-${name}`, name },
  status: { provisioning: 'active', reason: 'Programmed', message: '', serving, ...own },
})
const pool = {
  id: 'public',
  name: 'public',
  ranges: [{ first: '198.51.100.16', last: '198.51.100.35' }],
  draining: false,
}
const addresses = (count: number) => Array.from({ length: count }, () => ({ holderId: 'public', address: 'any' }))
const certificate = (state: string) => ({
  id: 'c',
  name: 'shop',
  names: ['shop.example.com'],
  status: { state, message: 'So it is.' },
})
const peer = {
  ...{ id: 'id-tor', name: 'tor', template: false, templateId: null, address: '192.0.2.251', port: null, as: 64600 },
  ...{ hops: null, ttlSecurity: null, md5Secret: null, holdTimeS: null, keepaliveTimeS: null, connectRetryS: null },
  ...{ families: null, bfd: 'fast', gracefulRestartS: null, prefixLimit: null, nodeSelection: null },
}
const session = (state: string, announced: number) => ({
  ...{
    peerId: 'id-tor',
    state,
    since: AT,
    announced,
    lastError: state === 'established' ? null : 'Received: Cease',
    bfd: 'up',
  },
})

/** An installation in which nothing is wrong, with these differences. */
const facts = (own: object = {}): Facts =>
  ({
    ...{ nodes: [node('n1'), node('n2')], groups: [{ id: 'edge', name: 'edge', announcer: 'vrrp' }], vips: [vip] },
    ...{
      loadBalancers: [lb('web')],
      certificates: [certificate('valid')],
      pools: [pool],
      addresses: addresses(1),
      peers: [],
    },
    ...own,
  }) as unknown as Facts

const textOf = (own: object) =>
  findingsText(
    findingsOf(facts(own)).filter(({ level }) => level !== 'ok'),
    false,
  )

test('what is right is said, and needs nobody', () => {
  expect(findingsText(findingsOf(facts()), false)).toBe(`\
ok       nodes: 2 of 2 nodes are connected.
ok       addresses: 1 of 1 addresses are announced.
ok       load balancers: 1 of 1 load balancers are active.
ok       address pools: public: 1 of 20 addresses are used.
ok       certificates: 1 of 1 certificates are valid for 30 days or more.
ok       routers: No node speaks BGP: routers learn the addresses by ARP and neighbour discovery and need no settings.
`)
})

describe('nodes', () => {
  test('without any nothing carries traffic', () => {
    expect(textOf({ nodes: [], vips: [] })).toContain('error    nodes: No node is enrolled: nothing carries traffic.\n')
  })

  test('one that is gone is worse than one that never came', () => {
    const nodes = [
      node('n1'),
      node('n2'),
      node('new', { connection: 'never' }),
      node('old', { connection: 'disconnected' }),
    ]
    expect(textOf({ nodes })).toBe(`\
error    nodes: old: It has not reported since ${AT}; changes do not reach it.
         docs/runbook.md, "A node is disconnected"
warning  nodes: new: It is enrolled and has never reported.
         start its agent, or remove it: spout node delete new
`)
  })

  test('problems, conflicts, sessions, flows, and what is out of use', () => {
    const problems = [{ code: 'GroupRefused', message: 'keepalived refused its settings.' }]
    const addressConflicts = [{ address: '192.0.2.1', mac: '02:00:00:00:00:09', since: AT }]
    const flows = { silent: 1, peers: 2, error: null }
    const own = { problems, addressConflicts, bgpSessions: [session('active', 0)], flows, inSync: false }
    expect(textOf({ nodes: [node('n1', own, { scheduling: 'cordoned', schedulingSince: AT }), node('n2')] })).toBe(`\
error    nodes: n1: keepalived refused its settings. (GroupRefused)
         docs/runbook.md, the row of GroupRefused
error    nodes: n1: 02:00:00:00:00:09 claims its address 192.0.2.1 since ${AT}.
         docs/runbook.md, "Somebody claims an address of a node"
error    nodes: n1: Its BGP session with peer id-tor is active: Received: Cease.
         docs/runbook.md, "A BGP session is down"
warning  nodes: n1: It does not hear the flows of 1 of 2 nodes: connections through them break when they fail.
         docs/runbook.md, "Nodes do not hear of each other's flows"
notice   nodes: n1: It has not confirmed the newest changes yet.
         if it stays so: spout explain lb NAME says what n1 waits for
notice   nodes: n1: It is cordoned since ${AT} and takes no new load balancers.
         spout node uncordon n1
`)
  })
})

test('a node that its cluster keeps out of use is mended there, one that an administrator drains too is undrained', () => {
  const held = (own: string) => ({
    ...{ scheduling: 'draining', schedulingSince: AT },
    clusterScheduling: { scheduling: 'draining', reason: 'condition Ready is Unknown', own },
  })
  const told = `It is draining since ${AT} and takes no new load balancers`
  const others = [node('n2'), node('n3')]
  expect(textOf({ nodes: [node('n1', {}, held('enabled')), ...others] })).toBe(`\
notice   nodes: n1: ${told}, for its Kubernetes cluster: condition Ready is Unknown.
         kubectl describe node n1
`)
  expect(textOf({ nodes: [node('n1', {}, held('draining')), ...others] })).toBe(`\
notice   nodes: n1: ${told}.
         spout node undrain n1
`)
})

test('a group needs a second node that is connected and does not drain', () => {
  const warning = `\
warning  groups: edge: It has one connected node for its 1 address: if n1 fails, nobody takes over.
         bring its other nodes back, or enrol one: docs/operations.md, "A new node"
`
  expect(textOf({ nodes: [node('n1')] })).toBe(warning)
  expect(textOf({ nodes: [node('n1'), node('n2', {}, { scheduling: 'draining', schedulingSince: AT })] })).toContain(
    warning,
  )
  expect(textOf({ nodes: [node('n1'), node('n2', {}, { nodeGroupId: 'other' })] })).toBe(warning)
  expect(textOf({ nodes: [node('n1')], vips: [] })).toBe('')
})

test('addresses that nobody or two nodes announce; one whose load balancer failed is said once', () => {
  const two = { ...vip, state: 'two-owners', owners: ['n1', 'n2'] }
  const none = { ...vip, address: '198.51.100.17', state: 'not-announced', owners: [] }
  const failed = { ...none, address: '198.51.100.18', loadBalancerId: 'id-bad' }
  const bad = lb('bad', { provisioning: 'error', reason: 'KernelRefused', message: 'The kernel refused it.' })
  expect(textOf({ vips: [two, none, failed], loadBalancers: [lb('web'), bad, { ...bad, name: 'worse' }] })).toBe(`\
error    addresses: 198.51.100.16: n1 and n2 both announce it.
         docs/runbook.md, "Two nodes own a shard"
error    addresses: 198.51.100.17: No node announces it.
         spout explain vip 198.51.100.17
error    load balancers: bad: The kernel refused it. (KernelRefused) 1 more have the reason KernelRefused.
         spout explain lb bad
`)
})

test('members that are down are their tenants matter', () => {
  const down = { serving: { ...serving, state: 'no', reason: 'AllMembersDown' } }
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  expect(textOf({ loadBalancers: names.map((name) => lb(name, down)) })).toBe(`\
notice   load balancers: No member answers behind a, b, c, d, e and 2 more.
         docs/runbook.md, "Members are down"
`)
})

test.each([
  [17, ''],
  [
    19,
    'warning  address pools: public: 19 of 20 addresses are used.\n         make another pool: spout address-pool create NAME --ranges FIRST-LAST --cidr SUBNET\n',
  ],
  [
    20,
    'error    address pools: public: 20 of 20 addresses are used.\n         make another pool: spout address-pool create NAME --ranges FIRST-LAST --cidr SUBNET\n',
  ],
])('a pool of 20 of which %i are used', (used, text) => {
  expect(textOf({ addresses: addresses(used) })).toBe(text)
})

test.each([
  ['expired', 'error  '],
  ['expiring', 'warning'],
  ['not-yet-valid', 'warning'],
])('a certificate that is %s', (state, level) => {
  expect(textOf({ certificates: [certificate(state)] })).toContain(`${level}  certificates: shop: So it is.\n`)
})

describe('routers', () => {
  const groups = [{ id: 'edge', name: 'edge', announcer: 'bgp' }]
  const nodes = (announced: number) =>
    ['n1', 'n2'].map((name) => node(name, { bgpSessions: [session('established', announced)] }))

  test('what each has to allow', () => {
    expect(textOf({ groups, peers: [peer], nodes: nodes(37) })).toBe(`\
notice   routers: tor: It gets up to 37 prefixes from each of 2 nodes.
         on the router: maximum-prefix of 100 or more for each neighbour; ECMP over 2 next hops or more, with resilient hashing if it has it; BFD with the times of the profile fast; graceful restart as helper for 30 s
`)
  })

  test('a limit that is reached is an error', () => {
    expect(textOf({ groups, peers: [peer], nodes: nodes(100) })).toContain(
      'error    routers: tor: A node announces 100 prefixes, its limit: others are left out.\n',
    )
  })

  test('a peer of a template has its values; one without a session is named; none at all is an error', () => {
    const template = {
      ...peer,
      id: 'id-t',
      name: 't',
      template: true,
      bfd: 'none',
      gracefulRestartS: 0,
      prefixLimit: 500,
    }
    const child = { ...peer, templateId: 'id-t', bfd: null }
    expect(textOf({ groups, peers: [template, child], nodes: nodes(1) })).toContain(
      'maximum-prefix of 500 or more for each neighbour; ECMP over 2 next hops or more, with resilient hashing if it has it; a hold time that you can wait for, since BFD is off; no graceful restart\n',
    )
    expect(textOf({ groups, peers: [peer] })).toContain('warning  routers: tor: No node has a session with it.\n')
    expect(textOf({ groups })).toContain('error    routers: A group announces by BGP, and there is no peer.\n')
  })
})

test('text of others cannot move the cursor', () => {
  expect(textOf({ certificates: [{ ...certificate('expired'), name: 'a\u001b[2Jb' }] })).not.toContain('\u001b')
})

test('every command that it names is one, with its flags', async () => {
  const ignored = { env: {}, colour: false, write: () => {}, signal: new AbortController().signal }
  const rows = commandTable(buildProgram(ignored))
  // Of `spout-agent doctor` as well, which cannot ask the command itself.
  const ofNodes = path.resolve(import.meta.dirname, '../../../../../packages/agent/src/doctor/checks')
  const source = [path.join(import.meta.dirname, 'checks'), ofNodes].flatMap((directory) =>
    readdirSync(directory).map((file) => readFileSync(path.join(directory, file), 'utf8')),
  )
  const named = source.join('\n').match(/spout [a-z-]+ [a-z]+[^'`;\n]*/g) ?? []
  expect(named.length).toBeGreaterThan(6)
  for (const text of named) {
    const [, noun = '', verb = ''] = text.split(' ')
    const row = rows.find((one) => one.path === `${noun} ${verb}`) ?? rows.find((one) => one.path === noun)
    expect(row, text).toBeDefined()
    const flags = row?.options.flatMap((option) => option.flags) ?? []
    expect(flags, text).toEqual(expect.arrayContaining(text.match(/--[a-z0-9-]+/g) ?? []))
  }
})
