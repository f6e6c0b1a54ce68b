import { afterEach, beforeEach, expect, test } from 'vitest'
import { draftOf, type Office, openOffice, refusal } from './testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

const create = (projectId: string, nodeGroupId: string | null) =>
  office.admission.createLoadBalancer(
    draftOf(projectId, [{ from: 'pool', poolId: office.pool.id, address: null }], { nodeGroupId }),
  )

test('a project can name the groups that are open to it; others look as if they did not exist', async () => {
  const { admission, project, stranger } = office
  const first = await admission.createNodeGroup({ name: 'first' })
  const own = await admission.createNodeGroup({ name: 'own', projectIds: [project.id] })
  const closed = await admission.createNodeGroup({ name: 'closed' })
  const open = await admission.createNodeGroup({ name: 'open', projectIds: null })
  expect(closed.projectIds).toEqual([])
  for (const one of [first, open]) expect(one).not.toHaveProperty('projectIds')

  for (const group of [own, open, first]) {
    const made = await create(project.id, group.id)
    expect(made.nodeGroupId).toBe(group.id)
    await admission.deleteLoadBalancer(made.id, { cascade: true })
  }
  for (const [projectId, group] of [
    [stranger.id, own],
    [stranger.id, closed],
    [project.id, closed],
  ] as const) {
    const refused = await refusal(create(projectId, group.id))
    expect(refused).toMatchObject({ code: 'ReferenceNotFound', field: 'nodeGroupId' })
    const nowhere = '00000000-0000-4000-8000-00000000dead'
    const absent = await refusal(create(projectId, nowhere))
    expect(absent.message.replace(nowhere, group.id)).toBe(refused.message)
  }
  // A load balancer that names no group is in the default group, of whatever project it is.
  expect((await create(stranger.id, null)).nodeGroupId).toBeNull()
})

test('a group is opened to projects and closed again; its load balancers stay', async () => {
  const { admission, project, stranger } = office
  await admission.createNodeGroup({ name: 'default' })
  const group = await admission.createNodeGroup({ name: 'edge' })
  const given = await admission.changeNodeGroup(group.id, { projectIds: [stranger.id, stranger.id] })
  expect(given.projectIds).toEqual([stranger.id])
  const { id } = await create(stranger.id, group.id)
  expect((await admission.changeNodeGroup(group.id, { description: 'x' })).projectIds).toEqual([stranger.id])
  expect(await admission.changeNodeGroup(group.id, { projectIds: null })).not.toHaveProperty('projectIds')
  expect((await create(project.id, group.id)).nodeGroupId).toBe(group.id)
  await admission.changeNodeGroup(group.id, { projectIds: [] })
  expect((await refusal(create(stranger.id, group.id))).code).toBe('ReferenceNotFound')
  expect((await admission.changeLoadBalancer(id, () => ({ name: 'renamed' }))).nodeGroupId).toBe(group.id)
  const unknown = await refusal(admission.changeNodeGroup(group.id, { projectIds: [group.id] }))
  expect(unknown).toMatchObject({ code: 'ReferenceNotFound', field: 'projectIds[0]' })
})
