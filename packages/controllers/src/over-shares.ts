import type { OverShareReport, Serving, ShareName } from '@spout/model'

/** What one node said of a tenant network that wants more than its share. */
export interface OverShareOnNode extends OverShareReport {
  readonly nodeName: string
}

const WORDS: Readonly<Record<ShareName, (limit: string) => string>> = {
  packets: (limit) => `packets of its network: more than ${limit} come in a second`,
  bytes: (limit) => `packets of its network: more than ${limit} bytes come in a second`,
  'new-flows': (limit) => `connections of its network: more than ${limit} begin in a second`,
  flows: (limit) => `connections of its network for new ones: it has as many as it may, ${limit}`,
}

/** Says on what serves that a node drops a part of it. What is worse goes first. */
export function withOverShares(serving: Serving, over: readonly OverShareOnNode[]): Serving {
  if (over.length === 0) return serving
  const told = over.map(({ nodeName, share, limit }) => {
    return `Node ${nodeName} drops ${WORDS[share](limit.toLocaleString('en-US'))}.`
  })
  const message = `${told.join(' ')} ${serving.message}`
  if (serving.state === 'yes') return { ...serving, state: 'partly', reason: 'OverShare', message }
  return { ...serving, message: `${serving.message} ${told.join(' ')}` }
}
