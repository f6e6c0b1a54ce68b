import type { Lab } from '@spout/testkit'
import { compile } from '../bed/native.ts'
import { domainNamespaces } from '../bed/processes.ts'

/** Counts nftables transactions on a node and in its domains, from the kernel's own counters. */
export async function transactionCounter(lab: Lab, node: string): Promise<() => Promise<number>> {
  const binary = await compile(lab, 'nft-generation')
  return async () => {
    let sum = 0
    for (const namespace of [lab.namespace(node), ...domainNamespaces(lab)])
      sum += Number((await lab.must('host', ['nsenter', `--net=/run/netns/${namespace}`, '--', binary])).trim())
    return sum
  }
}
