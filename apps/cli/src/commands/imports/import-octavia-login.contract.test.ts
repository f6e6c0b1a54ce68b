import path from 'node:path'
import { bundled, callApi, Lab, PRODUCT_ENVIRONMENT, run, type SystemAccess, startControlPlane } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

// Spout itself stands in for another Octavia behind a Keystone. Login and catalog are as in any cloud; all objects are
// equal.
const MAIN = bundled(path.join(import.meta.dirname, '../../main.ts'))

let lab: Lab
let access: SystemAccess
beforeAll(async () => {
  lab = await Lab.create()
  access = await startControlPlane(lab)
  const as = (where: string, body: object) =>
    callApi<{ id: string }>(access.endpoint, access.admin.token, 'POST', where, body)
  const pool = { name: 'public', cidr: '198.51.100.0/24', ranges: [{ first: '198.51.100.16', last: '198.51.100.250' }] }
  const { id: poolId } = await as('/address-pools', pool)
  await as('/load-balancers', {
    ...{ name: 'web', vips: [{ from: 'pool', poolId }] },
    listeners: [{ name: 'tcp', protocol: 'tcp', port: 80, defaultPool: 'back' }],
    pools: [{ name: 'back', protocol: 'tcp' }],
  })
}, 120_000)
afterAll(() => lab?.destroy())

const imported = (variables: Readonly<Record<string, string>>, ...words: readonly string[]) =>
  run([process.execPath, MAIN, 'import', 'octavia', ...words], {
    env: {
      ...PRODUCT_ENVIRONMENT,
      ...{ SPOUT_ENDPOINT: access.endpoint, SPOUT_TOKEN: access.admin.token, NO_COLOR: '1' },
      ...{ OS_AUTH_URL: `${access.endpoint}/identity/v3`, OS_USERNAME: 'admin', OS_PROJECT_NAME: 'admin' },
      ...variables,
    },
    timeoutMs: 120_000,
  })

test('the OS_* variables name a cloud, whose catalog has the Octavia', async () => {
  const { code, stdout, stderr } = await imported({ OS_PASSWORD: access.admin.password }, '--no-dry-run', '-o', 'json')
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject([
    ...[
      { kind: 'loadbalancer', result: 'equal', notes: [] },
      { kind: 'pool', result: 'equal', notes: [] },
    ],
    { kind: 'listener', result: 'equal', notes: [] },
  ])
}, 120_000)

test('a login that is refused, a region that the catalog lacks and a server that is away are said', async () => {
  const url = `${access.endpoint}/identity/v3/auth/tokens`
  expect(await imported({ OS_PASSWORD: 'wrong' })).toMatchObject({
    ...{ code: 2, stderr: `spout: ${url}: the login was refused with 401\n` },
  })
  expect(await imported({ OS_PASSWORD: access.admin.password, OS_REGION_NAME: 'elsewhere' })).toMatchObject({
    ...{
      code: 2,
      stderr: expect.stringContaining('no public endpoint of a load-balancer service in region elsewhere'),
    },
  })
  expect(await imported({ OS_PASSWORD: access.admin.password }, '--endpoint', 'http://127.0.0.1:9')).toMatchObject({
    ...{ code: 1, stderr: expect.stringContaining('the other Octavia does not answer: ') },
  })
}, 120_000)
