import { afterEach, beforeEach, expect, test } from 'vitest'
import { draftOf, type Office, openOffice } from '../testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

const CHANGES = 6
const round = () => new Promise<void>((resolve) => setImmediate(resolve))
const create = (projectId: string) =>
  office.admission.createLoadBalancer(draftOf(projectId, [{ from: 'pool', poolId: office.pool.id, address: null }]))

/** The descriptions that were committed. */
function committed(): readonly string[] {
  const seen: string[] = []
  office.view.onChange((changed) => {
    for (const { kind, id } of changed)
      if (kind === 'loadBalancer') seen.push(office.view.get('loadBalancer', id)?.value.description ?? '')
  })
  return seen
}

const spend = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until; );
}

test('changes of a project are answered one a round, and those of another at once', async () => {
  const busy = await create(office.project.id)
  const quiet = await create(office.stranger.id)
  await round()
  await round()
  const answered: string[] = []
  const change = (id: string, description: string) =>
    office.admission.changeLoadBalancer(id, () => ({ description })).then(() => answered.push(description))
  const all = Array.from({ length: CHANGES }, (_, n) => change(busy.id, `busy${n}`))
  all.push(change(quiet.id, 'quiet'))
  await round()
  expect(answered).toContain('quiet')
  const counts: number[] = []
  while (answered.length < all.length) {
    counts.push(answered.length)
    await round()
  }
  expect(counts[0]).toBeLessThanOrEqual(3)
  expect(counts.every((count, at) => count - (counts[at - 1] ?? count) <= 1)).toBe(true)
  await Promise.all(all)
  // In the order in which they were applied.
  expect(answered.filter((name) => name !== 'quiet')).toEqual(Array.from({ length: CHANGES }, (_, n) => `busy${n}`))
})

test('changes that take long are committed one by one, so that the event loop is not held up by all of them', async () => {
  const { id } = await create(office.project.id)
  const changes = (ms: number, name: string) =>
    Promise.all(
      Array.from({ length: CHANGES }, (_, n) =>
        office.admission.changeLoadBalancer(id, () => {
          spend(ms)
          return { description: `${name}${n}` }
        }),
      ),
    )
  const seen = committed()
  const results = await changes(2, 'long')
  expect(seen).toEqual(Array.from({ length: CHANGES }, (_, n) => `long${n}`))
  expect(results.map(({ description }) => description)).toEqual(seen)
})

test('commits of a project with many changes at once yield to those of one that has few, deletions too', async () => {
  const yielding = new Map<string, boolean[]>()
  const { store, project, stranger } = office
  const commit = store.commit.bind(store)
  store.commit = (writes, options) => {
    const { id } = writes[0]!
    yielding.set(id, [...(yielding.get(id) ?? []), options?.yields === true])
    return commit(writes, options)
  }
  const busy = await create(project.id)
  const change = ({ id }: { readonly id: string }) =>
    office.admission.changeLoadBalancer(id, () => ({ description: `${Math.random()}` }))
  // Nobody else writes.
  await Promise.all(Array.from({ length: CHANGES }, () => change(busy)))
  expect(yielding.get(busy.id)).not.toContain(true)

  const quiet = await create(stranger.id)
  yielding.clear()
  await Promise.all([
    ...Array.from({ length: CHANGES }, () => change(busy)),
    office.admission.deleteLoadBalancer(busy.id, { cascade: true }),
    change(quiet),
  ])
  expect(yielding.get(busy.id)).not.toContain(false)
  expect(yielding.get(quiet.id)).toEqual([false])
})
