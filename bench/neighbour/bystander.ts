import { FABRIC, type Lab, memberAddress } from '@spout/testkit'
import { compile } from '../bed/native.ts'
import type { OtherMachines } from '../bed/other-machines.ts'
import type { Attack } from './attack.ts'
import { attackBy, FLOODS, floodArgv, packetsSent } from './traffic-attacks.ts'

/** A machine of the fabric on which no agent runs. */
const BYSTANDER = 'node2'

const ADDRESS = FABRIC.cidr.replace('0/24', '3')

const DROPPED = `
  table netdev bystander {
    chain arriving {
      type filter hook ingress device fab0 priority 0
      udp dport 80 drop
      tcp dport 80 drop
    }
  }
`

/** Its address in the attacker's network, as a plain router. */
const IN_NETWORK = '10.0.0.230'

const FORWARDED = `
  table ip router {
    chain arriving {
      type nat hook prerouting priority dstnat
      udp dport 81 dnat to ${memberAddress(0)}:9001
    }
    chain leaving {
      type nat hook postrouting priority srcnat
      oifname "seg-a" masquerade
    }
  }
`

/**
 * The same floods, sent to a machine that is not Spout's and drops them where they arrive. In a lab the sender, the router
 * and the switch share the processors with the node, and the kernel's share of their work waits for nobody. What such a
 * flood does to the victim is that work alone.
 */
export async function floodsOfBystander(lab: Lab, others: OtherMachines): Promise<readonly Attack[]> {
  const flood = await compile(lab, 'flood')
  await lab.must(BYSTANDER, ['nft', '-f', '-'], { input: DROPPED })
  return (Object.keys(FLOODS) as (keyof typeof FLOODS)[]).map((name) =>
    attackBy(lab, others, {
      name: `${name}-of-a-bystander`,
      argv: floodArgv(flood, name, ADDRESS),
      words: packetsSent,
      isControl: true,
    }),
  )
}

/**
 * The flood of flows, translated and forwarded to the attacker's member by two rules of nftables on a machine that is not
 * Spout's. It shows what any Linux router's part costs where it shares the processors with the victim's node.
 */
export async function flowsOfRouter(lab: Lab, others: OtherMachines): Promise<Attack> {
  const flood = await compile(lab, 'flood')
  await lab.must(BYSTANDER, ['ip', 'address', 'add', `${IN_NETWORK}/24`, 'dev', 'seg-a'])
  await lab.must(BYSTANDER, ['sysctl', '-qw', 'net.ipv4.ip_forward=1'])
  await lab.must(BYSTANDER, ['nft', '-f', '-'], { input: FORWARDED })
  return attackBy(lab, others, {
    name: 'million-flows-of-a-router',
    argv: floodArgv(flood, 'million-flows', ADDRESS, '81'),
    words: packetsSent,
    isControl: true,
  })
}
