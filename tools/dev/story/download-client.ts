/**
 * Downloads a URL over one connection and prints the result as one JSON line: `node download-client.ts URL`. Prints
 * `downloading` once the first bytes have arrived.
 */
import http from 'node:http'

const url = process.argv[2] ?? ''
let lastAt = 0
let longestGapMs = 0
let bytes = 0

const report = (error: string | null, member: string | null): void => {
  process.stdout.write(`${JSON.stringify({ error, member, bytes, longestGapMs: Math.round(longestGapMs) })}\n`)
  process.exit(error === null ? 0 : 1)
}

http
  .get(url, { agent: false }, (response) => {
    const member = String(response.headers['x-member'] ?? '')
    response.on('data', (chunk: Buffer) => {
      const now = performance.now()
      if (bytes === 0) process.stdout.write('downloading\n')
      else longestGapMs = Math.max(longestGapMs, now - lastAt)
      lastAt = now
      bytes += chunk.length
    })
    response.on('end', () => report(response.complete ? null : 'cut off', member))
    response.on('error', (error) => report(error.message, member))
  })
  .on('error', (error) => report(error.message, null))
