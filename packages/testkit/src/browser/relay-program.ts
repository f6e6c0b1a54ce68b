/**
 * The way out of the browser's network namespace: `unshare --net … node relay-program.ts`. For each line
 * `ADDRESS PORT SOCKET` it listens there, passes connections on to the unix socket, and prints the line when it is ready.
 */
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { joined } from './joined.ts'

for await (const line of createInterface({ input: process.stdin })) {
  const [address = '', port = '', socket = ''] = line.split(' ')
  createServer((client) => joined(client, connect(socket))).listen(Number(port), address, () => console.log(line))
}
process.exit()
