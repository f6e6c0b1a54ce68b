import { Caller, KubernetesCluster, type Lab, type SystemAccess, waitFor } from '@spout/testkit'
import type { Teller } from '../story/teller.ts'
import { Asking, ask, describePods, podsOf } from './asking.ts'
import { connectorUrl } from './connector.ts'
import { Kubectl } from './kubectl.ts'
import { deletePod, moveToNodePorts, scale } from './live-changes.ts'
import { CLUSTER } from './management/cluster.ts'
import { type ManagementClusterResult, tellManagementCluster } from './management/story.ts'
import { Moments } from './moments.ts'
import { BASE, type BalancedService, type Scene, SERVICES, untilProgrammed, vipOf } from './scene.ts'
import { MANAGEMENT_CLUSTER, type StorySettings } from './settings.ts'
import { SHOP_KINDS, SHOP_NEXT, type ShopAddresses, shopAddresses, tellShop } from './shop/story.ts'

/** At most this many pods must show up in a handful of requests. */
const MOST_PODS_SEEN = 5

export interface KubernetesStoryResult {
  /** Everything worked, and no request failed during the changes. */
  readonly ok: boolean
  readonly service: { readonly name: string; readonly vip: string; readonly answers: string }
  /** Null when the Service existed before. */
  readonly firstTime: {
    /** From the Service's creation until its address was shown, and until the first answer. */
    readonly addressMs: number
    readonly firstAnswerMs: number
    readonly requests: number
    readonly failedRequests: number
  } | null
  /** Null when it was deleted. */
  readonly shop: ShopAddresses | null
  /** Null when nobody asked for it. */
  readonly managementCluster: ManagementClusterResult | null
}

/** Creates a Service of type LoadBalancer in a tenant's cluster, and lets a client use it during changes. */
export async function tellKubernetesStory(
  lab: Lab,
  access: SystemAccess,
  teller: Teller,
  { managementCluster: isAsked }: StorySettings,
): Promise<KubernetesStoryResult> {
  const cluster = KubernetesCluster.open(lab)
  if (cluster === null) throw new Error('the cluster is gone')
  await using caller = await Caller.start(lab, 'client')
  const scene: Scene = { access, cluster, caller, kubectl: new Kubectl(cluster, teller), teller }
  const before = await existing(cluster)
  const firstTime = before === null || vipOf(before) === null ? await tellFirstTime(scene) : null
  const shop = firstTime === null ? await shopAddresses(cluster.api) : await tellShop(scene)
  const vip = await waitFor(async () => vipOf(await cluster.api.get(`${SERVICES}/web`)), { what: 'an address' })
  const answers = await everyPodAnswers(scene, vip)
  if (firstTime === null) {
    teller.heading('What the cluster has')
    await scene.kubectl.show('get', 'services', 'web', 'fixed-ip', '--ignore-not-found')
    teller.event(`http://${vip}/: ${describePods(answers)}`)
    if (shop !== null) await scene.kubectl.show('get', SHOP_KINDS)
  }
  const isThere = KubernetesCluster.open(lab, CLUSTER) !== null
  const managementCluster = isAsked || isThere ? await tellManagementCluster(scene) : null
  whatNext(lab, vip, managementCluster, teller)
  const service = { name: 'web', vip, answers: describePods(answers) }
  return { ok: (firstTime?.failedRequests ?? 0) === 0, service, firstTime, shop, managementCluster }
}

const existing = async ({ api }: KubernetesCluster): Promise<BalancedService | null> =>
  (await api.list<BalancedService>(SERVICES)).items.find(({ metadata }) => metadata.name === 'web') ?? null

