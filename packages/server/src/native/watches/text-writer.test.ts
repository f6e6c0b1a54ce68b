import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { textWriter } from './text-writer.ts'

/** More than sockets of this machine hold. */
const MUCH = Buffer.alloc(64 * 1024 * 1024, 'x')
const STALLED_MS = 15_000

afterEach(() => vi.useRealTimers())

/** A reader who asks and then takes nothing, and the answer to it. */
async function stalledReader() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  onTestFinished(() => {
    reader.destroy()
    server.close()
  })
  reader.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  const [, raw] = (await once(server, 'request')) as [unknown, ServerResponse]
  return { reader, raw }
}

function writerTo(raw: ServerResponse, holds: () => boolean) {
  const gone = new AbortController()
  const { signal } = gone
  const stream = { sent: () => {}, holds, close: () => {} }
  const cutOff = () => gone.abort()
  return { signal, write: textWriter({ raw, signal, over: signal, stream, cutOff }) }
}

test('a reader that takes nothing for 15 seconds is cut off, and what waits for it goes on', async () => {
  const { raw } = await stalledReader()
  const { signal, write } = writerTo(raw, () => true)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const taken = write(MUCH)
  vi.advanceTimersByTime(STALLED_MS - 1)
  expect([signal.aborted, raw.destroyed]).toEqual([false, false])
  vi.advanceTimersByTime(1)
  await taken
  expect([signal.aborted, raw.destroyed]).toEqual([true, true])
  await write('more')
})

test('a reader that takes it in time is not', async () => {
  const { reader, raw } = await stalledReader()
  const { signal, write } = writerTo(raw, () => true)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const taken = write(MUCH)
  vi.advanceTimersByTime(STALLED_MS - 1)
  reader.resume()
  await taken
  vi.advanceTimersByTime(STALLED_MS)
  expect([signal.aborted, raw.destroyed]).toEqual([false, false])
})

test('a reader for whom too much would be held is cut off at once', async () => {
  const { raw } = await stalledReader()
  const { signal, write } = writerTo(raw, () => false)
  await write(MUCH)
  expect([signal.aborted, raw.destroyed]).toEqual([true, true])
})
