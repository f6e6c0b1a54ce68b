import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Lab, PlaceName } from './lab.ts'
import { waitFor } from './wait-for.ts'

/** Default ports of `startFastMember`. */
export const FAST_PORTS = { first: 10_000, count: 200 } as const

const ANSWERS = {
  digits: 'string "0123456789012345678901234567890123456789"',
  port: 'lf-string "%[dst_port]"',
} as const

export interface FastMemberOptions {
  /** How many ports, from `FAST_PORTS.first` on. */
  readonly count?: number
  /** What it answers: 40 digits, or the number of its port. Default: digits. */
  readonly answer?: keyof typeof ANSWERS
  /** A command in front of its own, such as `chrt --idle 0`: a member stands for another machine. */
  readonly prefix?: readonly string[]
}

/** Starts a member that is never the bottleneck: HAProxy itself answers 200 on many ports. */
export async function startFastMember(
  lab: Lab,
  place: PlaceName,
  { count = FAST_PORTS.count, answer = 'digits', prefix = [] }: FastMemberOptions = {},
): Promise<void> {
  const { first } = FAST_PORTS
  const file = path.join(lab.directory, `${place}.cfg`)
  const config = [
    'global',
    '  nbthread 1',
    'defaults',
    '  mode http',
    '  timeout client 60s',
    '  timeout http-keep-alive 60s',
    'frontend answers',
    `  bind :::${first}-${first + count - 1} v4v6`,
    `  http-request return status 200 content-type text/plain ${ANSWERS[answer]}`,
  ]
  writeFileSync(file, `${config.join('\n')}\n`)
  await lab.start(place, `fast-${place}`, [...prefix, 'haproxy', '-db', '-f', file])
  await waitFor(async () => (await lab.run(place, ['curl', '-sf', `http://127.0.0.1:${first}/`])).code === 0, {
    what: `the fast member in ${place}`,
  })
}