async function tellFirstTime(scene: Scene): Promise<NonNullable<KubernetesStoryResult['firstTime']>> {
  const { cluster, caller, kubectl, teller } = scene
  teller.heading('A Deployment of three pods and a Service of type LoadBalancer')
  using moments = await Moments.start<BalancedService>(cluster.api, SERVICES)
  await kubectl.run('apply', '--filename', `${BASE}/web.yaml`)
  const isWeb = (one: BalancedService) => one.metadata.name === 'web'
  const createdAt = await moments.when('Service web', isWeb)
  const addressAt = await moments.when('its address', (one) => isWeb(one) && vipOf(one) !== null)
  const vip = vipOf(await cluster.api.get(`${SERVICES}/web`)) ?? ''
  const first = await waitFor(() => ask(caller, vip), { what: 'the first answer', everyMs: 2 })
  const answeredAt = performance.now()
  const addressMs = Math.round(addressAt - createdAt)
  const firstAnswerMs = Math.round(answeredAt - createdAt)
  teller.event(
    `${vip} stood at the Service ${addressMs} ms after it was created; ${first.pod} answered there after ${firstAnswerMs} ms`,
  )
  await untilProgrammed(cluster, 'web')
  await kubectl.show('get', 'service', 'web')

  teller.heading('A client on the other side of the router asks, and goes on asking from here on')
  await cluster.readyPods(3, 'app=web')
  // A story that ends early must not leave it: the program would never end.
  await using asking = new Asking(caller, vip)
  const answers = await asking.recently('three pods to answer', (all) => podsOf(all).length === 3)
  teller.event(
    `http://${vip}/: ${describePods(answers)}; the pods see client ${answers[0]?.client.replace('::ffff:', '')}`,
  )
  await deletePod(scene, asking)
  await scale(scene, asking)
  await moveToNodePorts(scene, asking)
  await asking.stop()
  teller.event(
    `through all of this: ${asking.count} requests, each on a connection of its own, ${asking.failed} failed`,
  )
  await tellRefusal(scene)
  return { addressMs, firstAnswerMs, requests: asking.count, failedRequests: asking.failed }
}

/** A Service asks for an address that it cannot have: its condition says why. */
async function tellRefusal({ cluster, kubectl, teller }: Scene): Promise<void> {
  teller.heading('A Service asks for an address that nobody may have')
  await kubectl.run('apply', '--filename', `${BASE}/fixed-ip.yaml`)
  const events = '/apis/events.k8s.io/v1/namespaces/default/events'
  type Event = { readonly metadata: { readonly name: string }; readonly regarding: { readonly name: string } }
  await waitFor(
    async () => (await cluster.api.list<Event>(events)).items.some(({ regarding }) => regarding.name === 'fixed-ip'),
    { what: 'an event for Service fixed-ip' },
  )
  await kubectl.show('describe', 'service', 'fixed-ip')
}

/** Sends requests until each ready pod has answered one of the last. */
async function everyPodAnswers({ cluster, caller }: Scene, vip: string) {
  await using asking = new Asking(caller, vip)
  const pods = (await cluster.pods('app=web')).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const expected = Math.min(pods.length, MOST_PODS_SEEN)
  return await asking.recently(`${expected} pods to answer at ${vip}`, (all) => podsOf(all).length >= expected)
}

function whatNext(lab: Lab, vip: string, management: ManagementClusterResult | null, teller: Teller): void {
  teller.heading('Try next')
  for (const command of [
    'eval "$(./dev env)"',
    'kubectl get services,pods --output wide',
    'kubectl describe service fixed-ip',
    'kubectl annotate service fixed-ip spout.dev/load-balancer-ips-   # any address will do: it gets one',
    'kubectl delete service web   # and the address is free again',
    `./dev in client curl -s http://${vip}/`,
    ...SHOP_NEXT,
    management === null
      ? `./dev up --kubernetes --set ${MANAGEMENT_CLUSTER}=true   # a cluster of the provider joins, in which tenants have namespaces`
      : `kubectl --kubeconfig ${management.kubeconfig} --as alice --namespace acme get ingresses,services,endpointslices`,
    './dev spout explain lb default/web',
    './dev places',
    `curl -s ${connectorUrl(lab)}/metrics`,
    `less ${lab.directory}/connector.log`,
    './dev down',
  ])
    teller.command(command)
}
