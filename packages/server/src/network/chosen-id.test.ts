import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../testing/test-bed.ts'

// Objects that are taken over from another Neutron keep their ids.
let bed: TestBed
let admin: string
let member: string
let projectId: string
let poolId: string

beforeAll(async () => {
  bed = await openTestBed()
  const words = { name: 'one', description: '' }
  projectId = (await bed.admission.createProject(words)).id
  admin = (await bed.login('a', projectId, 'admin')).token
  member = (await bed.login('m', projectId, 'member')).token
  const pool = await bed.admission.createAddressPool({
    ...words,
    ...{ ranges: [{ first: '192.0.2.10', last: '192.0.2.60' }], cidr: '192.0.2.0/24', gatewayIp: null },
    ...{ projectIds: null, quarantineSeconds: 0 },
  })
  poolId = pool.id
})
afterAll(() => bed.close())

const post = (path: string, root: string, fields: object, token = admin) =>
  bed.ask('POST', `/network/v2.0/${path}`, token, { [root]: fields })

/** A creation of each kind, given its id. */
const KINDS: readonly (readonly [string, string, () => Promise<object>])[] = [
  ['security-groups', 'security_group', async () => ({ name: 'web' })],
  [
    'security-group-rules',
    'security_group_rule',
    async () => {
      const { body } = await post('security-groups', 'security_group', { project_id: projectId })
      return { security_group_id: body.security_group.id, direction: 'ingress', protocol: 'tcp' }
    },
  ],
  ['floatingips', 'floatingip', async () => ({ floating_network_id: poolId })],
]

describe.each(KINDS)('one of %s', (path, root, fields) => {
  test('has the id that an administrator chooses, and no other gets it', async () => {
    const id = randomUUID()
    const first = await post(path, root, { ...(await fields()), id })
    expect([first.status, first.body[root]?.id]).toEqual([201, id])
    expect((await bed.ask('GET', `/network/v2.0/${path}/${id}`, admin)).body[root]).toMatchObject({ id })
    const second = await post(path, root, { ...(await fields()), id })
    expect([second.status, second.body.NeutronError.message]).toEqual([409, expect.stringContaining(id)])
  })

  test('has none that another caller chooses', async () => {
    const { status, body } = await post(path, root, { ...(await fields()), id: randomUUID() }, member)
    expect([status, body.NeutronError.message]).toEqual([400, expect.stringContaining(`${root}.id`)])
  })
})
