import type { Socket } from 'node:net'

export interface Received {
  /** All text so far. */
  text(): string
  isClosed(): boolean
  /** All text, once the connection is closed. */
  readonly whole: Promise<string>
}

/** Keeps what a connection receives, for tests that write HTTP themselves. Errors of the connection only close it. */
export function received(socket: Socket): Received {
  let [text, isClosed] = ['', false]
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  socket.on('error', () => {})
  const whole = new Promise<string>((resolve) => {
    socket.on('close', () => {
      isClosed = true
      resolve(text)
    })
  })
  return { text: () => text, isClosed: () => isClosed, whole }
}
