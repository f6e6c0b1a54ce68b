import { randomUUID } from 'node:crypto'
import type { LoadBalancer, Pool } from '@spout/model'
import { memberOf, poolOf } from '@spout/testkit/model'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { draftOf, type Office, openOffice } from './testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

const MEMBERS = 400
const create = (projectId: string) =>
  office.admission.createLoadBalancer(draftOf(projectId, [{ from: 'pool', poolId: office.pool.id, address: null }]))

const largePool = (): Pool =>
  poolOf(
    randomUUID(),
    Array.from({ length: MEMBERS }, (_, n) => memberOf(randomUUID(), '10.0.0.9', 1 + n)),
  )

/** Makes one field, with a pause before each of many steps that take some time. */
function* slowly(
  change: (current: LoadBalancer) => Partial<LoadBalancer>,
  current: LoadBalancer,
  made: LoadBalancer[],
) {
  for (let n = 0; n < 20; n++) {
    for (const until = performance.now() + 0.6; performance.now() < until; );
    yield
  }
  made.push(current)
  return change(current)
}

test('a long change is made and validated in pieces, and others are served between them', async () => {
  const busy = await create(office.project.id)
  const quiet = await create(office.stranger.id)
  const answered: string[] = []
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  const changed = office.admission
    .changeLongLoadBalancer(busy.id, (current) => slowly(() => ({ pools: [largePool()] }), current, []), turn)
    .then((result) => {
      answered.push('long')
      return result
    })
  await office.admission
    .changeLoadBalancer(quiet.id, () => ({ description: 'quiet' }))
    .then(() => answered.push('quiet'))
  expect((await changed).pools[0]?.members).toHaveLength(MEMBERS)
  expect(answered).toEqual(['quiet', 'long'])
})

test('it is made again when somebody else wrote a newer version meanwhile, and loses nothing of that', async () => {
  const { id } = await create(office.project.id)
  const made: LoadBalancer[] = []
  let overtaken = false
  const turn = async () => {
    if (overtaken) return
    overtaken = true
    const { value, revision } = office.view.get('loadBalancer', id)!
    const newer = { ...value, description: 'by another process' }
    const write = { op: 'put', kind: 'loadBalancer', id, scope: value.projectId, value: newer } as const
    await office.view.caughtUp((await office.store.commit([{ ...write, ifRevision: revision }])).revision)
  }
  const pool = largePool()
  const result = await office.admission.changeLongLoadBalancer(
    id,
    (current) => slowly(({ description }) => ({ pools: [pool], name: `after "${description}"` }), current, made),
    turn,
  )
  expect(result).toMatchObject({ name: 'after "by another process"', description: 'by another process' })
  expect(made.map(({ description }) => description)).toEqual(['', 'by another process'])
})

test('so is a long change of members, and an id that another process gave to a part meanwhile is refused', async () => {
  const { id } = await create(office.project.id)
  const members = largePool().members
  const pool = poolOf(randomUUID(), members.slice(0, 10))
  await office.admission.changeLoadBalancer(id, () => ({ pools: [pool] }))
  const made: LoadBalancer[] = []
  let overtaken = false
  const turn = async () => {
    if (overtaken) return
    overtaken = true
    const { value, revision } = office.view.get('loadBalancer', id)!
    const newer = { ...value, pools: value.pools.map((one) => ({ ...one, members: members.slice(5, 10) })) }
    const write = { op: 'put', kind: 'loadBalancer', id, scope: value.projectId, value: newer } as const
    await office.view.caughtUp((await office.store.commit([{ ...write, ifRevision: revision }])).revision)
  }
  const change = function* (current: LoadBalancer) {
    yield* slowly(() => ({}), current, made)
    return { poolId: pool.id, put: members.slice(8), remove: [] }
  }
  const changed = await office.admission.changeMembers(id, change, turn)
  expect(changed.pools[0]!.members.map(({ port }) => port)).toEqual(members.slice(5).map(({ port }) => port))
  expect(made).toHaveLength(2)

  const put = [memberOf(changed.id, '10.0.0.9', 4001), memberOf(pool.id, '10.0.0.9', 4000)]
  const wrong = office.admission.changeMembers(id, () => ({ poolId: pool.id, put, remove: [] }), turn)
  await expect(wrong).rejects.toMatchObject({ params: { field: 'put[1].id' } })
})

test('what it must not miss is checked at the end: an address that somebody took meanwhile is refused', async () => {
  const { id } = await create(office.project.id)
  const [networkId, subnetId] = [office.network.id, office.subnet.id]
  let taken = false
  const turn = async () => {
    if (taken) return
    taken = true
    const vip = { from: 'subnet', networkId, subnetId, address: '10.0.0.9' } as const
    await office.admission.createLoadBalancer(draftOf(office.project.id, [vip]))
  }
  const changing = office.admission.changeLongLoadBalancer(
    id,
    (current) => slowly(() => ({ pools: [largePool()] }), current, []),
    turn,
  )
  await expect(changing).rejects.toMatchObject({ code: 'AddressForbidden' })
  expect(office.view.get('loadBalancer', id)?.value.pools).toEqual([])
})

test('one that is refused names the field, and changes nothing', async () => {
  const { id } = await create(office.project.id)
  const [pool, turn] = [largePool(), async () => {}]
  const wrong = { ...pool, members: pool.members.with(300, { ...pool.members[300]!, weight: -1 }) }
  const changing = office.admission.changeLongLoadBalancer(
    id,
    (current) => slowly(() => ({ pools: [wrong] }), current, []),
    turn,
  )
  await expect(changing).rejects.toMatchObject({ params: { field: 'pools[0].members[300].weight' } })
  expect(office.view.get('loadBalancer', id)?.value).toMatchObject({ pools: [], generation: 1 })
  // The next change does not wait for the long one.
  await expect(office.admission.changeLoadBalancer(id, () => ({ description: 'next' }))).resolves.toMatchObject({
    description: 'next',
  })
})
