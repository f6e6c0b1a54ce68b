import { callApi, createTenant, issueCertificate, Lab, type SystemAccess, startControlPlane } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spoutAs } from '../../testing/installed-spout.ts'

let lab: Lab
let access: SystemAccess
let poolId: string
beforeAll(async () => {
  lab = await Lab.create()
  access = await startControlPlane(lab)
  const pool = { name: 'public', cidr: '198.51.100.0/24', ranges: [{ first: '198.51.100.16', last: '198.51.100.250' }] }
  poolId = (await callApi<{ id: string }>(access.endpoint, access.admin.token, 'POST', '/address-pools', pool)).id
}, 120_000)
afterAll(() => lab?.destroy())

const tenantOf = (project: string) =>
  createTenant(access, {
    project,
    user: project,
    password: `${project}-in-the-lab`,
    segment: project,
    returnPath: 'snat',
  })

const leaks = (token: string, ...words: readonly string[]) => spoutAs(access, token, ['leaks', ...words])

test('lists addresses that nothing uses and certificates that nobody names: the own ones, for an administrator all', async () => {
  const [tidy, messy] = [await tenantOf('tidy'), await tenantOf('messy')]
  const as = <T = { id: string }>(token: string, where: string, body: object): Promise<T> =>
    callApi<T>(access.endpoint, token, 'POST', where, body)
  // The address of a load balancer is in use, so it is not a leak.
  const lb = await as(tidy.token, '/load-balancers', { name: 'web', vips: [{ from: 'pool', poolId }] })
  expect(await leaks(tidy.token)).toMatchObject({ code: 0, stdout: 'None.\n', stderr: '' })

  const { certificate: chain, key } = issueCertificate({ names: ['shop.example.com'] })
  await as(messy.token, '/certificates', { name: 'shop', chain, key })
  const informed = await leaks(messy.token, '-o', 'json')
  expect(informed).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(informed.stdout)).toMatchObject([{ kind: 'certificate', name: 'shop', leaks: false }])

  const port = await as(messy.token, '/addresses', {
    name: 'spare',
    networkId: messy.networkId,
    subnetId: messy.subnetId,
  })
  const floating = await as(messy.token, '/addresses', { use: 'floating', poolId })
  const left = await leaks(messy.token, '-o', 'json')
  expect({ ...left, stdout: '' }).toMatchObject({ code: 1, stderr: 'spout: 2 objects leak\n' })
  const found: readonly { readonly id: string }[] = JSON.parse(left.stdout)
  expect(found).toHaveLength(3)
  expect(found).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'port', id: port.id, reason: 'no load balancer uses it', leaks: true }),
      expect.objectContaining({ kind: 'floating-ip', id: floating.id, reason: 'it is bound to no port', leaks: true }),
    ]),
  )
  expect((await leaks(tidy.token)).code).toBe(0)
  expect(JSON.parse((await leaks(access.admin.token, '-o', 'json')).stdout)).toEqual(found)

  // Deleted objects are no leaks, although their addresses are in quarantine.
  await callApi(access.endpoint, tidy.token, 'DELETE', `/load-balancers/${lb.id}`)
  for (const { id } of [port, floating]) await callApi(access.endpoint, messy.token, 'DELETE', `/addresses/${id}`)
  expect((await leaks(access.admin.token)).code).toBe(0)
}, 120_000)
