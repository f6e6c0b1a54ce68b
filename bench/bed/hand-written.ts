import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { FAST_PORTS, type Lab, memberAddress, must } from '@spout/testkit'
import { addPeerDomain } from './peer-domain.ts'

export interface HandWritten {
  readonly name: string
  readonly node: string
  /** The members' segment. */
  readonly segment: string
  /** Number that keeps its addresses apart from those of other peers: 0 to 9. */
  readonly index: number
  /** The `bind` lines for an address, without the word. */
  readonly binds: (address: string) => readonly string[]
}

/**
 * An HAProxy with the configuration that somebody would write for the same job, in front of the same members, in a
 * namespace of the same node.
 * @returns the address at which the client reaches it
 */
export async function startHandWritten(lab: Lab, { binds, ...peer }: HandWritten): Promise<string> {
  const address = `192.0.2.${peer.index}`
  const { namespace } = await addPeerDomain(lab, { ...peer, destination: address })
  await must(['ip', '-n', namespace, 'address', 'add', `${address}/32`, 'dev', 'lo'])
  const config = [
    'global',
    '  nbthread 1',
    '  maxconn 1000',
    'defaults',
    '  mode http',
    '  timeout connect 5s',
    '  timeout client 50s',
    '  timeout server 50s',
    'frontend web',
    ...binds(address).map((bind) => `  bind ${bind}`),
    '  default_backend members',
    'backend members',
    '  balance roundrobin',
    ...[0, 1].map((index) => `  server m${index} ${memberAddress(index)}:${FAST_PORTS.first}`),
  ]
  const file = path.join(lab.directory, `${peer.name}.cfg`)
  writeFileSync(file, `${config.join('\n')}\n`)
  await lab.start(peer.name, `hand-written-${peer.name}`, ['haproxy', '-db', '-f', file])
  return address
}
