/**
 * A host of the lab, driven by JSON lines on stdin: serves as a member and connects as a client. Run as
 * `node peer.ts NAME` inside a namespace. As a member it says `NAME CLIENT-ADDRESS` on connect, then echoes.
 */
import dgram from 'node:dgram'
import net from 'node:net'
import readline from 'node:readline'

export interface PeerRequest {
  readonly id: number
  readonly op:
    | 'serve'
    | 'served'
    | 'push'
    | 'part'
    | 'connect'
    | 'open'
    | 'say'
    | 'hear'
    | 'end'
    | 'ending'
    | 'close'
    | 'reset'
    | 'datagram'
  readonly address?: string
  readonly port?: number
  readonly source?: string
  readonly sourcePort?: number
  readonly connection?: number
  readonly text?: string
  /** How long an answer is waited for. Only one that is not to come needs a short time. */
  readonly withinMs?: number
}

const name = process.argv[2] ?? 'peer'
const TIMEOUT_MS = 15_000
const open = new Map<number, net.Socket>()
const served = new Set<net.Socket>()

function serve(port: number, address = '::'): Promise<string> {
  const server = net.createServer((socket) => {
    served.add(socket)
    socket.on('close', () => served.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.write(`${name} ${socket.remoteAddress?.replace('::ffff:', '')}\n`)
    socket.pipe(socket)
  })
  const udp = dgram.createSocket(address.includes(':') ? 'udp6' : 'udp4')
  udp.on('message', (_, from) => udp.send(`${name} ${from.address.replace('::ffff:', '')}\n`, from.port, from.address))
  return new Promise((resolve, reject) => {
    for (const socket of [server, udp]) socket.once('error', reject)
    server.listen(port, address, () => udp.bind(port, address, () => resolve('serving')))
  })
}

/** Resolves with the member's first line, rejects with the error's code (`CLOSED`: taken and ended without a word). */
function connect(request: PeerRequest): Promise<{ socket: net.Socket; line: string }> {
  const socket = net.connect({
    host: request.address!,
    port: request.port!,
    ...(request.source ? { localAddress: request.source } : {}),
    ...(request.sourcePort ? { localPort: request.sourcePort } : {}),
  })
  return new Promise((resolve, reject) => {
    socket.setTimeout(request.withinMs ?? TIMEOUT_MS, () =>
      socket.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })),
    )
    socket.once('error', reject)
    socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'CLOSED' })))
    socket.once('data', (data) => {
      // What comes next waits for who asks for it.
      socket.pause()
      socket.setTimeout(0)
      socket.on('error', () => socket.destroy())
      resolve({ socket, line: data.toString().trim() })
    })
  })
}

/** Says the text, if any, and resolves with what comes next. */
async function say(socket: net.Socket | undefined, text: string | undefined): Promise<string> {
  if (socket === undefined || socket.destroyed) throw Object.assign(new Error('closed'), { code: 'CLOSED' })
  const answer = Promise.withResolvers<string>()
  const timer = setTimeout(() => answer.reject(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })), TIMEOUT_MS)
  const closed = () => answer.reject(Object.assign(new Error('closed'), { code: 'CLOSED' }))
  socket.once('close', closed)
  let heard = ''
  const hear = (data: Buffer) => {
    heard += data.toString()
    // A long echo comes in pieces.
    if (text !== undefined && heard.length <= text.length && text.startsWith(heard)) return
    socket.pause()
    socket.off('data', hear)
    answer.resolve(heard.trim())
  }
  socket.on('data', hear)
  socket.resume()
  if (text !== undefined) socket.write(`${text}\n`)
  try {
    return await answer.promise
  } finally {
    clearTimeout(timer)
    socket.off('data', hear)
    socket.off('close', closed)
  }
}

/** Resolves with how the other side ends it: `ended`, or an error's code. */
async function ending(socket: net.Socket | undefined): Promise<string> {
  // It may have ended before anybody asked: no event tells of that once more.
  if (socket?.readableEnded) return 'ended'
  if (socket === undefined || socket.destroyed) return (socket?.errored as NodeJS.ErrnoException)?.code ?? 'CLOSED'
  const how = Promise.withResolvers<string>()
  const timer = setTimeout(() => how.resolve('ETIMEDOUT'), TIMEOUT_MS)
  socket.once('end', () => how.resolve('ended'))
  socket.once('error', ({ code }: NodeJS.ErrnoException) => how.resolve(code ?? 'error'))
  socket.resume()
  return how.promise.finally(() => clearTimeout(timer))
}

/** Every connection served ends, by FIN or by RST; how many they were. */
function part(how: string | undefined): string {
  const { size } = served
  for (const socket of served)
    if (how === 'reset') socket.resetAndDestroy()
    else socket.end()
  return String(size)
}

function datagram(request: PeerRequest): Promise<string> {
  const socket = dgram.createSocket(request.address?.includes(':') ? 'udp6' : 'udp4')
  const answer = Promise.withResolvers<string>()
  const timer = setTimeout(
    () => answer.reject(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })),
    request.withinMs ?? TIMEOUT_MS,
  )
  socket.on('error', answer.reject)
  socket.on('message', (message) => answer.resolve(message.toString().trim()))
  // A connected socket hears of ICMP errors.
  socket.bind({ port: request.sourcePort ?? 0, address: request.source }, () =>
    socket.connect(request.port!, request.address!, () => socket.send('hello')),
  )
  return answer.promise.finally(() => {
    clearTimeout(timer)
    socket.close()
  })
}

async function answer(request: PeerRequest): Promise<string> {
  if (request.op === 'serve') return serve(request.port!, request.address)
  if (request.op === 'datagram') return datagram(request)
  if (request.op === 'say' || request.op === 'hear') return say(open.get(request.connection!), request.text)
  if (request.op === 'push') {
    for (const socket of served) socket.write(`${request.text}\n`)
    return String(served.size)
  }
  if (request.op === 'served') return String(served.size)
  if (request.op === 'part') return part(request.text)
  if (request.op === 'ending') return ending(open.get(request.connection!))
  if (request.op === 'end') {
    open.get(request.connection!)?.end()
    return 'ended'
  }
  if (request.op === 'close' || request.op === 'reset') {
    const socket = open.get(request.connection!)
    open.delete(request.connection!)
    if (request.op === 'close') socket?.destroy()
    else socket?.resetAndDestroy()
    return 'closed'
  }
  const { socket, line } = await connect(request)
  if (request.op === 'open') open.set(request.connection!, socket)
  else socket.destroy()
  return line
}

readline.createInterface({ input: process.stdin }).on('line', (text) => {
  const request = JSON.parse(text) as PeerRequest
  void answer(request).then(
    (line) => process.stdout.write(`${JSON.stringify({ id: request.id, line })}\n`),
    (error: NodeJS.ErrnoException) =>
      process.stdout.write(`${JSON.stringify({ id: request.id, error: error.code ?? error.message })}\n`),
  )
})
