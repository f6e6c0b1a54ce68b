import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ReplySocket } from './reply-socket.ts'

let directory: string
const cleanups: (() => void)[] = []
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spt-replies-'))
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) cleanup()
  await rm(directory, { recursive: true })
})

/** A server on a socket, which calls `answer` for all that arrives. @returns its path */
async function serve(answer: (socket: Socket, text: string) => void): Promise<string> {
  const path = join(directory, 'socket')
  const server = createServer((socket) => {
    socket.setEncoding('latin1')
    socket.on('error', () => undefined)
    socket.on('data', (text: string) => answer(socket, text))
    cleanups.push(() => socket.destroy())
  })
  cleanups.push(() => server.close())
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return path
}

class Lost extends Error {}

/** @returns the connection, and the number of calls of `onLost` */
async function connectTo(path: string, replyWithinMs?: number, longestReply?: number) {
  const ends = { lost: 0 }
  const socket = await ReplySocket.connect(path, {
    requestEncoding: 'latin1',
    replyEnd: '\n> ',
    peer: 'the peer',
    onLost: () => ends.lost++,
    lost: (message) => new Lost(message),
    ...(replyWithinMs === undefined ? {} : { replyWithinMs }),
    ...(longestReply === undefined ? {} : { longestReply }),
  })
  cleanups.push(() => socket.close())
  return { socket, ends }
}

test('replies come back in the order of the requests, however they are cut', async () => {
  const path = await serve((socket, text) => {
    if (!text.includes('c')) return
    socket.write('one\n')
    setImmediate(() => {
      socket.write('> two\nlines\n> \n')
      setImmediate(() => socket.write('> four\n> '))
    })
  })
  const { socket } = await connectTo(path)
  const replies = [socket.send(['a', 'b']), socket.send(['', 'c'])]
  expect(await Promise.all(replies)).toEqual([
    ['one', 'two\nlines'],
    ['', 'four'],
  ])
})

test('replies are the same however the bytes are cut', async () => {
  const told = 'one\n> \n> \n>\n>> three\n>  > \n> '
  for (let at = 1; at < told.length; at++) {
    const path = await serve((socket) => {
      socket.setNoDelay()
      socket.write(told.slice(0, at))
      setImmediate(() => socket.write(told.slice(at)))
    })
    const { socket } = await connectTo(path)
    expect(await socket.send(['a', 'b', 'c', 'd'])).toEqual(['one', '', '\n>\n>> three', ' > '])
    for (const cleanup of cleanups.splice(0)) cleanup()
  }
})

test('a reply that is not kept arrives in pieces, without its end, however the bytes are cut', async () => {
  const told = 'one\n> two\n>\nlines\n> \n> four\n> '
  for (let at = 1; at < told.length - 1; at++) {
    const path = await serve((socket, text) => {
      if (!text.includes('d')) return
      socket.setNoDelay()
      const pieces = [told.slice(0, at), told.slice(at, at + 1), told.slice(at + 1)]
      const next = () => {
        const piece = pieces.shift()
        if (piece !== undefined) socket.write(piece, () => setImmediate(next))
      }
      next()
    })
    const { socket } = await connectTo(path)
    const got = { b: '', c: '', d: '' }
    const read = (name: keyof typeof got) =>
      socket.read(name, (text) => {
        got[name] += text
      })
    const first = socket.send(['a'])
    await Promise.all([read('b'), read('c'), read('d')])
    expect(await first).toEqual(['one'])
    expect(got).toEqual({ b: 'two\n>\nlines', c: '', d: 'four' })
    for (const cleanup of cleanups.splice(0)) cleanup()
  }
})

test('requests are sent in their encoding, and replies are read as latin1', async () => {
  const path = await serve((socket, text) => socket.write(`${Buffer.from(text, 'latin1').length} \u00e9\n> `, 'latin1'))
  const { socket } = await connectTo(path)
  expect(await socket.send(['\u00e9'])).toEqual(['1 \u00e9'])
})

test('what waits is rejected when the peer ends, and the loss is told once', async () => {
  const path = await serve((socket) => socket.end('half'))
  const { socket, ends } = await connectTo(path)
  await expect(socket.send(['a'])).rejects.toThrow(new Lost('the peer ended before it answered'))
  await expect(socket.send(['b'])).rejects.toThrow(new Lost('the peer is gone'))
  await expect(socket.read('b', () => undefined)).rejects.toThrow(new Lost('the peer is gone'))
  expect([socket.open, ends.lost]).toEqual([false, 1])
})

test('a peer that does not answer in time is given up; silence without a request is none', async () => {
  const path = await serve((socket, text) => text === 'a' && socket.write('one\n> '))
  const { socket, ends } = await connectTo(path, 20)
  expect(await socket.send(['a'])).toEqual(['one'])
  await expect(socket.send(['b'])).rejects.toThrow('the peer ended before it answered')
  expect(ends.lost).toBe(1)
})

test('closing tells nobody, and nobody there is an error that names the peer', async () => {
  const { socket, ends } = await connectTo(await serve(() => undefined))
  const waiting = socket.send(['a'])
  socket.close()
  await expect(waiting).rejects.toThrow(Lost)
  expect(ends.lost).toBe(0)
  await expect(connectTo(join(directory, 'absent'))).rejects.toThrow(/^the peer does not answer: .*ENOENT/)
})

test('a reply that is longer than the longest ends the connection', async () => {
  const path = await serve((socket, text) => {
    socket.write(text === 'long' ? 'x'.repeat(1_000) : 'short\n> ')
  })
  const { socket, ends } = await connectTo(path, undefined, 100)
  expect(await socket.send(['one'])).toEqual(['short'])
  await expect(socket.send(['long'])).rejects.toThrow(Lost)
  expect([socket.open, ends.lost]).toEqual([false, 1])
})
