import { writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  bundled,
  Caller,
  callApi,
  KubernetesCluster,
  type KubernetesOptions,
  PRODUCT_ENVIRONMENT,
  type ShownLoadBalancer,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { ACME } from '../fixtures.ts'
import { type BalancedService, serviceBody, servicesIn } from './services.ts'

const CONNECTOR = bundled(path.resolve(import.meta.dirname, '../../apps/connector/src/main.ts'))

/** Answer of the test bed's pods. */
export interface PodAnswer {
  readonly pod: string
  readonly node: string
  readonly client: string
}

const SERVICES = servicesIn('default')

/**
 * The whole product in a lab, with a real Kubernetes on a tenant's segment (two nodes, pods behind them) and a
 * connector whose token has only role `balancer`.
 */
export async function startServiceLab(options: KubernetesOptions = {}) {
  const system = await TestSystem.start({ tenants: [ACME], set: ['nodes.announcer=vrrp'] })
  const { lab } = system
  const tenant = system.tenants[0] as Tenant
  const cluster = await KubernetesCluster.start(lab, { segment: 'tenant-a', ...options })
  await Promise.all(['worker1', 'worker2'].map((name) => cluster.addNode(name)))
  const tokenFile = path.join(lab.directory, 'connector-token')
  writeFileSync(tokenFile, await balancerToken(system, tenant), { mode: 0o600 })
  const settings = [
    `spout.endpoint=${system.access.endpoint}`,
    `spout.tokenFile=${tokenFile}`,
    `kubernetes.kubeconfig=${cluster.kubeconfigFile}`,
    `network.name=${tenant.networkId}`,
    `spout.pageUrl=${system.access.endpoint}/ui/`,
    'leader.elect=false',
    'http.host=127.0.0.1',
    'http.port=0',
  ]
  const argv = [process.execPath, CONNECTOR, ...settings.flatMap((setting) => ['--set', setting])]
  const startConnector = () =>
    lab.start('host', 'connector', argv, { env: PRODUCT_ENVIRONMENT, readyText: '"event":"listening"' })
  let connector = await startConnector()
  const client = await Caller.start(lab, 'client')

  const service = (name: string) => cluster.api.get<BalancedService>(`${SERVICES}/${name}`)
  const addressOf = (one: BalancedService) => one.status?.loadBalancer?.ingress?.[0]?.ip ?? ''
  const ask = async (address: string, port = 80): Promise<PodAnswer | null> => {
    const outcome = await client.http(address, port)
    return outcome.ok && outcome.value.status === 200 ? (JSON.parse(outcome.value.body) as PodAnswer) : null
  }
  return {
    system,
    tenant,
    cluster,
    client,
    service,
    addressOf,
    ask,
    expose: (name: string, app: string, spec: object = {}, annotations: Record<string, string> = {}) =>
      cluster.api.create<BalancedService>(SERVICES, serviceBody(name, app, spec, annotations)),
    change: (name: string, body: object) => cluster.api.patch<BalancedService>(`${SERVICES}/${name}`, body),
    /** The address of a Service once a pod answers on it. */
    answering: (name: string) =>
      waitFor(
        async () => {
          const address = addressOf(await service(name))
          return address !== '' && (await ask(address)) !== null && address
        },
        { what: `${name} to answer`, timeoutMs: 30_000 },
      ),
    loadBalancers: async () =>
      (await system.api<{ items: readonly ShownLoadBalancer[] }>(tenant, 'GET', '/load-balancers')).items,
    stopConnector: () => lab.stop(connector, 'SIGKILL'),
    startConnector: async () => {
      connector = await startConnector()
    },
    destroy: async () => {
      await client[Symbol.asyncDispose]()
      await cluster.destroy()
      await system.destroy()
    },
  }
}

export type ServiceLab = Awaited<ReturnType<typeof startServiceLab>>

async function balancerToken(system: TestSystem, { projectId, project }: Tenant): Promise<string> {
  const { admin, endpoint } = system.access
  const user = { name: 'connector', password: 'in-the-lab' }
  await system.api(admin, 'POST', '/users', { ...user, roles: [{ projectId, role: 'balancer' }] })
  const login = { userName: user.name, password: user.password, projectName: project }
  return (await callApi<{ token: string }>(endpoint, '', 'POST', '/tokens', login)).token
}
