import { afterEach, beforeEach, expect, test } from 'vitest'
import { draftOf, type Office, openOffice, refusal } from '../testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
  await office.admission.changeProject(office.project.id, { domains: ['shop.example', '*.apps.example'] })
})
afterEach(() => office.close())

const create = (dnsNames: readonly string[], projectId = office.project.id) =>
  office.admission.createLoadBalancer(
    draftOf(projectId, [{ from: 'pool', poolId: office.pool.id, address: null }], { dnsNames }),
  )

test('a load balancer has names of the domains of its project, and no other', async () => {
  const made = await create(['Shop.example.', 'a.b.apps.example'])
  expect(made.dnsNames).toEqual(['shop.example', 'a.b.apps.example'])
  const before = office.holdings()
  expect(await refusal(create(['x.apps.example', 'apps.example']))).toMatchObject({
    code: 'InvalidField',
    message: 'Field dnsNames[1]: no domain of the project covers apps.example',
  })
  expect(await refusal(create(['x.apps.example'], office.stranger.id))).toMatchObject({
    message: 'Field dnsNames[0]: no domain of the project covers x.apps.example',
  })
  expect((await refusal(create(['x_y.apps.example']))).message).toMatch(/^Field dnsNames\[0\]: has a part that/)
  expect(office.holdings()).toEqual(before)
})

test('who has a name keeps it, whatever domains others are given', async () => {
  const { admission, stranger } = office
  const first = await create(['x.apps.example'])
  await admission.changeProject(stranger.id, { domains: ['*.apps.example'] })
  const taken = 'Field dnsNames[0]: another load balancer has the name x.apps.example'
  expect((await refusal(create(['x.apps.example'], stranger.id))).message).toBe(taken)
  const second = await create([], stranger.id)
  const take = () => admission.changeLoadBalancer(second.id, () => ({ dnsNames: ['x.apps.example'] }))
  expect((await refusal(take())).message).toBe(taken)
  await admission.changeLoadBalancer(first.id, () => ({ dnsNames: ['y.apps.example', 'x.apps.example'] }))
  await admission.changeLoadBalancer(first.id, () => ({ dnsNames: [] }))
  expect((await take()).dnsNames).toEqual(['x.apps.example'])
})

test('of requests at once for a name one gets it', async () => {
  const made = await Promise.allSettled(Array.from({ length: 5 }, () => create(['x.apps.example'])))
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a change of names is nothing to nodes, and a time to live can be taken back', async () => {
  const { id, generation } = await create(['x.apps.example'])
  const { changeLoadBalancer } = office.admission
  expect(await changeLoadBalancer(id, () => ({ dnsTtlSeconds: 30 }))).toMatchObject({ generation, dnsTtlSeconds: 30 })
  expect((await changeLoadBalancer(id, () => ({ dnsTtlSeconds: null }))).dnsTtlSeconds).toBeNull()
  expect((await refusal(changeLoadBalancer(id, () => ({ dnsTtlSeconds: 0 })))).field).toBe('dnsTtlSeconds')
})

test('a domain that a name needs stays', async () => {
  const { admission, project } = office
  const { id } = await create(['x.apps.example'])
  const drop = () => admission.changeProject(project.id, { domains: ['shop.example'] })
  expect((await refusal(drop())).message).toBe(
    `a domain of project ${project.id} is in use by load balancer ${id} as x.apps.example`,
  )
  await admission.changeProject(project.id, { domains: ['x.apps.example'] })
  await admission.deleteLoadBalancer(id, { cascade: true })
  expect((await drop()).domains).toEqual(['shop.example'])
  expect((await refusal(admission.changeProject(project.id, { domains: ['shop'] }))).field).toBe('domains[0]')
})
