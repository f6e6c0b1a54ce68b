import { FakeClock } from '@spout/runtime/fake-clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../testing/test-bed.ts'

let bed: TestBed
let admin: string
let member: string
let stranger: string
let projectId: string
let pool: string
beforeAll(async () => {
  bed = await openTestBed(new FakeClock(new Date()))
  projectId = (await bed.admission.createProject({ name: 'one', description: '' })).id
  const other = (await bed.admission.createProject({ name: 'two', description: '' })).id
  member = (await bed.login('m', projectId, 'member')).token
  stranger = (await bed.login('s', other, 'member')).token
  admin = await bed.adminLogin()
  const made = await bed.askNative('POST', '/address-pools', admin, {
    name: 'public',
    ranges: [{ first: '192.0.2.10', last: '192.0.2.250' }],
    cidr: '192.0.2.0/24',
    projectIds: null,
  })
  pool = made.body.id
})
afterAll(() => bed.close())

const newClass = (fields: object) => bed.askNative('POST', '/load-balancer-classes', admin, fields)
const newLoadBalancer = (fields: object) =>
  bed.askNative('POST', '/load-balancers', member, { vips: [{ from: 'pool', poolId: pool, address: null }], ...fields })

describe('load balancer classes', () => {
  test('are written by administrators, and seen by the projects that may choose them', async () => {
    const made = await newClass({ name: 'gold', projectIds: [projectId], connectionLimit: 100 })
    const { id } = made.body
    expect(made).toMatchObject({ status: 201, body: { name: 'gold', enabled: true, nodeGroupId: null, monitor: null } })
    const path = `/load-balancer-classes/${id}`
    expect((await bed.askNative('GET', path, member)).body).toEqual(made.body)
    expect((await bed.askNative('GET', path, stranger)).status).toBe(404)
    expect((await bed.askNative('PATCH', path, member, { enabled: false })).status).toBe(403)
    expect((await bed.askNative('PATCH', path, admin, { description: 'best' })).body).toMatchObject({
      description: 'best',
      connectionLimit: 100,
      projectIds: [projectId],
    })
    expect((await bed.askNative('PATCH', path, admin, { profileId: id })).status).toBe(400)
    expect((await bed.askNative('DELETE', path, admin)).status).toBe(204)
  })

  test('say how monitors are made that do not', async () => {
    const monitor = { intervalMs: 300, timeoutMs: 200, rise: 1, fall: 5 }
    const { id } = (await newClass({ name: 'watchful', monitor })).body
    const pools = [
      { name: 'a', protocol: 'tcp', monitor: { type: 'tcp' } },
      { name: 'b', protocol: 'tcp', monitor: { type: 'tcp', intervalMs: 2000, fall: 2 } },
    ]
    const made = await newLoadBalancer({ classId: id, pools })
    expect(made).toMatchObject({ status: 201, body: { classId: id } })
    expect(made.body.pools.map((one: { monitor: object }) => one.monitor)).toMatchObject([
      monitor,
      { intervalMs: 2000, timeoutMs: 200, rise: 1, fall: 2 },
    ])
    const path = `/load-balancers/${made.body.id}`
    const added = await bed.askNative('POST', `${path}/pools`, member, { ...pools[0], name: 'c' })
    expect(added.body.monitor).toMatchObject(monitor)
    const usual = await newLoadBalancer({ pools: [pools[0]] })
    expect(usual.body.pools[0].monitor).toMatchObject({ intervalMs: 1000, timeoutMs: 800, rise: 2, fall: 3 })
    expect(await bed.askNative('PUT', path, member, { ...made.body, classId: usual.body.id })).toMatchObject({
      status: 400,
      body: { code: 'ImmutableField', field: 'classId' },
    })
  })

  test('give load balancers proxies of their own, which explain shows', async () => {
    const limits = { memoryMegabytes: 64, connections: 500 }
    const { body } = await newClass({ name: 'own', dedicatedProxy: limits })
    expect(body.dedicatedProxy).toEqual(limits)
    const proxyOf = async (fields: object) => {
      const made = await newLoadBalancer(fields)
      return (await bed.askNative('GET', `/load-balancers/${made.body.id}/explain`, member)).body.proxy
    }
    const listeners = [{ protocol: 'http', port: 80 }]
    expect(await proxyOf({ classId: body.id, listeners })).toEqual({ dedicated: true, className: 'own', limits })
    expect(await proxyOf({ listeners })).toEqual({ dedicated: false })
    expect(await proxyOf({ classId: body.id, listeners: [{ protocol: 'tcp', port: 80 }] })).toBeNull()
  })

  test('say how large requests may be, which explain shows', async () => {
    const made = await newClass({ name: 'small', requestSizes: { bodyBytes: 1000 } })
    expect(made.body.requestSizes).toEqual({ headerBytes: null, bodyBytes: 1000 })
    const web = await newLoadBalancer({ classId: made.body.id, listeners: [{ protocol: 'http', port: 80 }] })
    const explained = await bed.askNative('GET', `/load-balancers/${web.body.id}/explain`, member)
    expect(explained.body.proxy).toEqual({ dedicated: false, requestSizes: made.body.requestSizes })
  })

  test('are as many in a project as its quota says, which its members see', async () => {
    const { id } = (await newClass({ name: 'scarce' })).body
    const path = `/projects/${projectId}/quota`
    expect((await bed.askNative('PUT', path, admin, { classes: { [id]: 1 } })).body).toMatchObject({
      limits: { pools: 500 },
      classes: expect.arrayContaining([{ id, name: 'scarce', limit: 1, used: 0 }]),
    })
    expect((await newLoadBalancer({ classId: id })).status).toBe(201)
    expect(await newLoadBalancer({ classId: id })).toMatchObject({
      status: 403,
      body: { code: 'OverQuota', detail: 'Quota for load balancers of class scarce is 1, 1 in use, 1 more wanted' },
    })
    const { classes } = (await bed.askNative('GET', path, member)).body
    expect(classes).toContainEqual({ id, name: 'scarce', limit: 1, used: 1 })
    const unknown = await bed.askNative('PUT', path, admin, { classes: { [projectId]: 1 } })
    expect(unknown.body).toMatchObject({ code: 'ReferenceNotFound', field: `classes.${projectId}` })
    expect((await bed.askNative('PUT', path, member, { classes: { [id]: 9 } })).status).toBe(403)
  })

  test('that do not exist are refused by name of the field', async () => {
    expect((await newLoadBalancer({ classId: projectId })).body).toMatchObject({
      code: 'ReferenceNotFound',
      detail: `Field classId: load balancer class ${projectId} not found`,
    })
  })
})
