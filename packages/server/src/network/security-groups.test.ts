import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../testing/test-bed.ts'

let bed: TestBed
let member: string
let reader: string
let stranger: string
let projectId: string
let loadBalancerId: string
let portId: string

beforeAll(async () => {
  bed = await openTestBed()
  const words = { name: 'one', description: '' }
  projectId = (await bed.admission.createProject(words)).id
  const otherId = (await bed.admission.createProject({ ...words, name: 'two' })).id
  member = (await bed.login('m', projectId, 'member')).token
  reader = (await bed.login('r', projectId, 'reader')).token
  stranger = (await bed.login('s', otherId, 'member')).token
  const pool = await bed.admission.createAddressPool({
    ...words,
    ...{ ranges: [{ first: '192.0.2.10', last: '192.0.2.60' }], cidr: '192.0.2.0/24', gatewayIp: null },
    ...{ projectIds: null, quarantineSeconds: 300 },
  })
  const made = await bed.admission.createLoadBalancer({
    ...{ ...words, projectId, tags: [], enabled: true, listeners: [], pools: [], nodeGroupId: null, annotations: {} },
    vips: [{ from: 'pool', poolId: pool.id, address: null }],
  })
  loadBalancerId = made.id
  portId = made.vips[0]?.addressId ?? ''
})
afterAll(() => bed.close())

const ask = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown, token = member) =>
  bed.ask(method, `/network/v2.0/${path}`, token, body)

const newGroup = async (name: string): Promise<string> =>
  (await ask('POST', 'security-groups', { security_group: { name, description: 'made by a test' } })).body
    .security_group.id

const newRule = (security_group_id: string, fields: object) =>
  ask('POST', 'security-group-rules', { security_group_rule: { security_group_id, direction: 'ingress', ...fields } })

test('a group is made empty, found by name, renamed, tagged and deleted', async () => {
  const id = await newGroup('web')
  const { body } = await ask('GET', 'security-groups?name=web')
  expect(body.security_groups).toMatchObject([
    { id, name: 'web', description: 'made by a test', project_id: projectId, stateful: true, security_group_rules: [] },
  ])
  expect((await ask('PUT', `security-groups/${id}`, { security_group: { name: 'shop' } })).body).toMatchObject({
    security_group: { name: 'shop', description: 'made by a test' },
  })
  expect((await ask('PUT', `security-groups/${id}/tags`, { tags: ['a', 'b'] })).body).toEqual({ tags: ['a', 'b'] })
  expect((await ask('GET', 'security-groups?tags=a,b')).body.security_groups).toMatchObject([{ id }])
  expect((await ask('DELETE', `security-groups/${id}`)).status).toBe(204)
  expect((await ask('GET', `security-groups/${id}`)).status).toBe(404)
})

test('rules as clients write them', async () => {
  const id = await newGroup('rules')
  const cases: readonly (readonly [object, object])[] = [
    [
      { protocol: 'tcp', port_range_min: 80, port_range_max: 90, remote_ip_prefix: '10.1.2.3/8' },
      { protocol: 'tcp', port_range_min: 80, port_range_max: 90, remote_ip_prefix: '10.0.0.0/8', ethertype: 'IPv4' },
    ],
    [
      { protocol: 17, ethertype: 'IPv6' },
      { protocol: 'udp', ethertype: 'IPv6', remote_ip_prefix: null, port_range_min: null },
    ],
    [
      { remote_ip_prefix: '192.0.2.7', protocol: null },
      { protocol: null, remote_ip_prefix: '192.0.2.7/32' },
    ],
    [
      { protocol: 'SCTP', description: 'mine' },
      { protocol: 'sctp', description: 'mine' },
    ],
  ]
  for (const [written, shown] of cases) {
    const { status, body } = await newRule(id, written)
    expect([status, body.security_group_rule]).toMatchObject([201, { ...shown, security_group_id: id }])
    const again = await newRule(id, written)
    expect([again.status, again.body.NeutronError.message]).toEqual([409, expect.stringContaining('exists')])
  }
  const { security_group_rules: rules } = (await ask('GET', `security-group-rules?security_group_id=${id}`)).body
  expect(rules).toHaveLength(cases.length)
  expect((await ask('GET', `security-groups/${id}`)).body.security_group.security_group_rules).toEqual(rules)
  const [{ id: first }] = rules
  expect((await ask('GET', `security-group-rules/${first}`)).body.security_group_rule).toEqual(rules[0])
  expect((await ask('DELETE', `security-group-rules/${first}`)).status).toBe(204)
  expect((await ask('DELETE', `security-group-rules/${first}`)).status).toBe(404)
  expect(bed.view.get('securityGroup', id)?.value.rules).toHaveLength(cases.length - 1)
})

