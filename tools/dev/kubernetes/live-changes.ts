import { callApi, type Kubernetes, waitFor } from '@spout/testkit'
import { type Asking, describePods, type PodAnswer, podsOf } from './asking.ts'
import { Moments } from './moments.ts'
import { POD_PATH, type Scene, SERVICES } from './scene.ts'

/** The lab's client. */
const CLIENT = '203.0.113.10'

/** Final number of pods of the Deployment. */
const PODS = 5

const since = (fromMs: number, toMs: number): string => `${Math.max(0, Math.round(toMs - fromMs))} ms`

/** Deletes a pod: it leaves rotation before it ends, and its replacement comes in. */
export async function deletePod({ cluster, kubectl, teller }: Scene, asking: Asking): Promise<void> {
  teller.heading('A pod is deleted')
  const before = await cluster.pods('app=web')
  const { name } = before[0]!.metadata
  using moments = await Moments.start<Kubernetes.Pod>(cluster.api, POD_PATH)
  await kubectl.run('delete', 'pod', name, '--wait=false')
  const deletedAt = await moments.when('its deletion', ({ metadata }) => {
    return metadata.name === name && metadata.deletionTimestamp !== undefined
  })
  await asking.recently(`${name} to leave rotation`, (answers) => !podsOf(answers).includes(name))
  const lastAnswerAt = asking.lastOf(name) ?? deletedAt
  teller.event(`${name} got its last request ${since(deletedAt, lastAnswerAt)} after the API server had marked it`)
  const known = new Set(before.map(({ metadata }) => metadata.name))
  const isNew = ({ metadata }: Kubernetes.KubernetesObject) => !known.has(metadata.name)
  const isReady = (pod: Kubernetes.Pod) =>
    isNew(pod) && (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')
  const readyAt = await moments.when('a new pod to be ready', isReady)
  const heir = (await cluster.pods('app=web')).find(isNew)!.metadata.name
  const firstAnswerAt = await waitFor(() => asking.firstOf(heir), { what: `${heir} to answer` })
  teller.event(`${heir} took its place, with its first request ${since(readyAt, firstAnswerAt)} after it was ready`)
}

/** Scales the Deployment up. */
export async function scale({ cluster, kubectl, teller }: Scene, asking: Asking): Promise<void> {
  teller.heading('The Deployment is scaled')
  const started = performance.now()
  await kubectl.run('scale', 'deployment', 'web', `--replicas=${PODS}`)
  const answers = await asking.recently(`${PODS} pods to answer`, (all) => podsOf(all).length === PODS)
  await cluster.readyPods(PODS, 'app=web')
  teller.event(`${PODS} pods answer, ${since(started, performance.now())} after the command: ${describePods(answers)}`)
}

const isClient = ({ client }: PodAnswer): boolean => client.endsWith(CLIENT)

/** Moves the Service to node ports, with both policies, and back. */
export async function moveToNodePorts(scene: Scene, asking: Asking): Promise<void> {
  const { cluster, kubectl, teller } = scene
  teller.heading('The way to the pods is changed live: node ports and kube-proxy, policies Local and Cluster, and back')
  await kubectl.run('patch', 'service', 'web', '--patch', policy('Local'))
  await untilNodesAnswerForThemselves(scene)
  await kubectl.run('annotate', 'service', 'web', 'spout.dev/mode=node-ports')
  const addresses = cluster.nodes.map(({ addresses: [address] }) => address)
  await untilMembers(scene, addresses.join(' '))
  const local = await asking.recently('the pods to see the client', (all) => {
    return all.every(isClient) && podsOf(all).length === PODS
  })
  teller.event(
    `members are the nodes; policy Local: each hands to its own pods, which see the client (${describePods(local)})`,
  )
  await kubectl.run('patch', 'service', 'web', '--patch', policy('Cluster'))
  const viaNodes = await asking.recently('nodes to ask in place of the client', (all) => !all.some(isClient))
  const seen = [...new Set(viaNodes.map(({ client }) => client.replace('::ffff:', '')))].sort()
  teller.event(`policy Cluster: kube-proxy chooses anew, and the pods see nodes (${seen.join(', ')})`)
  await kubectl.run('annotate', 'service', 'web', 'spout.dev/mode-')
  await asking.recently('the pods to see the client again', (all) => all.every(isClient))
  teller.event('back to the pods themselves')
}

const policy = (name: string): string => JSON.stringify({ spec: { externalTrafficPolicy: name } })

/** Waits until kube-proxy has opened the Service's healthCheckNodePort, which it does when it next writes its rules. */
async function untilNodesAnswerForThemselves({ cluster, teller }: Scene): Promise<void> {
  const { spec } = await cluster.api.get<Kubernetes.Service>(`${SERVICES}/web`)
  const port = spec.healthCheckNodePort
  for (const { name, addresses } of cluster.nodes)
    await waitFor(
      async () => (await cluster.lab.run(name, ['curl', '-sf', `http://${addresses[0]}:${port}/healthz`])).code === 0,
      { what: `port ${port} of ${name} to answer` },
    )
  teller.event(`both nodes say at healthCheckNodePort ${port} that they have endpoints; nothing changes for the client`)
}

/** Waits until the load balancer has exactly these members, which `kubectl` does not show. */
async function untilMembers({ access }: Scene, wanted: string): Promise<void> {
  type Shown = { readonly name: string; readonly pools: readonly { readonly members: readonly Member[] }[] }
  type Member = { readonly address: string }
  const account = access.projects[0] ?? access.admin
  await waitFor(
    async () => {
      const path = '/load-balancers?name=default/web'
      const { items } = await callApi<{ items: readonly Shown[] }>(access.endpoint, account.token, 'GET', path)
      const members = items.flatMap(({ pools }) => pools.flatMap((pool) => pool.members))
      return members.map(({ address }) => address).join(' ') === wanted
    },
    { what: `the members to be ${wanted}` },
  )
}
