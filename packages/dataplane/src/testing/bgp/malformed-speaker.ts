/**
 * A BGP speaker that says one thing that is wrong (RFC 7606): opens a session, announces 10.77.0.0/24 with an ORIGIN that
 * does not exist and 10.78.0.0/24 as it should be, then keeps the session. Run as `node malformed-speaker.ts ADDRESS AS ID`.
 */
import net from 'node:net'

const [address = '', as = '', id = ''] = process.argv.slice(2)
const [OPEN, UPDATE, KEEPALIVE] = [1, 2, 4]
const AS_TRANS = 23_456

const message = (type: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(19, 0xff)
  head.writeUInt16BE(19 + body.length, 16)
  head.writeUInt8(type, 18)
  return Buffer.concat([head, body])
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const dotted = (text: string): Buffer => Buffer.from(text.split('.').map(Number))

function openMessage(): Buffer {
  const capabilities = Buffer.concat([Buffer.from([1, 4, 0, 1, 0, 1, 65, 4]), u32(Number(as))])
  const parameters = Buffer.concat([Buffer.from([2, capabilities.length]), capabilities])
  const start = Buffer.alloc(5)
  start.writeUInt8(4, 0)
  start.writeUInt16BE(Number(as) > 0xffff ? AS_TRANS : Number(as), 1)
  start.writeUInt16BE(90, 3)
  return message(OPEN, Buffer.concat([start, dotted(id), Buffer.from([parameters.length]), parameters]))
}

function update(origin: number, second: number): Buffer {
  const attributes = Buffer.concat([
    Buffer.from([0x40, 1, 1, origin]),
    Buffer.from([0x40, 2, 6, 2, 1]),
    u32(Number(as)),
    Buffer.from([0x40, 3, 4]),
    dotted(id),
  ])
  const lengths = Buffer.from([0, 0, attributes.length >> 8, attributes.length & 0xff])
  return message(UPDATE, Buffer.concat([lengths, attributes, Buffer.from([24, 10, second, 0])]))
}

const socket = net.connect({ host: address, port: 179 })
socket.on('connect', () => socket.write(openMessage()))
let received = Buffer.alloc(0)
let said = false
socket.on('data', (data: Buffer) => {
  received = Buffer.concat([received, data])
  while (received.length >= 19 && received.length >= received.readUInt16BE(16)) {
    const type = received.readUInt8(18)
    received = received.subarray(received.readUInt16BE(16))
    if (type === OPEN) socket.write(message(KEEPALIVE, Buffer.alloc(0)))
    if (type !== KEEPALIVE || said) continue
    said = true
    socket.write(Buffer.concat([update(7, 77), update(0, 78)]))
    setInterval(() => socket.write(message(KEEPALIVE, Buffer.alloc(0))), 1_000)
  }
})
socket.on('close', () => process.exit(1))
socket.on('error', () => process.exit(1))
