import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { endOf } from '../readings/machine-processes.ts'
import { type RivalsReading, readRivals } from '../readings/rivals.ts'

const FINDINGS = {
  PortHeld: {
    level: 'error',
    what: 'a process that is not of the agent listens on a port that this node needs: BGP, BFD, replication of flows, metrics',
    why: "The agent's own daemon cannot listen there, or listens beside it and gets a part of the packets.",
    fix: '`systemctl disable --now UNIT`, or `kill PID`',
  },
  RivalDaemon: {
    level: 'warning',
    what: 'a keepalived, or a routing daemon, that the agent did not start runs beside its own',
    why: 'Both take VRRP packets and routes of the same machine. At the next start it may take a port first.',
    fix: '`systemctl disable --now UNIT`, or `kill PID`',
  },
} as const satisfies Catalogue

export function judgeRivals({ holders, daemons }: RivalsReading): readonly Found<keyof typeof FINDINGS>[] {
  const held = holders.map(({ port, by }): Found<'PortHeld'> => {
    const { protocol, number, what } = port
    const who = by === null ? 'Something' : `${by.program} (process ${by.pid})`
    const fix = by === null ? `ss -lnp 'sport = :${number}' says who` : endOf(by)
    return { code: 'PortHeld', subject: `${protocol} ${number}`, message: `${who} holds the port of ${what}.`, fix }
  })
  const holding = new Set(holders.map(({ by }) => by?.pid))
  const others = daemons
    .filter(({ pid }) => !holding.has(pid))
    .map(
      (one): Found<'RivalDaemon'> => ({
        ...{ code: 'RivalDaemon', subject: one.program, fix: endOf(one) },
        message: `Process ${one.pid} is not of the agent.`,
      }),
    )
  return [...held, ...others]
}

export const rivals = checkOf({
  name: 'ports',
  catalogue: FINDINGS,
  read: readRivals,
  judge: judgeRivals,
  right: () => "Nobody else has the node's ports, or runs daemons of the kinds that the agent starts.",
})
