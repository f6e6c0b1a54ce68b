import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { FAST_PORTS, type Lab, type PlaceName, waitFor } from '@spout/testkit'

/** A member that is never the bottleneck: HAProxy itself answers 200 at many ports, each with its number. */
export async function startPortMember(lab: Lab, place: PlaceName): Promise<void> {
  const { first, count } = FAST_PORTS
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
    '  http-request return status 200 content-type text/plain lf-string "%[dst_port]"',
  ]
  writeFileSync(file, `${config.join('\n')}\n`)
  await lab.start(place, `member-${place}`, ['haproxy', '-db', '-f', file])
  await waitFor(async () => (await lab.run(place, ['curl', '-sf', `http://127.0.0.1:${first}/`])).code === 0, {
    what: `the member in ${place}`,
  })
}
