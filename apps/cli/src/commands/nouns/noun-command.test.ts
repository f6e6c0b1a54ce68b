import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Command } from 'commander'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { subnets } from '../../nouns/parts.ts'
import { subnet } from '../../resources/system.ts'
import { addNoun } from './noun-command.ts'

let server: Server
let names: string[]

const network = () => ({ id: 'n', name: 'net', subnets: names.map((name) => ({ id: name, name })) })

/** A control plane with one network. Its watch sees a subnet come before the bookmark, and one after the next list. */
beforeEach(async () => {
  names = ['first']
  let watching: ServerResponse | null = null
  const line = (type: string) => watching?.write(`${JSON.stringify({ type })}\n`)
  server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    if (searchParams.has('watch')) {
      watching = pathname.endsWith('/networks') ? response : null
      names.push('before')
      line('BOOKMARK')
      return
    }
    response.end(JSON.stringify({ items: [network()] }))
    if (!names.includes('after')) {
      names.push('after')
      line('MODIFIED')
    } else watching?.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => server.close())

test('list -w prints again when the object changes that holds the parts, and misses no change at its start', async () => {
  const written: string[] = []
  const program = new Command()
  addNoun(program, subnet, subnets, {
    env: { SPOUT_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, SPOUT_TOKEN: 't' },
    colour: false,
    write: (text) => written.push(text),
    signal: new AbortController().signal,
  })
  await program.parseAsync(['subnet', 'list', 'net', '-w'], { from: 'user' })
  expect(written).toHaveLength(2)
  expect(written[0]).toContain('before')
  expect(written[1]).toContain('after')
})
