import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeApiServer } from '../testing/fake-api-server.ts'
import { isAlreadyExists, isConflict } from '../transport/errors.ts'
import { Transport } from '../transport/transport.ts'
import { SERVICES, type Service } from '../types/index.ts'
import { KubeClient } from './kube-client.ts'

let server: FakeApiServer
let transport: Transport
let client: KubeClient

const NAME = { namespace: 'a', name: 'web' }
const service = (metadata: Partial<Service['metadata']> = {}): Service => ({
  metadata: { ...NAME, ...metadata },
  spec: { ports: [{ port: 80 }] },
})

beforeEach(async () => {
  server = await FakeApiServer.start()
  transport = new Transport({ access: server.access, firstRetryMs: 1 })
  client = new KubeClient(transport)
})
afterEach(async () => {
  transport.close()
  await server.stop()
})

it('creates once, reads, and deletes with the UID as a condition', async () => {
  expect(await client.get(SERVICES, NAME)).toBeNull()
  const made = await client.create(SERVICES, service())
  expect(made).toMatchObject({ apiVersion: 'v1', kind: 'Service' })
  expect(await client.create(SERVICES, service()).catch(isAlreadyExists)).toBe(true)
  expect(await client.get(SERVICES, NAME)).toEqual(made)
  expect(await client.delete(SERVICES, NAME, { uid: 'another' })).toBe('gone')
  expect(await client.delete(SERVICES, NAME, { uid: made.metadata.uid })).toBe('deleted')
  expect(await client.delete(SERVICES, NAME)).toBe('gone')
})

it('applies with a field manager, to the object and to its status', async () => {
  await client.apply(SERVICES, service(), { fieldManager: 'spout' })
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }
  const applied = { metadata: NAME, status }
  await client.apply(SERVICES, applied, { fieldManager: 'spout', subresource: 'status', force: false })
  expect(await client.get(SERVICES, NAME)).toMatchObject({ status })
  expect(server.requests.filter(({ method }) => method === 'PATCH')).toMatchObject([
    {
      path: '/api/v1/namespaces/a/services/web',
      query: { fieldManager: 'spout', force: 'true' },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    },
    { path: '/api/v1/namespaces/a/services/web/status', query: { fieldManager: 'spout', force: 'false' } },
  ])
})

it('answers null for the status of a missing object', async () => {
  const options = { fieldManager: 'spout', subresource: 'status' } as const
  expect(await client.apply(SERVICES, service(), options)).toBeNull()
  expect(await client.mergePatch(SERVICES, NAME, { metadata: { labels: {} } })).toBeNull()
})

it('writes finalizers for the version that was read, and keeps those of others', async () => {
  const made = await client.create(SERVICES, service({ finalizers: ['other/one'] }))
  const ours = await client.addFinalizer(SERVICES, made.metadata, 'spout/one')
  expect(ours?.metadata.finalizers).toEqual(['other/one', 'spout/one'])
  expect(await client.removeFinalizer(SERVICES, made.metadata, 'spout/one').catch(isConflict)).toBe(true)
  const less = await client.removeFinalizer<Service>(SERVICES, ours!.metadata, 'spout/one')
  expect(less?.metadata.finalizers).toEqual(['other/one'])
  expect(() => client.addFinalizer(SERVICES, NAME, 'spout/one')).toThrow('no resourceVersion given')
})

it('lets the object be deleted with its last finalizer', async () => {
  await client.create(SERVICES, service({ finalizers: ['spout/one'] }))
  expect(await client.delete(SERVICES, NAME)).toBe('deleted')
  const going = await client.get(SERVICES, NAME)
  expect(going?.metadata.deletionTimestamp).toBeDefined()
  await client.removeFinalizer(SERVICES, going!.metadata, 'spout/one')
  expect(await client.get(SERVICES, NAME)).toBeNull()
  expect(await client.removeFinalizer(SERVICES, going!.metadata, 'spout/one')).toBeNull()
})

it('refuses names that would lead to another object', async () => {
  await expect(client.get(SERVICES, { name: 'web' })).rejects.toThrow('no namespace given')
  await expect(client.get(SERVICES, { namespace: 'a', name: '..' })).rejects.toThrow('".." is not a name')
  expect(await client.get(SERVICES, { namespace: 'a', name: '../../secrets/x?y=1' })).toBeNull()
  expect(server.requests.at(-1)).toMatchObject({ path: '/api/v1/namespaces/a/services/../../secrets/x?y=1', query: {} })
})
