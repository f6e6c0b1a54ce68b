import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { BearerToken } from './bearer-token.ts'
import { inClusterAccess } from './in-cluster.ts'

let directory: string
const file = (name: string) => path.join(directory, name)

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'service-account-'))
  await writeFile(file('ca.crt'), 'CA')
  await writeFile(file('namespace'), 'spout\n')
  await writeFile(file('token'), 'one\n')
})
afterEach(() => rm(directory, { recursive: true }))

it('uses the service account of a pod', async () => {
  const access = await inClusterAccess({ host: 'fd00::1', port: '443', directory })
  expect(access).toMatchObject({ ca: 'CA', namespace: 'spout', token: { type: 'file', path: file('token') } })
  expect(access.server.href).toBe('https://[fd00::1]/')
})

it.each([
  [{ host: undefined, port: '443' }, 'KUBERNETES_SERVICE_HOST is not set'],
  [{ host: '192.0.2.1', port: 'https' }, 'KUBERNETES_SERVICE_PORT: "https" is not a port'],
  [{ host: 'a b', port: '443' }, 'KUBERNETES_SERVICE_HOST: "a b" is not a host'],
])('%j is refused', async (options, message) => {
  await expect(inClusterAccess({ ...options, directory })).rejects.toThrow(message)
})

it('names the missing file', async () => {
  await rm(file('token'))
  await expect(inClusterAccess({ host: '192.0.2.1', port: '443', directory })).rejects.toThrow(
    'token cannot be read: ENOENT',
  )
})

it('reads a changed token file again, and keeps the last good token', async () => {
  const token = new BearerToken({ type: 'file', path: file('token') })
  const now = async () => (await token.current())?.reveal()
  expect(await now()).toBe('one')
  await writeFile(file('next'), 'second')
  await rename(file('next'), file('token'))
  expect(await now()).toBe('second')
  await writeFile(file('token'), '')
  expect(await now()).toBe('second')
  await rm(file('token'))
  expect(await now()).toBe('second')
})

it('has no token before the file was readable once', async () => {
  await rm(file('token'))
  const token = new BearerToken({ type: 'file', path: file('token') })
  await expect(token.current()).rejects.toThrow('cannot be read: ENOENT')
  await writeFile(file('token'), '\n')
  await expect(token.current()).rejects.toThrow('is empty')
})
