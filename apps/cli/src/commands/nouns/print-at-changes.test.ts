import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Endpoints } from '@spout/client/endpoints'
import { freePort } from '@spout/testkit/free-port'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { printAtChanges } from './print-at-changes.ts'

/** A control plane with watches that it keeps open. */
interface Plane {
  readonly url: string
  readonly server: Server
  readonly watches: ServerResponse[]
}

let planes: Plane[]
let list: string
let reads: number
let written: string[]
let stop: AbortController

beforeEach(() => {
  planes = []
  list = 'one'
  reads = 0
  written = []
  stop = new AbortController()
})
afterEach(() => planes.forEach(dies))

async function starts(answer: 'watches' | 'refuses' = 'watches'): Promise<Plane> {
  const watches: ServerResponse[] = []
  const server = createServer((_, response) => {
    if (answer === 'refuses') {
      response.writeHead(401).end('{"detail":"The token expired"}')
      return
    }
    watches.push(response)
    says(response, 'ADDED')
    says(response, 'BOOKMARK')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const plane = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, watches }
  planes.push(plane)
  return plane
}

function dies({ server }: Plane): void {
  server.closeAllConnections()
  server.close()
}

const says = (watch: ServerResponse | undefined, type: string) => watch?.write(`${JSON.stringify({ type })}\n`)

function printing(...urls: readonly string[]): Promise<void> {
  const session = { endpoints: new Endpoints(urls), token: 't' }
  const read = async () => {
    reads++
    return list
  }
  const write = (text: string) => void written.push(text)
  return printAtChanges(session, { path: '/things', read, write, signal: stop.signal })
}

const printed = (...texts: readonly string[]) => expect.poll(() => written).toEqual(texts)

test.each([
  ['breaks', dies],
  [
    'is ended by a control plane that stops',
    (plane: Plane) => {
      for (const watch of plane.watches) watch.end()
      plane.server.close()
    },
  ],
  [
    'ends with an error',
    (plane: Plane) => {
      for (const watch of plane.watches) watch.end('{"type":"ERROR","error":{"detail":"The store is closed"}}\n')
      plane.server.close()
    },
  ],
])(
  'a watch that %s goes on at the next: what changed meanwhile is printed once, and what did not is not',
  async (_, end) => {
    const [first, second, third] = [await starts(), await starts(), await starts()]
    const ended = printing(first.url, second.url, third.url)
    await printed('one')
    end(first)
    await expect.poll(() => reads).toBe(2)
    list = 'two'
    says(second.watches[0], 'MODIFIED')
    await printed('one', 'two')
    list = 'three'
    end(second)
    await printed('one', 'two', 'three')
    // A change that the list does not show.
    const before = reads
    says(third.watches[0], 'MODIFIED')
    await expect.poll(() => reads).toBe(before + 1)
    list = 'four'
    says(third.watches[0], 'MODIFIED')
    await printed('one', 'two', 'three', 'four')
    stop.abort()
    await ended.catch((error: Error) => expect(error.name).toBe('AbortError'))
  },
)

test('who is refused afterwards is told', async () => {
  const [first, second] = [await starts(), await starts('refuses')]
  const ended = printing(first.url, second.url)
  await printed('one')
  dies(first)
  await expect(ended).rejects.toThrow('The token expired')
})

test('of one alone the watch ends, and when none answers at first each is named', async () => {
  const alone = await starts()
  const ended = printing(alone.url)
  await printed('one')
  dies(alone)
  await expect(ended).rejects.toThrow(`${alone.url} is not available`)
  const gone = `http://127.0.0.1:${await freePort()}`
  await expect(printing(alone.url, gone)).rejects.toThrow(new RegExp(`${alone.url}: .*; ${gone}: `))
})
