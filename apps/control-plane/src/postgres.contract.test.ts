import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { loadConfig } from '@spout/runtime/config'
import { callApi, freePort, passwordToken, recordFault, waitFor } from '@spout/testkit'
import { PostgresServer } from '@spout/testkit/postgres-server'
import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { controlPlaneConfig } from './config.ts'
import { databaseServers } from './doctor/checks/database-servers.ts'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

const ADMIN = { user: 'admin', password: 'a-password-for-tests', project: 'admin' }
const PASSWORD = 'the-password-of-the-database'

let directory: string
let postgres: PostgresServer
let port: number
const authority = issueCertificate({ isAuthority: true })
beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-postgres-'))
  port = await freePort()
  const tls = issueCertificate({ issuer: authority, alternatives: 'IP:127.0.0.1' })
  postgres = await PostgresServer.start({ port, tls })
  await postgres.sql(`CREATE ROLE spout LOGIN PASSWORD '${PASSWORD}'`)
  await postgres.createDatabase('spout', 'OWNER spout')
}, 120_000)
afterAll(async () => {
  await postgres?.dispose()
  rmSync(directory, { recursive: true })
})

const file = (name: string, text: string): string => {
  const place = path.join(directory, name)
  writeFileSync(place, text, { mode: 0o600 })
  return place
}

test('on PostgreSQL, over TLS and with a password: while the server is away it reads and says why, and goes on afterwards', {
  timeout: 180_000,
}, async () => {
  const set = [
    ...['store.engine=postgres', `store.postgres.servers=["127.0.0.1:${port}"]`, `admin.password=${ADMIN.password}`],
    `store.postgres.passwordFile=${file('password', `${PASSWORD}\n`)}`,
    `store.postgres.caFile=${file('ca.pem', authority.certificate)}`,
  ]
  const { config } = loadConfig(controlPlaneConfig, { set })
  const doctor = () => databaseServers.run({ config, now: () => new Date() })
  await using controlPlane = await ControlPlaneProcess.start(set)
  const { address, statusPort } = controlPlane
  const { token } = await passwordToken(address, ADMIN)
  const create = (name: string) =>
    callApi(address, token, 'POST', '/projects', { name }).then(
      () => 'created',
      (error: unknown) => String(error),
    )
  const ready = async () => {
    const response = await fetch(`http://127.0.0.1:${statusPort}/readyz`)
    return `${response.status} ${await response.text()}`
  }
  const names = async () =>
    (await callApi<{ items: { name: string }[] }>(address, token, 'GET', '/projects')).items.map(({ name }) => name)
  expect(await create('before')).toBe('created')
  expect(await ready()).toContain('200')
  expect(await doctor()).toMatchObject([{ level: 'ok', message: `127.0.0.1:${port} takes writes.` }])

  await postgres.kill()
  expect(await doctor()).toMatchObject([
    { level: 'error', code: 'DatabaseReadOnly', message: 'No server takes writes.' },
    { level: 'warning', code: 'DatabaseServerUnusable', subject: `127.0.0.1:${port}` },
  ])
  await waitFor(async () => (await ready()).startsWith('503'), { what: 'not to be ready' })
  expect(await ready()).toMatch(/store: .*127\.0\.0\.1/)
  expect(await create('refused')).toMatch(/503 .*does not accept writes/)
  expect(await names()).toEqual(expect.arrayContaining(['admin', 'before']))

  await postgres.resume()
  await waitFor(async () => (await create('after')) === 'created', { what: 'writes', timeoutMs: 30_000 })
  await waitFor(async () => (await ready()).startsWith('200'), { what: 'to be ready', timeoutMs: 30_000 })
  const now = await names()
  expect(now).toEqual(expect.arrayContaining(['before', 'after']))
  expect(now).not.toContain('refused')
  expect(controlPlane.log).not.toContain(PASSWORD)
  recordFault({
    fault: 'kill -9 of PostgreSQL under a control plane',
    outcome: 'it reads on, refuses writes with the reason, and goes on once the server is back',
    figure: '0 acknowledged writes lost',
  })
})

test('what is missing or contradictory is refused by its setting', () => {
  const load = (...set: string[]) => loadConfig(controlPlaneConfig, { set: ['store.engine=postgres', ...set] }).config
  expect(() => load()).toThrow(/store\.postgres\.servers: are needed with store\.engine postgres/)
  expect(() => load('store.postgres.servers=["a b"]')).toThrow(/store\.postgres\.servers.*is no server/)
  const server = 'store.postgres.servers=[db.example]'
  expect(load(server).store.postgres.tls).toBe(true)
  expect(() => load(server, 'store.postgres.tls=false')).toThrow(/store\.postgres\.tls: is off/)
  expect(load(server, 'store.postgres.tls=false', 'store.postgres.plainBeyondLoopback=true').store.engine).toBe(
    'postgres',
  )
  expect(load('store.postgres.servers=[/run/postgresql]', 'store.postgres.tls=false').store.engine).toBe('postgres')
  expect(() => load(server, 'store.postgres.password=x', 'store.postgres.passwordFile=/x')).toThrow(
    /exclude each other/,
  )
})

test('the password of the database comes from the environment, and is not printed', () => {
  const variables = { SPOUT_STORE_POSTGRES_PASSWORD: PASSWORD }
  const loaded = loadConfig(controlPlaneConfig, { environment: { prefix: 'SPOUT', variables } })
  expect(loaded.config.store.postgres.password?.reveal()).toBe(PASSWORD)
  expect(loaded.print()).toContain('store.postgres.password = [redacted]')
})
