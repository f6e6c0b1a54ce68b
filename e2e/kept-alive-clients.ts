/**
 * HTTP clients with one kept-alive connection each, which never repeat a request: BUSY of them send requests one after
 * the other, IDLE ones on command. Reads a command per line: `idle` makes the idle ones send one request, `tell`
 * reports everything since the last report. Answers each with a line of JSON. Run as
 * `node kept-alive-clients.ts ADDRESS PORT BUSY IDLE`.
 */
import http from 'node:http'
import readline from 'node:readline'

/** The requests since the last report. */
export interface KeptAlive {
  readonly asked: number
  readonly failures: readonly string[]
  /** Opened connections. */
  readonly opened: number
}

/** Eight clients send 530 requests a second at most, and leave the processors to what is tested. */
const PAUSE_MS = 15
const TIMEOUT_MS = 5_000

const [address = '', port = '', busy = '', idle = ''] = process.argv.slice(2)
let asked = 0
let opened = 0
let failures: string[] = []

function ask(agent: http.Agent): Promise<void> {
  asked++
  return new Promise((resolve) => {
    const failed = (why: string) => {
      failures.push(why)
      resolve()
    }
    const request = http.get({ host: address, port: Number(port), agent, timeout: TIMEOUT_MS })
    request.on('socket', () => {
      if (!request.reusedSocket) opened++
    })
    request.on('timeout', () => request.destroy(new Error('no answer in time')))
    request.on('error', (error: NodeJS.ErrnoException) => failed(error.code ?? error.message))
    request.on('response', (response) => {
      response.resume()
      response.on('error', (error) => failed(error.message))
      response.on('end', () => (response.statusCode === 200 ? resolve() : failed(String(response.statusCode))))
    })
  })
}

const agents = (count: string): readonly http.Agent[] =>
  Array.from({ length: Number(count) }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }))

async function askOn(agent: http.Agent): Promise<never> {
  for (;;) {
    await ask(agent)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

const sleepers = agents(idle)
for (const agent of agents(busy)) void askOn(agent)

const tell = (answer: object): void => {
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}

const lines = readline.createInterface({ input: process.stdin })
lines.on('line', (word) => {
  if (word === 'idle') void Promise.all(sleepers.map(ask)).then(() => tell({}))
  else {
    tell({ asked, failures, opened } satisfies KeptAlive)
    asked = 0
    opened = 0
    failures = []
  }
})
lines.on('close', () => process.exit(0))
