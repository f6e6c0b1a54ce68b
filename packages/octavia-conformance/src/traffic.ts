import { connect } from 'node:net'
import { CheckFailed } from './result.ts'
import type { Trial } from './trial.ts'

const PORT = 8080
const ATTEMPT_MS = 2000

/** A member that answers on TCP. */
export interface TrafficMember {
  readonly address: string
  readonly port: number
}

/** Checks connections to a VIP, which this machine must reach. @param member null skips the check */
export async function checkTraffic(trial: Trial, member: TrafficMember | null): Promise<void> {
  trial.group('traffic')
  const name = 'a connection is accepted, and refused when the listener is disabled'
  if (member === null) return trial.skip(name, 'no member with traffic is named')
  await trial.check(name, async () => {
    const { prefix, vip } = trial.options
    const { address, port } = member
    const made = await trial.make('/loadbalancers', 'loadbalancer', {
      ...{ name: `${prefix}-traffic`, ...vip },
      listeners: [
        {
          ...{ name: 'tcp', protocol: 'TCP', protocol_port: PORT },
          default_pool: {
            ...{ name: `${prefix}-traffic`, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' },
            members: [{ address, protocol_port: port }],
          },
        },
      ],
    })
    await trial.settled(made.id)
    const at = String(made['vip_address'])
    await trial.until(`${at} port ${PORT} to accept a connection`, () => accepts(at, PORT))
    const { listeners } = await trial.show(`/loadbalancers/${made.id}`, 'loadbalancer')
    const [listener] = (listeners ?? []) as readonly { readonly id: string }[]
    if (listener === undefined) throw new CheckFailed('the load balancer has no listener')
    await trial.change(made.id, `/listeners/${listener.id}`, 'listener', { admin_state_up: false })
    await trial.until(`${at} port ${PORT} to accept none`, async () =>
      (await accepts(at, PORT)) === null ? 'it accepts one' : null,
    )
  })
}

/** @returns why not; null when the connection was made */
const accepts = (host: string, port: number): Promise<string | null> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ATTEMPT_MS })
    const end = (why: string | null) => {
      socket.destroy()
      resolve(why)
    }
    socket.once('connect', () => end(null))
    socket.once('timeout', () => end('nothing answers'))
    socket.once('error', (error) => end(error.message))
  })
