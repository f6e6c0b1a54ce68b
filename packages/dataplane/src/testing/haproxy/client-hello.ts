/** ClientHellos as bytes, for clients that send them in ways that no TLS library does. */

const vector = (lengthBytes: 1 | 2 | 3, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  const length = Buffer.alloc(lengthBytes)
  length.writeUIntBE(content.length, 0, lengthBytes)
  return Buffer.concat([length, content])
}
const extension = (type: number, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([type >> 8, type & 0xff]), vector(2, content)])

/**
 * A ClientHello as one handshake message (RFC 8446 section 4.1.2), without the header of a record.
 * @param name the server name, as bytes of Latin-1; null: none is asked for
 * @param padding the bytes of a padding extension before it (RFC 7685)
 */
export function clientHello(name: string | null, padding = 0): Buffer {
  const extensions = [
    extension(21, Buffer.alloc(padding)),
    ...(name === null ? [] : [extension(0, vector(2, Buffer.from([0]), vector(2, Buffer.from(name, 'latin1'))))]),
  ]
  return Buffer.concat([
    Buffer.from([1]),
    vector(
      3,
      Buffer.from([3, 3]),
      Buffer.alloc(32, 7),
      vector(1, Buffer.alloc(32, 9)),
      vector(2, Buffer.from([0x13, 0x01])),
      vector(1, Buffer.from([0])),
      vector(2, ...extensions),
    ),
  ])
}

/** A handshake message in TLS records of at most so many bytes. */
export function inRecords(message: Uint8Array, most = 16_384): Buffer {
  const records: Buffer[] = []
  for (let at = 0; at < message.length; at += most)
    records.push(Buffer.from([22, 3, 1]), vector(2, message.subarray(at, at + most)))
  return Buffer.concat(records)
}
