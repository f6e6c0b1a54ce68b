/**
 * Asks the API of a control plane as a hostile client does, until stdin ends; then says `ANSWERED REFUSED FAILED`: 2xx,
 * other answers, none. It stands for other machines: start it as `OtherMachines` does.
 *
 * api-burst KIND URL TOKEN BODY_BYTES [PATH]
 */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

/** Clients at a time. */
const KINDS = { reads: 32, writes: 32, logins: 16, watches: 400, documents: 8, strangers: 32 } as const
export type BurstKind = keyof typeof KINDS
const MAX_SECONDS = 120

const [kindText = '', base = '', token = '', bytesText = '0', target = ''] = process.argv.slice(2)
const kind = kindText as BurstKind
const bodyBytes = Number(bytesText)
const count = { answered: 0, refused: 0, failed: 0 }
const secure = base.startsWith('https:')
const agent = new (secure ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
let ending = false

const bearer = { authorization: `Bearer ${token}` }
const json = { 'content-type': 'application/json' }

interface Ask {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** A watch: stays open until it is ended by the server. */
  readonly stays?: boolean
}

const padding = Buffer.alloc(bodyBytes, 0x61)

/**
 * As many members as a project may have by default, with names that fill the rest of the body. They differ from turn to
 * turn.
 */
const MEMBERS = 5000
function largeDocument(turn: number): string {
  const weight = 1 + (turn % 200)
  const member = (n: number, name: string) => ({ address: `10.0.0.${10 + (n % 200)}`, port: 1 + n, name, weight })
  const bare = JSON.stringify(member(MEMBERS, '')).length + 1
  const name = 'n'.repeat(Math.max(0, Math.min(255, Math.floor((bodyBytes - 1024) / MEMBERS) - bare)))
  const pools = [
    { name: 'large', protocol: 'http', members: Array.from({ length: MEMBERS }, (_, n) => member(n, name)) },
  ]
  const listeners = [{ name: 'large', protocol: 'http', port: 80, defaultPool: 'large' }]
  return JSON.stringify({ name: 'large', listeners, pools })
}
const documents = kind === 'documents' ? [0, 1].map(largeDocument) : []
let turn = 0
const asks: Readonly<Record<BurstKind, () => Ask>> = {
  reads: () => ({ method: 'GET', path: target, headers: bearer }),
  writes: () => ({
    ...{ method: 'PATCH', path: target, headers: { ...bearer, ...json } },
    body: JSON.stringify({ description: `turn ${count.answered}` }),
  }),
  logins: () => ({
    ...{ method: 'POST', path: '/identity/v3/auth/tokens', headers: json },
    body: JSON.stringify({
      auth: {
        identity: {
          methods: ['password'],
          password: { user: { name: `nobody-${count.refused % 50}`, password: 'wrong', domain: { name: 'Default' } } },
        },
      },
    }),
  }),
  watches: () => ({ method: 'GET', path: target, headers: bearer, stays: true }),
  documents: () => ({
    ...{ method: 'PUT', path: target, headers: { ...bearer, ...json } },
    // One after the other, so that each is a change.
    body: documents[turn++ % documents.length] ?? '',
  }),
  strangers: () => ({ method: 'POST', path: target, headers: json, body: padding }),
}

/** Resolves with the status, 0 without an answer. */
const once = ({ method, path, headers, body, stays = false }: Ask): Promise<number> =>
  new Promise((resolve) => {
    const url = new URL(path, base)
    const options = { method, headers, agent, ...(secure && { rejectUnauthorized: false }) }
    const onAnswer = (response: IncomingMessage): void => {
      const status = response.statusCode ?? 0
      response
        .on('error', () => resolve(status))
        .on('end', () => resolve(status))
        .on('close', () => resolve(status))
      response.resume()
      if (stays && status < 300) count.answered++
    }
    const asking: ClientRequest = secure ? httpsRequest(url, options, onAnswer) : httpRequest(url, options, onAnswer)
    asking.on('error', () => resolve(0))
    asking.end(body)
  })

async function client(): Promise<void> {
  while (!ending) {
    const ask = asks[kind]()
    const status = await once(ask)
    if (status === 0) {
      count.failed++
      // A refused connection fails at once: it costs the attacker as much as it does elsewhere.
      await new Promise((resolve) => setTimeout(resolve, 5))
    } else if (status < 300) count.answered += ask.stays === true ? 0 : 1
    else count.refused++
  }
}

const finish = () => {
  ending = true
  process.stdout.write(`${count.answered} ${count.refused} ${count.failed}\n`, () => process.exit(0))
}
process.stdin.on('end', finish).resume()
setTimeout(finish, MAX_SECONDS * 1000)
for (let n = 0; n < KINDS[kind]; n++) void client()
