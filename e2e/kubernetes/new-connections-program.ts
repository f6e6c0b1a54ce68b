/**
 * Opens a new TLS connection every few milliseconds and asks for `/readyz`, whatever became of those before:
 * `node new-connections-program.ts ADDRESS PORT CA_FILE`. It writes `ready` after the first answer. When its input
 * ends, it writes what it saw as JSON.
 */
import { readFileSync } from 'node:fs'
import { request } from 'node:https'

const EVERY_MS = 20
const PATIENCE_MS = 5_000

const [address = '', port = '', caFile = ''] = process.argv.slice(2)
const ca = readFileSync(caFile)
const failed: string[] = []
let [asked, answered, lastMs, longestMs] = [0, 0, Number.NaN, 0]

function ask(): void {
  asked++
  const sent = request(
    { host: address, port: Number(port), path: '/readyz', ca, agent: false, timeout: PATIENCE_MS },
    (response) => {
      response.resume()
      response.on('end', () => (response.statusCode === 200 ? success() : failed.push(`status ${response.statusCode}`)))
    },
  )
  sent.on('timeout', () => sent.destroy(new Error('time-out')))
  sent.on('error', (error: NodeJS.ErrnoException) => failed.push(error.code ?? error.message))
  sent.end()
}

function success(): void {
  const now = performance.now()
  if (answered++ === 0) process.stdout.write('ready\n')
  else longestMs = Math.max(longestMs, now - lastMs)
  lastMs = now
}

const timer = setInterval(ask, EVERY_MS)
process.stdin.resume().on('end', () => {
  clearInterval(timer)
  process.stdout.write(
    `${JSON.stringify({ asked, answered, failed: failed.length, longestMs: Math.round(longestMs) })}\n`,
  )
  process.exit(0)
})
