import type { DrainFate, DrainMove, DrainPreview } from '@spout/model'

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`

/** Where addresses go. */
export function placeWords({ how, shard, to }: Pick<DrainMove, 'how' | 'shard' | 'to'>): string {
  const what = shard === null ? '' : `Shard ${shard} `
  if (how === 'stay') return shard === null ? 'Stays' : `${what}stays`
  return `${what}→ ${how === 'routers' ? 'the other nodes' : (to?.name ?? '')}`
}

export const muchWords = ({ loadBalancers, addressCount }: Pick<DrainMove, 'loadBalancers' | 'addressCount'>): string =>
  `${counted(loadBalancers, 'load balancer', 'load balancers')}, ${counted(addressCount, 'address', 'addresses')}`

export const whoseWords = ({ loadBalancers }: Pick<DrainFate, 'loadBalancers'>): string =>
  counted(loadBalancers, 'load balancer', 'load balancers')

/** What keeps the drain from beginning at once, in sentences. */
export const waitWords = ({
  reports,
  hasSuccessor,
  waitsFor,
}: Pick<DrainPreview, 'reports' | 'hasSuccessor' | 'waitsFor'>): readonly string[] => [
  ...(hasSuccessor ? [] : ['No other node of its group is connected and in use: nothing moves until one is.']),
  ...(reports ? [] : ['It does not report: it hears of the drain once it does.']),
  ...(waitsFor.unready.length > 0 ? [`The drain waits for ${waitsFor.unready.join(', ')}, to announce.`] : []),
  ...(waitsFor.unheard.length > 0 ? [`The drain waits for ${waitsFor.unheard.join(', ')}, to report.`] : []),
]
