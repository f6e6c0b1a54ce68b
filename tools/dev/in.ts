import { KubernetesCluster, runInteractive } from '@spout/testkit'
import { CLUSTER } from './kubernetes/management/cluster.ts'
import { requireUp, type Up } from './state.ts'
import { UsageError, type Verb } from './verb.ts'

interface Place {
  readonly name: string
  readonly what: string
  /** Its name in the lab. */
  readonly lab: string
}

const place = (name: string, what: string): Place => ({ name, what, lab: name })

/** Pods under their Kubernetes names; none while the API server does not answer. */
async function podPlaces(cluster: KubernetesCluster): Promise<readonly Place[]> {
  const pods = await cluster.pods().catch(() => [])
  return pods
    .filter(({ status }) => status?.podIP !== undefined)
    .map((pod) => ({
      name: pod.metadata.name,
      what: `pod on ${pod.spec.nodeName}, ${pod.status?.podIP}`,
      lab: cluster.podPlace(pod),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function placesOf({ lab, cluster }: Up): Promise<readonly Place[]> {
  const clusters = [cluster, KubernetesCluster.open(lab, CLUSTER)].filter((one) => one !== null)
  return [
    ...lab.places.map(({ name, what }) => place(name, what)),
    ...clusters.flatMap(({ places: own }) => own.map(({ name, what }) => place(name, what))),
    ...(cluster === null ? [] : await podPlaces(cluster)),
    place('fabric', 'the switches'),
    place('host', 'this machine: the control plane'),
  ]
}

/** `./dev in PLACE COMMAND…` */
export const inPlace: Verb = {
  name: 'in',
  usage: 'PLACE COMMAND…',
  summary: 'runs a command in a place of the lab (client, node1, tenant-a-member1, ...)',
  details: 'Example: ./dev in client curl -s http://198.51.100.16/',
  async run(args) {
    const up = requireUp()
    const [wanted, ...command] = args
    const known = await placesOf(up)
    const found = known.find(({ name }) => name === wanted)
    if (found === undefined)
      throw new UsageError(
        `${wanted ? `there is no place ${JSON.stringify(wanted)}` : 'name a place'}: ${known.map(({ name }) => name).join(', ')}`,
      )
    if (command.length === 0) throw new UsageError('name a command to run there')
    return runInteractive(up.lab.argvIn(found.lab, command))
  },
}

/** `./dev places` */
export const places: Verb = {
  name: 'places',
  usage: '',
  summary: 'lists the places of the lab',
  async run() {
    const rows = await placesOf(requireUp())
    const width = Math.max(...rows.map(({ name }) => name.length))
    process.stdout.write(rows.map(({ name, what }) => `${name.padEnd(width)}  ${what}\n`).join(''))
    return 0
  },
}
