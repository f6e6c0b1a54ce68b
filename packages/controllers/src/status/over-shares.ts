import type { OverShareReport, Serving, ShareName } from '@spout/model'

/** One node's report of a tenant network that exceeds its share. */
export interface OverShareOnNode extends OverShareReport {
  readonly nodeName: string
}

const WORDS: Readonly<Record<ShareName, (limit: string, isRefused: boolean, proxy: string) => string>> = {
  packets: (limit) => `drops packets of its network: more than ${limit} arrive per second`,
  bytes: (limit) => `drops packets of its network: more than ${limit} bytes arrive per second`,
  'new-flows': (limit) => `drops new connections of its network: more than ${limit} begin per second`,
  flows: (limit) => `drops connections of its network to make room for new ones: it has reached its limit of ${limit}`,
  processors: (limit, _, proxy) =>
    `slows down ${proxy}, which needs more than its limit of processor time (processors: ${limit})`,
  memory: (limit, isRefused, proxy) =>
    isRefused
      ? `ended ${proxy}, which exceeded its memory limit of ${limit}, and started it again`
      : `will end ${proxy} if it needs more memory: it has nearly reached its limit of ${limit}`,
  connections: (limit, _, proxy) =>
    `accepts no more connections to ${proxy} for now: it has reached its limit of ${limit}`,
  mirrors: (limit) => `copies no more requests to mirrors for now: ${limit} copies are in flight`,
}

/** The limit as text. Memory is in the unit of the node's settings. */
const limitText = (share: ShareName, limit: number): string =>
  share === 'memory' ? `${Math.round(limit / 1024 ** 2)} MB` : limit.toLocaleString('en-US')

/** Adds to the serving state that a node drops or delays traffic. A serving load balancer then serves only partly. */
export function withOverShares(serving: Serving, over: readonly OverShareOnNode[]): Serving {
  if (over.length === 0) return serving
  const messages = over.map(({ nodeName, share, limit, loadBalancerId, refused = false }) => {
    const proxy = loadBalancerId === undefined ? 'its proxy' : 'its own proxy'
    return `Node ${nodeName} ${WORDS[share](limitText(share, limit), refused, proxy)}.`
  })
  const message = `${messages.join(' ')} ${serving.message}`
  if (serving.state === 'yes') return { ...serving, state: 'partly', reason: 'OverShare', message }
  return { ...serving, message: `${serving.message} ${messages.join(' ')}` }
}
