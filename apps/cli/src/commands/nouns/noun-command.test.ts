import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Command } from 'commander'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { subnets } from '../../nouns/parts.ts'
import { subnet } from '../../resources/system.ts'
import { addNoun } from './noun-command.ts'

let server: Server
let names: string[]

const network = () => ({ id: 'n', name: 'net', subnets: names.map((name) => ({ id: name, name })) })

/** A control plane with one network. Each of its watches sees a subnet come before the bookmark, and one after it. */
beforeEach(async () => {
  names = ['first']
  server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    if (!searchParams.has('watch')) return response.end(JSON.stringify({ items: [network()] }))
    const line = (type: string) => response.write(`${JSON.stringify({ type })}\n`)
    names.push('before')
    line('BOOKMARK')
    if (pathname.endsWith('/networks')) {
      names.push('after')
      line('MODIFIED')
    }
    return response.end()
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
