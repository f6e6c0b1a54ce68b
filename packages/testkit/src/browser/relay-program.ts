/**
 * The way out of the browser's network namespace: `unshare --net … node relay-program.ts`. For each line `PORT SOCKET` it
 * listens on 127.0.0.1:PORT, passes connections on to the unix socket, and prints the line when it is ready.
 */
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { joined } from './joined.ts'

for await (const line of createInterface({ input: process.stdin })) {
  const [port = '', socket = ''] = line.split(' ')
  createServer((client) => joined(client, connect(socket))).listen(Number(port), '127.0.0.1', () => console.log(line))
}
process.exit()
