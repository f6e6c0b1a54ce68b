import type { Socket } from 'node:net'

/** A client that sends its whole body before it reads has this long to do so. */
const LINGER_MS = 2000
/**
 * What is read of it and discarded: twice the longest body that any path takes, so that whoever sends a document that is
 * somewhat too long, or without a valid token, learns why. Discarding costs less than the answer did. More stays in the
 * kernel.
 */
const MOST_DISCARDED_BYTES = 16_777_216

/**
 * Closes a connection in two steps once its last answer is sent: our half at once, the rest when the client has closed
 * its own, or after 2 s. Closed as a whole with data unread, the kernel would reset the connection, and the client could
 * lose the answer (RFC 9112, section 9.6). What still comes is discarded; no request in it is looked at.
 */
export function lingerAtClose(socket: Socket): void {
  // Node closes a connection after its last answer by this method.
  socket.destroySoon = () => {
    let discarded = 0
    // The parser of HTTP reads no more.
    socket.removeAllListeners('data')
    socket.on('data', (piece: Buffer) => {
      discarded += piece.length
      if (discarded > MOST_DISCARDED_BYTES) socket.pause()
    })
    socket.resume()
    socket.end()
    const patience = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(patience))
  }
}
