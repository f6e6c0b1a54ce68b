import type { ControlReply } from './control-reply.ts'

/** One BGP protocol in the output of `show protocols all`. Null where the output has no value. */
export interface ShownSession {
  readonly name: string
  /** `up`, `start`, `down`, `stop`. */
  readonly protocolState: string
  /** `YYYY-MM-DD hh:mm:ss[.sss]`, in the daemon's zone. */
  readonly since: string
  /** `Established`, `Active`, `Connect`, `Idle`, `OpenSent`, `OpenConfirm`, `Down`, `Passive`. */
  readonly bgpState: string | null
  readonly neighborAddress: string | null
  readonly lastError: string | null
  /** Negotiated, seconds. */
  readonly holdTimeS: number | null
  readonly keepaliveTimeS: number | null
  /** The neighbour announced the graceful restart capability (RFC 4724 section 3). False while not established. */
  readonly neighborRestarts: boolean
  readonly channels: readonly ShownChannel[]
}

export interface ShownChannel {
  readonly family: 'ipv4' | 'ipv6'
  readonly state: string | null
  readonly exported: number
  /** Received routes, which are all refused. */
  readonly received: number
  /** The peer sends more than its limit. */
  readonly limited: boolean
}

const PROTOCOL = 1002
const DETAILS = 1006

/** Pure; unknown lines are skipped. */
export function parseProtocols({ lines }: ControlReply): readonly ShownSession[] {
  const sessions: ShownSession[] = []
  let open: { head: ShownSession; details: string[] } | null = null
  const finish = () => {
    if (open !== null) sessions.push(readDetails(open.head, open.details))
    open = null
  }
  for (const { code, text } of lines) {
    if (code === PROTOCOL) {
      finish()
      const head = readHead(text)
      open = head && { head, details: [] }
    } else if (code === DETAILS) (open as { details: string[] } | null)?.details.push(text)
  }
  finish()
  return sessions
}

function readHead(text: string): ShownSession | null {
  const found = /^(\S+)\s+BGP\s+\S+\s+(\S+)\s+(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)/.exec(text)
  if (found === null) return null
  const [, name = '', protocolState = '', since = ''] = found
  const unknown = { bgpState: null, neighborAddress: null, lastError: null, holdTimeS: null, keepaliveTimeS: null }
  return { name, protocolState, since, ...unknown, neighborRestarts: false, channels: [] }
}

function readDetails(head: ShownSession, details: readonly string[]): ShownSession {
  const first = details.findIndex((line) => /^\s*Channel /.test(line))
  const session = first < 0 ? details : details.slice(0, first)
  const timer = (label: string): number | null => {
    const value = field(session, label)
    return value === null || !/^[0-9.]+\/[0-9.]+$/.test(value) ? null : Number(value.slice(value.indexOf('/') + 1))
  }
  return {
    ...head,
    bgpState: field(session, 'BGP state'),
    neighborAddress: field(session, 'Neighbor address'),
    lastError: field(session, 'Last error'),
    holdTimeS: timer('Hold timer'),
    keepaliveTimeS: timer('Keepalive timer'),
    neighborRestarts: block(session, 'Neighbor capabilities').some((line) => line.trim() === 'Graceful restart'),
    channels: first < 0 ? [] : channels(details.slice(first)),
  }
}

function channels(details: readonly string[]): readonly ShownChannel[] {
  const found: ShownChannel[] = []
  details.forEach((line, index) => {
    const family = /^\s*Channel (ipv4|ipv6)\s*$/.exec(line)?.[1] as 'ipv4' | 'ipv6' | undefined
    if (family === undefined) return
    const next = details.findIndex((other, at) => at > index && /^\s*Channel /.test(other))
    const own = details.slice(index + 1, next < 0 ? undefined : next)
    const routes = field(own, 'Routes') ?? ''
    const count = (what: string): number => Number(new RegExp(`(\\d+) ${what}`).exec(routes)?.[1] ?? 0)
    found.push({
      family,
      state: field(own, 'State'),
      exported: count('exported'),
      received: count('imported') + count('filtered'),
      limited: own.some((each) => /^\s*Receive limit:.*\[HIT\]\s*$/.test(each)),
    })
  })
  return found
}

/** The lines under a heading: those that are indented further than it. */
function block(lines: readonly string[], heading: string): readonly string[] {
  const first = lines.findIndex((line) => line.trim() === heading)
  if (first < 0) return []
  const indent = (line: string): number => line.search(/\S/)
  const own = lines.slice(first + 1)
  const end = own.findIndex((line) => indent(line) <= indent(lines[first] ?? ''))
  return own.slice(0, end < 0 ? undefined : end)
}

const field = (lines: readonly string[], label: string): string | null => {
  for (const line of lines) {
    const text = line.trim()
    if (text.startsWith(`${label}:`)) return text.slice(label.length + 1).trim()
  }
  return null
}
