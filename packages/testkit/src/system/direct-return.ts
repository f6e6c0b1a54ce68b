import type { Lab } from '../lab/lab.ts'
import { TENANT_SUBNET } from '../lab/topology.ts'

/**
 * Makes the lab's router the gateway of a tenant's segment, as return path `dsr` needs it: members answer clients through
 * it and not through a load-balancer node.
 */
export async function answerThroughRouter(lab: Lab, segment: string): Promise<void> {
  const port = `r-${segment}`
  const link = `seg-${segment.at(-1)}`
  const { gateway, gateway6 } = TENANT_SUBNET
  const switched = [
    `link add name ${port} type veth peer name ${link} netns ${lab.namespace('router')}`,
    `link set dev ${port} master br-${segment}`,
    `link set dev ${port} up`,
  ]
  await lab.must('fabric', ['ip', '-batch', '-'], { input: `${switched.join('\n')}\n` })
  const inside = [
    `link set dev ${link} up`,
    `address add ${gateway}/24 dev ${link}`,
    `address add ${gateway6}/64 dev ${link} nodad`,
  ]
  await lab.must('router', ['ip', '-batch', '-'], { input: `${inside.join('\n')}\n` })
  // What comes from a member bears an address of the fabric.
  await lab.must('router', ['sysctl', '-qw', 'net.ipv4.conf.all.rp_filter=0', `net.ipv4.conf.${link}.rp_filter=0`])
}

/** Prepares the two members of a segment for a VIP as docs/networks.md says. */
export async function holdVip(lab: Lab, segment: string, vip: string): Promise<void> {
  for (const member of [1, 2].map((index) => `${segment}-member${index}`)) {
    await lab.must(member, ['sysctl', '-qw', 'net.ipv4.conf.all.arp_ignore=1', 'net.ipv4.conf.all.arp_announce=2'])
    await lab.must(member, ['ip', 'address', 'replace', `${vip}/${vip.includes(':') ? 128 : 32}`, 'dev', 'lo'])
  }
}
