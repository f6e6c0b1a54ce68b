/**
 * The program of a `Caller` in a place of the lab: reads one JSON call per line from standard input and answers each
 * with one line, in any order. Ends when its input does. Run as `node caller-program.ts`.
 */
import dgram from 'node:dgram'
import net from 'node:net'
import readline from 'node:readline'
import type { Call } from './caller.ts'

// See `@spout/runtime/node-http`: an import takes 80 ms of the processor.
const http = process.getBuiltinModule('node:http')
const held = new Map<number, net.Socket>()

async function answer(call: Call): Promise<unknown> {
  switch (call.op) {
    case 'http':
      return ask(call)
    case 'tcp':
      return exchange(call, null)
    case 'hold':
      return exchange(call, call.id)
    case 'say':
      return say(call)
    case 'udp':
      return datagram(call)
    case 'drop':
      held.get(call.connection)?.destroy()
      held.delete(call.connection)
      return {}
  }
}

type CallOf<Op extends Call['op']> = Extract<Call, { op: Op }>

const ask = (call: CallOf<'http'>): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const { address: host, port, source, sourcePort, path, headers, timeoutMs } = call
    const from = { ...(source && { localAddress: source }), ...(sourcePort > 0 && { localPort: sourcePort }) }
    // A port that is used again must be free at once: its connection is kept, and then ended by a reset.
    const agent = sourcePort > 0 && new http.Agent({ keepAlive: true })
    const request = http.request({ host, port, path, headers, agent, ...from })
    const deadline = setTimeout(() => request.destroy(timedOut()), timeoutMs)
    request.on('error', reject)
    request.on('close', () => clearTimeout(deadline))
    request.on('response', (response) => {
      let body = ''
      const { socket } = response
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        body += part
      })
      response.on('error', reject)
      response.on('end', () => {
        const answered = () => resolve({ status: response.statusCode, body })
        if (sourcePort === 0 || socket.destroyed) answered()
        else socket.once('close', answered).resetAndDestroy()
      })
    })
    request.end()
  })

/** Connects, sends a text, and reads until the answer is complete; keeps the connection open if it has an id. */
async function exchange(call: CallOf<'tcp' | 'hold'>, id: number | null): Promise<unknown> {
  const { address: host, port, source, sourcePort, timeoutMs } = call
  const socket = net.connect({ host, port, ...(source && { localAddress: source }), localPort: sourcePort })
  try {
    const received = await line(socket, timeoutMs)
    if (id !== null) held.set(id, socket)
    socket.on('error', () => {})
    return { received, connection: id }
  } finally {
    if (id === null || !held.has(id)) socket.destroy()
  }
}

async function say({ connection, text, timeoutMs }: CallOf<'say'>): Promise<unknown> {
  const socket = held.get(connection)
  if (socket === undefined || socket.destroyed) throw new Error('the connection is gone')
  const received = line(socket, timeoutMs)
  socket.write(`${text}\n`)
  return { received: await received }
}

const line = (socket: net.Socket, timeoutMs: number): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const settle = (error: Error | null) => {
      clearTimeout(deadline)
      socket.off('data', take).off('error', settle).off('close', closed)
      if (error) reject(error)
      else resolve(text.trimEnd())
    }
    const take = (part: Buffer) => {
      text += part.toString('utf8')
      if (text.endsWith('\n')) settle(null)
    }
    const closed = () => settle(Object.assign(new Error('the connection was closed'), { code: 'CLOSED' }))
    const deadline = setTimeout(() => settle(timedOut()), timeoutMs)
    socket.on('data', take).on('error', settle).on('close', closed)
  })

const datagram = ({ address, port, source, sourcePort, text, timeoutMs }: CallOf<'udp'>): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const socket = dgram.createSocket(address.includes(':') ? 'udp6' : 'udp4')
    const deadline = setTimeout(() => settle(timedOut()), timeoutMs)
    const settle = (error: Error | null, received?: string) => {
      clearTimeout(deadline)
      socket.close()
      if (error) reject(error)
      else resolve({ received })
    }
    socket.on('error', (error) => settle(error))
    socket.on('message', (message) => settle(null, message.toString('utf8')))
    // Connected, so that a refusal by ICMP is an error here and not silence.
    const speak = () => socket.connect(port, address, () => socket.send(text))
    if (source || sourcePort) socket.bind(sourcePort, source ?? undefined, speak)
    else speak()
  })

const timedOut = (): Error => Object.assign(new Error('no answer in time'), { code: 'TIMEOUT' })

const tell = (reply: object): void => {
  process.stdout.write(`${JSON.stringify(reply)}\n`)
}

readline.createInterface({ input: process.stdin }).on('line', (text) => {
  const call = JSON.parse(text) as Call
  answer(call).then(
    (value) => tell({ id: call.id, ok: true, value }),
    (error: NodeJS.ErrnoException) => tell({ id: call.id, ok: false, code: error.code ?? error.message }),
  )
})
tell({ ready: true })
