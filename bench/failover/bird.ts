import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Lab, must, waitFor } from '@spout/testkit'
import { parseBfd } from '../../packages/dataplane/src/announcers/bgp/show-bfd.ts'

export const ROUTER = { address: '198.51.100.1', as: 64_512 } as const

export interface BirdNeighbour {
  readonly address: string
  readonly as: number
  readonly bfd: boolean
}

/** Settings that only shorten the time until a session is up again after a fault. */
export const SOON = ['connect delay time 1;', 'connect retry time 1;', 'error wait time 1, 2;', 'error forget time 1;']

/**
 * Starts BIRD in a place with this configuration.
 * @param prefix a command in front of its own
 */
export async function startBird(
  lab: Lab,
  place: string,
  config: readonly string[],
  prefix: readonly string[] = [],
): Promise<void> {
  const file = path.join(lab.directory, `${place}.bird.conf`)
  const socket = path.join(lab.runDirectory, `${place}.bird`)
  rmSync(socket, { force: true })
  writeFileSync(file, `${config.join('\n')}\n`)
  // Whoever comes first creates it; daemons that are not root must pass through it.
  await must(['install', '-d', '-m', '755', lab.runDirectory])
  await lab.start(place, `bird-${place}`, [...prefix, 'bird', '-f', '-c', file, '-s', socket])
}

/**
 * Starts BGP on the lab's router: it takes every route and spreads flows over equal ones by address and port. Its BFD
 * is as fast as a neighbour asks for, and does not suffer from the load of the machine: routers have BFD in hardware.
 */
export async function startBirdRouter(lab: Lab, neighbours: readonly BirdNeighbour[]): Promise<void> {
  await lab.must('router', ['sysctl', '-qw', 'net.ipv4.fib_multipath_hash_policy=1'])
  const config = [
    `router id ${ROUTER.address};`,
    'timeformat protocol iso long ms;',
    'log stderr all;',
    'protocol device {}',
    'protocol bfd { interface "fab0" { min rx interval 5 ms; min tx interval 10 ms; multiplier 5; }; }',
    'protocol kernel { ipv4 { import none; export where source = RTS_BGP; }; merge paths on; }',
    ...neighbours.flatMap(({ address, as, bfd }, n) => [
      `protocol bgp n${n} {`,
      `  local ${ROUTER.address} as ${ROUTER.as};`,
      `  neighbor ${address} as ${as};`,
      ...SOON,
      ...(bfd ? ['  bfd on;'] : []),
      '  ipv4 { import all; export none; };',
      '}',
    ]),
  ]
  await startBird(lab, 'router', config, ['chrt', '--rr', '5'])
}

/** Waits until the router reaches the address through each of these. */
export const routedBy = (lab: Lab, vip: string, addresses: readonly string[]): Promise<boolean> =>
  waitFor(
    async () => {
      const routes = await lab.must('router', ['ip', 'route', 'show', vip])
      return addresses.every((address) => routes.includes(`via ${address} `))
    },
    { what: `the router to reach ${vip} by way of ${addresses.join(' and ')}`, timeoutMs: 60_000, everyMs: 50 },
  )

/**
 * Waits until the router's BFD has a session with each of these that notices silence within `mostMs`. A route says
 * nothing of that: BGP is up first, BFD takes a second or two more, and for a second after that its time is that of the
 * handshake (RFC 5880, 6.8.3).
 */
export const watchedByRouter = (lab: Lab, addresses: readonly string[], mostMs: number): Promise<boolean> =>
  waitFor(
    async () => {
      const socket = path.join(lab.runDirectory, 'router.bird')
      const { stdout } = await lab.run('router', ['birdc', '-s', socket, 'show', 'bfd', 'sessions'])
      const sessions = parseBfd({ code: 0, lines: stdout.split('\n').map((text) => ({ code: 1020, text })) })
      return addresses.every((address) =>
        sessions.some((one) => one.address === address && one.state === 'up' && one.timeoutMs <= mostMs),
      )
    },
    {
      what: `the router to notice silence of ${addresses.join(' and ')} within ${mostMs} ms`,
      timeoutMs: 60_000,
      everyMs: 50,
    },
  )
