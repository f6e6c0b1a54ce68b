import type { ShownSession } from '@spout/dataplane'
import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { type RoutersReading, readRouters } from '../readings/routers.ts'

const FINDINGS = {
  BirdStopped: {
    level: 'error',
    what: 'no BIRD answers on a node of a BGP group',
    why: 'The node has no session: routers send it nothing.',
    fix: '`systemctl restart spout-agent`',
  },
  SessionDown: {
    level: 'error',
    what: 'a BGP session is not established',
    why: 'This router sends the node nothing; without another session, the node announces nothing.',
    fix: "what BIRD's last error says: `birdc -s SOCKET show protocols all SESSION`",
  },
  PeerSendsRoutes: {
    level: 'notice',
    what: 'a router sends more routes than the limit',
    why: 'They are refused in any case; they only cost memory there and here.',
    fix: 'on the router: an export filter for this neighbour',
  },
} as const satisfies Catalogue

export function judgeRouters(reading: RoutersReading): readonly Found<keyof typeof FINDINGS>[] {
  if (reading === null) return []
  const { sessions, controlSocket } = reading
  if (sessions === null)
    return [
      {
        ...{ code: 'BirdStopped', subject: null, fix: 'systemctl restart spout-agent' },
        message: `Nobody answers on ${controlSocket}.`,
      },
    ]
  return sessions.flatMap((session) => ofSession(session, reading))
}

function ofSession(
  session: ShownSession,
  { controlSocket, peers }: NonNullable<RoutersReading>,
): readonly Found<keyof typeof FINDINGS>[] {
  const { name, neighborAddress, bgpState, lastError, channels } = session
  const subject = neighborAddress ?? name
  if (bgpState !== 'Established') {
    const peer = peers.find(({ address }) => address === neighborAddress)
    const reason = lastError === null ? '' : `: ${lastError}`
    const look = `birdc -s ${controlSocket} show protocols all ${name}`
    const fix = FIXES.find(([words]) => words.test(lastError ?? ''))?.[1](peer?.id ?? 'NAME') ?? look
    return [{ code: 'SessionDown', subject, message: `The session is ${bgpState ?? 'down'}${reason}.`, fix }]
  }
  if (!channels.some(({ limited }) => limited)) return []
  const fix = 'on the router: an export filter for this neighbour'
  return [{ code: 'PeerSendsRoutes', subject, message: 'It sends more routes than the limit.', fix }]
}

/** What BIRD's last error asks for. */
const FIXES: readonly (readonly [RegExp, (peerId: string) => string])[] = [
  [/Bad peer AS/, (id) => `spout bgp-peer set ${id} --as NUMBER, the number of the router`],
  [/Connection refused/, () => 'on the router: the node as neighbour, and BGP on'],
  [/Authentication|MD5/i, (id) => `spout bgp-peer set ${id} --md5-secret SECRET, the one of the router`],
]

export const routers = checkOf({
  name: 'bgp',
  catalogue: FINDINGS,
  read: readRouters,
  judge: judgeRouters,
  right: (reading) =>
    reading === null ? 'The node speaks no BGP.' : `${reading.sessions?.length} BGP sessions are established.`,
})
