import { cidrContains, parseCidr, parseIp } from '@spout/net'
import type { LocalSettings } from './plan-local.ts'

/** What is wrong with a setting, by its path below `local`. */
export interface LocalProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** What the settings' types do not say. Addresses are in canonical text. */
export function localProblems(settings: LocalSettings): readonly LocalProblem[] {
  if (settings.loadBalancers.length === 0) return []
  return [...nodeProblems(settings), ...linkProblems(settings), ...balancerProblems(settings)]
}

const versionOf = (address: string): 4 | 6 => parseIp(address).version

function nodeProblems({ nodes }: LocalSettings): readonly LocalProblem[] {
  const [first] = nodes
  if (first === undefined)
    return [{ path: ['nodes'], message: 'is empty: name the fabric address of each node that may have the addresses' }]
  return nodes.flatMap((node, at): readonly LocalProblem[] => {
    if (nodes.indexOf(node) !== at) return [{ path: ['nodes', at], message: `${node} is named twice` }]
    if (versionOf(node) !== versionOf(first))
      return [{ path: ['nodes', at], message: `${node} is not IPv${versionOf(first)} like ${first}` }]
    return []
  })
}

function linkProblems({ links }: LocalSettings): readonly LocalProblem[] {
  return links.flatMap((link, at): readonly LocalProblem[] => {
    const { version, prefix } = parseCidr(link)
    if (version === 6) return [{ path: ['links', at], message: `${link} is not IPv4` }]
    return prefix > 30 ? [{ path: ['links', at], message: `${link} has less than four addresses` }] : []
  })
}

function balancerProblems({ nodes, links, loadBalancers }: LocalSettings): readonly LocalProblem[] {
  const served = new Map<string, string>()
  const inLinks = (address: string) => links.find((link) => cidrContains(parseCidr(link), parseIp(address)))
  return loadBalancers.flatMap(({ name, address, port, members }): readonly LocalProblem[] => {
    const problems: LocalProblem[] = []
    const refuse = (path: readonly (string | number)[], message: string) =>
      problems.push({ path: ['loadBalancers', name, ...path], message })
    const service = `${address} port ${port}`
    const other = served.get(service)
    if (other !== undefined) refuse(['port'], `${service} is load balancer ${other}'s already`)
    served.set(service, name)
    if (nodes.includes(address)) refuse(['address'], `${address} is a node's own address`)
    // The node's own programs would connect to an address of IPv6 from that address while it is bound (RFC 6724, rule 1).
    if (versionOf(address) === 6) refuse(['address'], `${address} is IPv6, which is not supported here`)
    else if (links.length === 0) refuse(['address'], `${address} is not reached, since local.links is empty`)
    for (const [at, member] of members.entries()) {
      if (members.indexOf(member) !== members.findIndex((one) => one.address === member.address))
        refuse(['members', at], `${member.address} is named twice`)
      if (versionOf(member.address) !== versionOf(address))
        refuse(['members', at], `${member.address} is not IPv${versionOf(address)} like ${address}`)
      if (loadBalancers.some((one) => one.address === member.address))
        refuse(['members', at], `${member.address} is the address of a load balancer`)
      const link = inLinks(member.address)
      if (link !== undefined) refuse(['members', at], `${member.address} is in ${link} of local.links`)
    }
    return problems
  })
}
