import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { exchange } from './unix-socket.ts'

let directory: string
const cleanups: (() => void)[] = []
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spt-socket-'))
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) cleanup()
  await rm(directory, { recursive: true })
})

async function serve(answer: (socket: Socket, request: string | Buffer) => void): Promise<string> {
  const path = join(directory, 'socket')
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', (request) => answer(socket, request))
  })
  cleanups.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return path
}

test('resolves with all that comes until the peer closes', async () => {
  const path = await serve((socket, request) => {
    socket.write(`${request}:`)
    setImmediate(() => socket.end('x'.repeat(200_000)))
  })
  expect(String(await exchange(path, 'show info\n', { timeoutMs: 5_000 }))).toBe(`show info\n:${'x'.repeat(200_000)}`)
})

test('rejects when the answer is late, too long, or nobody is there', async () => {
  const silent = await serve((socket) => socket.write('begin'))
  await expect(exchange(silent, 'x', { timeoutMs: 30 })).rejects.toThrow(/no answer within 30 ms/)
  await expect(exchange(silent, 'x', { timeoutMs: 5_000, maxBytes: 3 })).rejects.toThrow(/longer than 3 bytes/)
  await expect(exchange(join(directory, 'absent'), 'x', { timeoutMs: 5_000 })).rejects.toMatchObject({ code: 'ENOENT' })
})
