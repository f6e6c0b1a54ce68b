import { type AddressInfo, createServer, type Server } from 'node:net'
import { freePort } from '@spout/testkit/free-port'
import { afterEach, expect, test } from 'vitest'
import { holderOf, holderText, isFree } from './port.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

const taken = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer()
    servers.push(server)
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })

test('names the process that has a port, with its command', async () => {
  const port = await taken()
  expect(await isFree(port)).toBe(false)
  const holder = await holderOf(port)
  expect(holder?.pid).toBe(process.pid)
  expect(holderText(holder)).toMatch(new RegExp(`^process ${process.pid} \\(.*node.*\\)$`))
})

test('a port that is free is nobody’s', async () => {
  const port = await freePort()
  expect(await isFree(port)).toBe(true)
  expect(await holderOf(port)).toBeNull()
  expect(holderText(null)).toBe('another process')
})

test('a long command is shortened', () => {
  expect(holderText({ pid: 7, command: 'a'.repeat(200) })).toBe(`process 7 (${'a'.repeat(100)}…)`)
})
