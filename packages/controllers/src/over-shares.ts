import type { OverShareReport, Serving, ShareName } from '@spout/model'

/** What one node said of a tenant network that wants more than its share. */
export interface OverShareOnNode extends OverShareReport {
  readonly nodeName: string
}

const WORDS: Readonly<Record<ShareName, (limit: string) => string>> = {
  packets: (limit) => `drops packets of its network: more than ${limit} come in a second`,
  bytes: (limit) => `drops packets of its network: more than ${limit} bytes come in a second`,
  'new-flows': (limit) => `drops connections of its network: more than ${limit} begin in a second`,
  flows: (limit) => `drops connections of its network for new ones: it has as many as it may, ${limit}`,
  processors: (limit) => `holds up its proxy, which wants more processor time than it may have (processors: ${limit})`,
}

/** Says on what serves that a node drops a part of it, or holds it up. What is worse goes first. */
export function withOverShares(serving: Serving, over: readonly OverShareOnNode[]): Serving {
  if (over.length === 0) return serving
  const told = over.map(({ nodeName, share, limit }) => {
    return `Node ${nodeName} ${WORDS[share](limit.toLocaleString('en-US'))}.`
  })
  const message = `${told.join(' ')} ${serving.message}`
  if (serving.state === 'yes') return { ...serving, state: 'partly', reason: 'OverShare', message }
  return { ...serving, message: `${serving.message} ${told.join(' ')}` }
}
