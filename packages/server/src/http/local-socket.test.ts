import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { silentLogger } from '@spout/runtime'
import { recordFault } from '@spout/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ADMIN_PASSWORD, openTestBed, type TestBed } from '../testing/test-bed.ts'
import { LocalSocket } from './local-socket.ts'

let bed: TestBed
let directory: string
let local: LocalSocket

beforeEach(async () => {
  bed = await openTestBed()
  await bed.app.ready()
  directory = mkdtempSync(path.join(tmpdir(), 'spout-local-'))
  local = new LocalSocket({ app: bed.app, path: path.join(directory, 'api.sock'), log: silentLogger() })
  await local.start()
})
afterEach(async () => {
  await local.stop()
  await bed.close()
  rmSync(directory, { recursive: true })
})

const login = (password: string, headers: object = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        socketPath: path.join(directory, 'api.sock'),
        path: '/api/v1/tokens',
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
      },
      (reply) => {
        reply.resume()
        reply.on('end', () => resolve(reply.statusCode ?? 0))
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify({ userName: 'admin', password, projectName: 'admin' }))
  })

test('an administrator can log in from the machine itself, however many logins failed elsewhere and here', async () => {
  const outside = { userName: 'admin', password: 'wrong', projectName: 'admin' }
  for (let time = 0; time < 10; time++) await bed.askNative('POST', '/tokens', null, outside)
  const right = { ...outside, password: ADMIN_PASSWORD }
  expect((await bed.askNative('POST', '/tokens', null, right)).status).toBe(401)
  for (let time = 0; time < 10; time++) expect(await login('wrong')).toBe(401)
  expect(await login(ADMIN_PASSWORD)).toBe(201)
  recordFault({
    fault: 'the administrator is locked out by failed logins',
    outcome: 'the socket in the state directory lets him in',
    figure: '20 failures before',
  })
})

test('only its owner may connect to the socket', () => {
  expect(statSync(path.join(directory, 'api.sock')).mode & 0o777).toBe(0o600)
})

test('a stale socket is replaced, and a path too long for one is logged and left out', async () => {
  const again = new LocalSocket({ app: bed.app, path: path.join(directory, 'api.sock'), log: silentLogger() })
  await again.start()
  expect(await login(ADMIN_PASSWORD)).toBe(201)
  await again.stop()
  const long = new LocalSocket({ app: bed.app, path: path.join(directory, 'x'.repeat(120)), log: silentLogger() })
  await long.start()
  await long.stop()
})
