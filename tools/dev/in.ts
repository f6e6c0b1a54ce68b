import { runInteractive } from '@spout/testkit'
import { requireUp } from './state.ts'
import { UsageError, type Verb } from './verb.ts'

const NAMES = ['fabric', 'host']

/** `./dev in PLACE COMMAND…` */
export const inPlace: Verb = {
  name: 'in',
  usage: 'PLACE COMMAND…',
  summary: 'runs a command in a place of the lab (client, node1, tenant-a-member1, ...)',
  details: 'Example: ./dev in client curl -s http://198.51.100.16/',
  async run(args) {
    const { lab } = requireUp()
    const [place, ...command] = args
    const known = [...lab.places.map(({ name }) => name), ...NAMES]
    if (!place || !known.includes(place))
      throw new UsageError(
        `${place ? `there is no place ${JSON.stringify(place)}` : 'name a place'}: ${known.join(', ')}`,
      )
    if (command.length === 0) throw new UsageError('name a command to run there')
    return runInteractive(lab.argvIn(place, command))
  },
}

/** `./dev places` */
export const places: Verb = {
  name: 'places',
  usage: '',
  summary: 'lists the places of the lab',
  async run() {
    const { lab } = requireUp()
    const rows = [
      ...lab.places.map(({ name, what }) => [name, what] as const),
      ['fabric', 'the switches'] as const,
      ['host', 'this machine: the control plane'] as const,
    ]
    const width = Math.max(...rows.map(([name]) => name.length))
    process.stdout.write(rows.map(([name, what]) => `${name.padEnd(width)}  ${what}\n`).join(''))
    return 0
  },
}