test.each<[string, object, string]>([
  ['of egress', { direction: 'egress' }, 'direction'],
  ['in no direction', { direction: 'sideways' }, 'direction'],
  ['of no IP', { ethertype: 'IPX' }, 'ethertype'],
  ['of a protocol that nothing here speaks', { protocol: 'icmp' }, 'protocol'],
  ['of a protocol named like a property', { protocol: 'constructor' }, 'protocol'],
  ['of ports without a protocol', { port_range_min: 1, port_range_max: 2 }, 'protocol'],
  ['of a range without an end', { protocol: 'tcp', port_range_min: 1 }, 'port_range_max'],
  [
    'of a range that ends before it begins',
    { protocol: 'tcp', port_range_min: 9, port_range_max: 8 },
    'port_range_max',
  ],
  ['of a port beyond all', { protocol: 'tcp', port_range_min: 1, port_range_max: 65_536 }, 'port_range_max'],
  ['of another group', { remote_group_id: '11111111-2222-4333-8444-555555555555' }, 'remote_group_id'],
  ['from a prefix of the other IP', { remote_ip_prefix: '2001:db8::/32' }, 'remote_ip_prefix'],
  ['from no prefix', { remote_ip_prefix: '10.0.0.0/33' }, 'remote_ip_prefix'],
  ['with a field that there is not', { colour: 'red' }, 'colour'],
])('a rule %s is refused by the name of the field', async (_what, fields, field) => {
  const id = await newGroup('refusing')
  const { status, body } = await newRule(id, fields)
  expect([status, body.NeutronError.message]).toEqual([400, expect.stringContaining(field)])
  expect(bed.view.get('securityGroup', id)?.value.rules).toEqual([])
})

test('another project knows nothing of a group, and a reader changes nothing', async () => {
  const id = await newGroup('ours')
  const rule = (await newRule(id, { protocol: 'tcp' })).body.security_group_rule.id
  expect((await ask('GET', 'security-groups', undefined, stranger)).body).toEqual({ security_groups: [] })
  expect((await ask('GET', 'security-group-rules', undefined, stranger)).body).toEqual({ security_group_rules: [] })
  for (const path of [`security-groups/${id}`, `security-group-rules/${rule}`])
    for (const method of ['GET', 'DELETE'] as const)
      expect([path, method, (await ask(method, path, undefined, stranger)).status]).toEqual([path, method, 404])
  expect((await ask('POST', 'security-groups', { security_group: { name: 'x' } }, reader)).status).toBe(403)
  expect((await ask('DELETE', `security-groups/${id}`, undefined, reader)).status).toBe(403)
  expect((await ask('GET', `security-groups/${id}`, undefined, reader)).status).toBe(200)
})

describe('the port of a load balancer', () => {
  test('has the groups of the load balancer, and gives it others', async () => {
    const id = await newGroup('of a port')
    const groupsOf = () => bed.view.get('loadBalancer', loadBalancerId)?.value.securityGroupIds
    expect((await ask('PUT', `ports/${portId}`, { port: { security_groups: [id] } })).body.port).toMatchObject({
      security_groups: [id],
    })
    expect(groupsOf()).toEqual([id])
    expect((await ask('GET', `ports?device_id=lb-${loadBalancerId}`)).body.ports).toMatchObject([
      { security_groups: [id] },
    ])
    const refused = await ask('DELETE', `security-groups/${id}`)
    expect([refused.status, refused.body.NeutronError.type]).toEqual([409, 'SecurityGroupInUse'])
    const nobody = '11111111-2222-4333-8444-555555555555'
    expect((await ask('PUT', `ports/${portId}`, { port: { security_groups: [nobody] } })).status).toBe(404)
    await ask('PUT', `ports/${portId}`, { port: { security_groups: [] } })
    expect(groupsOf()).toEqual([])
    expect((await ask('DELETE', `security-groups/${id}`)).status).toBe(204)
  })

  test('alone has groups: another port is nothing that listens here', async () => {
    const id = await newGroup('of no port')
    const { holderId: network_id } = bed.view.addressByPort(portId)!
    const { body } = await ask('POST', 'ports', { port: { network_id } })
    const answer = await ask('PUT', `ports/${body.port.id}`, { port: { security_groups: [id] } })
    expect([answer.status, answer.body.NeutronError.message]).toEqual([400, expect.stringContaining('security_groups')])
    expect((await ask('PUT', `ports/${body.port.id}`, { port: { security_groups: [] } })).status).toBe(200)
  })
})

test('groups and their rules are limited', async () => {
  const used = (await bed.admission.quotaOf(projectId)).used.securityGroups
  await bed.admission.setQuota(projectId, { securityGroups: used + 1 })
  expect((await ask('GET', `quotas/${projectId}`)).body.quota).toMatchObject({ security_group: used + 1 })
  const last = await newGroup('last')
  const refused = await ask('POST', 'security-groups', { security_group: { name: 'one more' } })
  expect([refused.status, refused.body.NeutronError.type]).toEqual([409, 'OverQuota'])
  const rules = Array.from({ length: 200 }, (_, at) => ({
    ...{ id: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`, description: '' },
    ...({ createdAt: '2026-01-31T12:00:00.000Z', ipVersion: 4, transport: 'tcp', cidr: null } as const),
    ports: { first: at + 1, last: at + 1 },
  }))
  await bed.admission.changeSecurityGroup(last, () => ({ rules }))
  const full = await newRule(last, { protocol: 'udp' })
  expect([full.status, full.body.NeutronError.message]).toEqual([400, expect.stringContaining('rules')])
})
