import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../testing/test-bed.ts'

/** More objects than an answer that is made in one piece holds. */
const COUNT = 600
let bed: TestBed
let admin: string
let address: string
beforeAll(async () => {
  bed = await openTestBed()
  admin = await bed.adminLogin()
  for (let number = 0; number < COUNT; number++)
    await bed.admission.createProject({ name: `p${number}`, description: 'd'.repeat(255) })
  address = await bed.app.listen({ host: '127.0.0.1', port: 0 })
}, 60_000)
afterAll(() => bed.close())

const read = async (path: string): Promise<{ readonly response: IncomingMessage; readonly text: string }> => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${address}${path}`, { agent: false, headers: { 'x-auth-token': admin } }, resolve).on('error', reject)
  })
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return { response, text: Buffer.concat(chunks).toString() }
}

test('a long list of Keystone is sent in pieces, with the same content', async () => {
  const { response, text } = await read('/identity/v3/projects')
  expect(response.headers['transfer-encoding']).toBe('chunked')
  expect(response.headers['content-length']).toBeUndefined()
  const { projects, links } = JSON.parse(text)
  expect(projects.length).toBeGreaterThanOrEqual(COUNT)
  expect(links.self).toMatch(/\/identity\/v3\/projects$/)
  const one = JSON.parse((await read('/identity/v3/projects?name=p7')).text)
  expect(one.projects).toMatchObject([{ name: 'p7' }])
})

test('a long list of Neutron too; a short one is one answer', async () => {
  const { view, admission } = bed
  const project = view.list('project').find(({ name }) => name === 'p1')!
  const pool = await admission.createAddressPool({
    ...{
      name: 'wide',
      description: '',
      cidr: '198.18.0.0/16',
      gatewayIp: null,
      projectIds: null,
      quarantineSeconds: 0,
    },
    ranges: [{ first: '198.18.0.1', last: '198.18.255.254' }],
  })
  const short = await read('/network/v2.0/networks')
  expect(short.response.headers['content-length']).toBeDefined()
  const names = Array.from({ length: 600 }, (_, at) => `pool${at}`)
  for (const [at, name] of names.entries()) {
    const net = `10.${16 + (at >> 8)}.${at & 255}`
    await admission.createAddressPool({
      ...{
        name,
        description: '',
        cidr: `${net}.0/24`,
        gatewayIp: null,
        projectIds: [project.id],
        quarantineSeconds: 0,
      },
      ranges: [{ first: `${net}.10`, last: `${net}.20` }],
    })
  }
  const { response, text } = await read('/network/v2.0/networks')
  expect(response.headers['transfer-encoding']).toBe('chunked')
  expect(JSON.parse(text).networks.length).toBeGreaterThanOrEqual(601)
  expect(JSON.parse((await read(`/network/v2.0/networks?id=${pool.id}`)).text).networks).toHaveLength(1)
})
