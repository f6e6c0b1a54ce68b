import { afterEach, beforeEach, expect, test } from 'vitest'
import { draftOf, type Office, openOffice, refusal } from '../testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

const create = (classId?: string, projectId = office.project.id) =>
  office.admission.createLoadBalancer(
    draftOf(projectId, [{ from: 'pool', poolId: office.pool.id, address: null }], {
      ...(classId !== undefined && { classId }),
    }),
  )
const newClass = async (name: string) => (await office.admission.createLoadBalancerClass({ name })).id
const limit = (classes: Readonly<Record<string, number | null>>) =>
  office.admission.setQuota(office.project.id, {}, classes)

test('a project has as many load balancers of a class as its quota says', async () => {
  const { admission, project, stranger } = office
  const [gold, silver] = [await newClass('gold'), await newClass('silver')]
  await limit({ [gold]: 2 })
  const first = await create(gold)
  await create(gold)
  const before = office.holdings()
  expect(await refusal(create(gold))).toMatchObject({
    code: 'OverQuota',
    message: 'Quota for load balancers of class gold is 2, 2 in use, 1 more wanted',
  })
  expect(office.holdings()).toEqual(before)
  for (const other of [silver, undefined]) await create(other)
  await create(gold, stranger.id)
  await admission.deleteLoadBalancer(first.id, { cascade: true })
  await create(gold)
  expect(admission.classQuotasOf(project.id)).toEqual([
    { id: gold, name: 'gold', limit: 2, used: 2 },
    { id: silver, name: 'silver', limit: null, used: 1 },
  ])
})

test('0 closes a class to a project, and a lower limit takes nothing away', async () => {
  const gold = await newClass('gold')
  await create(gold)
  await limit({ [gold]: 0 })
  expect((await refusal(create(gold))).message).toBe(
    'Quota for load balancers of class gold is 0, 1 in use, 1 more wanted',
  )
  await limit({ [gold]: null })
  await create(gold)
  expect(office.view.get('quota', office.project.id)?.value).not.toHaveProperty('classes')
})

test('of requests at once no more are admitted than there is room for', async () => {
  const gold = await newClass('gold')
  await limit({ [gold]: 3 })
  const made = await Promise.allSettled(Array.from({ length: 8 }, () => create(gold)))
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  expect(office.admission.classQuotasOf(office.project.id)).toMatchObject([{ used: 3 }])
})

test('limits of classes stay when others are set, and go with the class', async () => {
  const { admission, project } = office
  const [gold, silver] = [await newClass('gold'), await newClass('silver')]
  await limit({ [gold]: 2, [silver]: 0 })
  await admission.setQuota(project.id, { pools: 3 })
  await limit({ [silver]: 1 })
  expect(office.view.get('quota', project.id)?.value).toMatchObject({
    classes: { [gold]: 2, [silver]: 1 },
    limits: { pools: 3 },
  })
  await admission.deleteLoadBalancerClass(gold)
  expect(office.view.get('quota', project.id)?.value.classes).toEqual({ [silver]: 1 })
  await admission.deleteLoadBalancerClass(silver)
  expect(office.view.get('quota', project.id)?.value).not.toHaveProperty('classes')
})

test('what is no class, or no count, is refused by its field', async () => {
  const nowhere = '00000000-0000-4000-8000-00000000dead'
  expect(await refusal(limit({ [nowhere]: 1 }))).toMatchObject({
    code: 'ReferenceNotFound',
    field: `classes.${nowhere}`,
  })
  const gold = await newClass('gold')
  for (const count of [-1, 1.5, Number.NaN]) expect((await refusal(limit({ [gold]: count }))).code).toBe('InvalidField')
})
