import type { OverShareReport, Serving, ShareName } from '@spout/model'

/** One node's report of a tenant network that is over its share. */
export interface OverShareOnNode extends OverShareReport {
  readonly nodeName: string
}

const WORDS: Readonly<Record<ShareName, (limit: string, isRefused: boolean, proxy: string) => string>> = {
  packets: (limit) => `drops packets of its network: more than ${limit} come in a second`,
  bytes: (limit) => `drops packets of its network: more than ${limit} bytes come in a second`,
  'new-flows': (limit) => `drops connections of its network: more than ${limit} begin in a second`,
  flows: (limit) => `drops connections of its network for new ones: it has as many as it may, ${limit}`,
  processors: (limit, _, proxy) =>
    `holds up ${proxy}, which wants more processor time than it may have (processors: ${limit})`,
  memory: (limit, isRefused, proxy) =>
    isRefused
      ? `ended ${proxy}, which wanted more memory than it may have, ${limit}, and started it again`
      : `ends ${proxy} if that wants more memory: it has nearly all that it may, ${limit}`,
  connections: (limit, _, proxy) => `takes no more connections to ${proxy} for now: it has as many as it may, ${limit}`,
  mirrors: (limit) => `copies no more requests to mirrors for now: ${limit} copies are under way`,
}

/** Memory in the unit of the node's settings. */
const limitText = (share: ShareName, limit: number): string =>
  share === 'memory' ? `${Math.round(limit / 1024 ** 2)} MB` : limit.toLocaleString('en-US')

/** Adds to the serving state that a node drops or delays traffic. The worse state wins. */
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
