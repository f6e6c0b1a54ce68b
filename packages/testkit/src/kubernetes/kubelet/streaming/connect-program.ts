/** A connection to a port of the network namespace that it runs in: `node connect-program.ts PORT`. */
import net from 'node:net'

const port = Number(process.argv[2])
const socket = net.connect({ host: 'localhost', port, allowHalfOpen: true })
const fail = (error: NodeJS.ErrnoException): void => {
  process.stderr.write(`port ${port} of the pod: ${error.code ?? error.message}\n`)
  process.exit(1)
}
socket.on('error', fail)
process.stdout.on('error', fail)
process.stdin.pipe(socket)
socket.pipe(process.stdout)
