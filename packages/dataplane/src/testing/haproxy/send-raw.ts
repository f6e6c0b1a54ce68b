import net from 'node:net'

/**
 * Writes bytes on a connection of their own, piece by piece, and waits until the other side ends it.
 * @param halfClose ends our side after the last piece: no more bytes come
 * @returns all bytes that came back
 */
export async function sendRaw(
  to: { readonly host: string; readonly port: number },
  pieces: readonly Uint8Array[],
  halfClose = false,
): Promise<Buffer> {
  const socket = net.connect({ ...to, noDelay: true, allowHalfOpen: true })
  const received: Buffer[] = []
  socket.on('data', (part: Buffer) => received.push(part))
  socket.on('error', () => {})
  const ended = new Promise<void>((resolve) => {
    socket.once('end', resolve)
    socket.once('close', () => resolve())
  })
  for (const piece of pieces) await new Promise<void>((resolve) => socket.write(piece, () => resolve()))
  if (halfClose) socket.end()
  await ended
  socket.destroy()
  return Buffer.concat(received)
}
