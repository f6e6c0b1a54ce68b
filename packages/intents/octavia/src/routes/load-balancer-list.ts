import { LongList, type WrittenAnswer, WrittenJson } from '@spout/runtime'
import { type LoadBalancerReading, loadBalancerResource } from '../resources/load-balancer.ts'
import { listed, listedProject, ownVips } from './find.ts'
import { hrefs, parseListQuery, printPage, selectPage } from './list-query.ts'
import type { Call } from './route.ts'

const { fields, plural } = loadBalancerResource

/** A list with more load balancers that have to be printed is printed in pieces, at the pace of its reader. */
const MOST_PRINTED = 20

/** Lists load balancers. If the texts of a whole page are known, its bytes are sent as they are. */
export function listLoadBalancers(call: Call): unknown {
  const query = parseListQuery(call.query)
  const readings = listed(call).map((one) => ({ snapshot: one, vips: ownVips(call, one.lb) }))
  if (query.fields !== undefined) return printPage(plural, fields, readings, query, call.url)
  const page = selectPage(fields, readings, query)
  const links = { [`${plural}_links`]: hrefs(page, call.url) }
  return writtenPage(call, page.items, links) ?? { [plural]: LongList.of(page.items, printedBy(call)), ...links }
}

const printedBy = (call: Call) => (reading: LoadBalancerReading) => call.known.loadBalancers.print(reading)

function writtenPage(call: Call, readings: readonly LoadBalancerReading[], links: object): WrittenAnswer | null {
  const { loadBalancers, lists } = call.known
  const texts: WrittenJson[] = []
  let printed = 0
  for (const reading of readings) {
    const known = loadBalancers.known(reading)
    if (known === null && ++printed > MOST_PRINTED) return null
    const text = known ?? loadBalancers.print(reading)
    if (!(text instanceof WrittenJson)) return null
    texts.push(text)
  }
  return lists.answer(listedProject(call) ?? '', plural, texts, links)
}
