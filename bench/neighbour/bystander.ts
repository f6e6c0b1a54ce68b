import { FABRIC, type Lab } from '@spout/testkit'
import { compile } from '../bed/native.ts'
import type { OtherMachines } from '../bed/other-machines.ts'
import type { Attack } from './attack.ts'
import { attackBy, FLOODS, floodArgv, packetsSent } from './traffic-attacks.ts'

/** A machine of the fabric on which no agent runs. */
const BYSTANDER = 'node2'

const DROPPED = `
  table netdev bystander {
    chain arriving {
      type filter hook ingress device fab0 priority 0
      udp dport 80 drop
      tcp dport 80 drop
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
  const address = FABRIC.cidr.replace('0/24', '3')
  return (Object.keys(FLOODS) as (keyof typeof FLOODS)[]).map((name) =>
    attackBy(lab, others, {
      name: `${name}-of-a-bystander`,
      argv: floodArgv(flood, name, address),
      words: packetsSent,
      isControl: true,
    }),
  )
}
