import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../testing/test-bed.ts'

const ROOM = 40

let bed: TestBed
const tokens: string[] = []
const projectIds: string[] = []
let poolId: string

beforeAll(async () => {
  bed = await openTestBed()
  for (const name of ['one', 'two']) {
    const { id } = await bed.admission.createProject({ name, description: '' })
    projectIds.push(id)
    tokens.push((await bed.login(name, id, 'member')).token)
  }
  const pool = await bed.admission.createAddressPool({
    ...{ name: 'public', description: '', cidr: '192.0.2.0/24', gatewayIp: null, projectIds: null },
    ...{ ranges: [{ first: '192.0.2.10', last: `192.0.2.${9 + ROOM}` }], quarantineSeconds: 0 },
  })
  poolId = pool.id
})
afterAll(() => bed.close())

/** What each way of asking answers: the address, or why there is none. */
const WAYS: readonly ((project: number, number: number) => Promise<string>)[] = [
  async (project, number) => {
    const vips = [{ from: 'pool', poolId }]
    const asked = { name: `lb-${number}`, projectId: projectIds[project], vips, listeners: [], pools: [] }
    const { body } = await bed.ask('POST', '/api/v1/load-balancers', tokens[project]!, asked)
    return body.vips?.[0]?.address ?? body.code
  },
  async (project) => {
    const asked = { floatingip: { floating_network_id: poolId } }
    const { status, body } = await bed.ask('POST', '/network/v2.0/floatingips', tokens[project]!, asked)
    return body.floatingip?.floating_ip_address ?? String(status)
  },
  async (project) => {
    const asked = { port: { network_id: poolId } }
    const { status, body } = await bed.ask('POST', '/network/v2.0/ports', tokens[project]!, asked)
    return body.port?.fixed_ips?.[0]?.ip_address ?? String(status)
  },
]

test('load balancers, floating IPs and ports of two projects that ask at once get no address twice, and all of a pool', async () => {
  const asked = Array.from({ length: 3 * ROOM }, (_, number) => WAYS[number % WAYS.length]!(number % 2, number))
  const answers = await Promise.all(asked)
  const given = answers.filter((answer) => answer.includes('.'))
  expect(given).toHaveLength(ROOM)
  expect(new Set(given).size).toBe(ROOM)
  const refused = new Set(answers.filter((answer) => !answer.includes('.')))
  expect([...refused].filter((reason) => !['AddressPoolExhausted', '409', '400'].includes(reason))).toEqual([])
  // Each is one stored address, whoever asked for it.
  const stored = bed.view.list('address').map(({ address }) => address)
  expect(stored.toSorted()).toEqual(given.toSorted())
})
