import { writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  Caller,
  ensureCloudProviderOpenstack,
  KubernetesCluster,
  OpenStackProgram,
  type ShownLoadBalancer,
  type Tenant,
  TestSystem,
  TypedPage,
  waitFor,
} from '@spout/testkit'
import { openstackEnv } from '../../tools/dev/env.ts'
import { ACME } from '../fixtures.ts'
import type { PodAnswer } from './service-lab.ts'
import { type BalancedService, serviceBody, servicesIn } from './services.ts'

const SERVICES = servicesIn('default')
const CLUSTER_NAME = 'lab'

/**
 * The whole product in a lab, with a real Kubernetes on a tenant's segment whose Services are kept by the unmodified
 * cloud-provider-openstack, with an application credential of role `load-balancer_member`.
 */
export async function startCloudProviderLab() {
  const programs = await ensureCloudProviderOpenstack()
  const system = await TestSystem.start({ tenants: [ACME] })
  const { lab } = system
  const tenant = system.tenants[0] as Tenant
  const cluster = await KubernetesCluster.start(lab, { segment: 'tenant-a' })
  await Promise.all(['worker1', 'worker2'].map((name) => cluster.addNode(name)))
  const cloudConfig = path.join(lab.directory, 'cloud.conf')
  const { credential, command } = await typed(system, tenant)
  const flags = command
    .replace('--cloud-config=cloud.conf', `--cloud-config=${cloudConfig}`)
    .replace('--kubeconfig=…', `--kubeconfig=${cluster.kubeconfigFile}`)
    .replace('--cluster-name=…', `--cluster-name=${CLUSTER_NAME}`)
    .split(/[\s\\]+/)
    .slice(1)
  const argv = [programs.controllerManager, ...flags, '--leader-elect=false', '--secure-port=0'] as const
  const start = async (config: string) => {
    const running = lab.process('cloud-provider')
    if (running !== null) await lab.stop(running)
    writeFileSync(cloudConfig, config, { mode: 0o600 })
    await lab.start('host', 'cloud-provider', argv, { readyText: 'Started "service-lb-controller"' })
  }
  const documented = cloudConfigOf(system, tenant, credential)
  await start(documented)
  const client = await Caller.start(lab, 'client')

  const service = (name: string) => cluster.api.get<BalancedService>(`${SERVICES}/${name}`)
  const ask = async (address: string, port = 80): Promise<PodAnswer | null> => {
    const outcome = await client.http(address, port)
    return outcome.ok && outcome.value.status === 200 ? (JSON.parse(outcome.value.body) as PodAnswer) : null
  }
  const loadBalancers = async (query = '') =>
    (await system.api<{ items: readonly ShownLoadBalancer[] }>(tenant, 'GET', `/load-balancers${query}`)).items
  const addresses = async () =>
    (await system.api<{ items: readonly { readonly address: string }[] }>(tenant, 'GET', '/addresses')).items
  const before = await addresses()
  return {
    system,
    tenant,
    cluster,
    client,
    service,
    ask,
    loadBalancers,
    /** Starts cloud-provider-openstack again with more settings in the section `[LoadBalancer]` of its configuration. */
    startAgain: (settings: readonly string[]) => start(`${documented}${settings.join('\n')}\n`),
    /** Starts it again with another configuration. */
    startWith: start,
    /** Starts the controller of Ingresses of cloud-provider-openstack, with what the documentation's page says. */
    startIngressController: async () => {
      const config = path.join(lab.directory, 'octavia-ingress.yaml')
      const { kubeconfigFile } = cluster
      writeFileSync(config, ingressConfigOf(system, tenant, { credential, kubeconfigFile }), { mode: 0o600 })
      await lab.start('host', 'octavia-ingress', [programs.ingressController, `--config=${config}`], {
        readyText: 'ingress controller synced and ready',
      })
    },
    /** The load balancer that a Service of the namespace `default` has. */
    loadBalancerOf: async (name: string): Promise<ShownLoadBalancer | undefined> =>
      (await loadBalancers(`?name=kube_service_${CLUSTER_NAME}_default_${name}`))[0],
    /** The project's addresses, but for those that it had before the first Service. */
    addresses: async () =>
      (await addresses()).filter(({ address }) => !before.some((known) => known.address === address)),
    expose: (name: string, app: string, spec: object = {}, annotations: Record<string, string> = {}) =>
      cluster.api.create<BalancedService>(SERVICES, serviceBody(name, app, spec, annotations)),
    change: (name: string, body: object) => cluster.api.patch<BalancedService>(`${SERVICES}/${name}`, body),
    remove: (name: string) => cluster.api.delete(`${SERVICES}/${name}`),
    /** The address of a Service once it has one. */
    addressOf: (name: string) =>
      waitFor(async () => (await service(name)).status?.loadBalancer?.ingress?.[0]?.ip ?? null, {
        what: `${name} to have an address`,
        timeoutMs: 60_000,
      }),
    /** The address of a Service once it answers on it, other than `not`. */
    answering: (name: string, not = '') =>
      waitFor(
        async () => {
          const address = (await service(name)).status?.loadBalancer?.ingress?.[0]?.ip ?? ''
          return address !== '' && address !== not && (await ask(address)) !== null && address
        },
        { what: `${name} to answer`, timeoutMs: 60_000 },
      ),
    destroy: async () => {
      await client[Symbol.asyncDispose]()
      await cluster.destroy()
      await system.destroy()
    },
  }
}

export type CloudProviderLab = Awaited<ReturnType<typeof startCloudProviderLab>>

interface ApplicationCredential {
  readonly id: string
  readonly secret: string
}

interface Typed {
  readonly credential: ApplicationCredential
  /** Starts cloud-provider-openstack, but for the placeholders in it. */
  readonly command: string
}

/** Types what the documentation's page says, for a user that the administrator has made. */
async function typed(system: TestSystem, { project }: Tenant): Promise<Typed> {
  const { access } = system
  await system.api(access.admin, 'POST', '/users', { ...USER, roles: [] })
  await using program = new OpenStackProgram()
  const page = new TypedPage('clients/cloud-provider-openstack.md', (command) => {
    const isRole = command.startsWith('openstack role add')
    const account = isRole ? access.admin : { user: USER.name, password: USER.password, project }
    const words = command.split(' ').slice(1)
    return program.run([...words, ...(isRole ? [] : ['-f', 'json'])], { env: openstackEnv(access.endpoint, account) })
  })
  await page.type('openstack role add --project acme --user cluster')
  const { said } = await page.type('openstack application credential create cluster')
  const { command } = page.take('openstack-cloud-controller-manager')
  if (page.left.length > 0) throw new Error(`nobody types ${page.left.join('; ')}`)
  return { credential: JSON.parse(said) as ApplicationCredential, command }
}

/** What the documentation's page says. */
const cloudConfigOf = (
  { access, publicPoolId }: TestSystem,
  tenant: Tenant,
  { id, secret }: ApplicationCredential,
): string =>
  `[Global]
auth-url=${access.endpoint}/identity/v3
region=RegionOne
application-credential-id=${id}
application-credential-secret=${secret}
[LoadBalancer]
subnet-id=${tenant.subnetId}
floating-network-id=${publicPoolId}
create-monitor=true
monitor-delay=1s
monitor-timeout=1s
monitor-max-retries=1
`

/** What the documentation's page says of the controller of Ingresses. */
const ingressConfigOf = (
  { access, publicPoolId }: TestSystem,
  tenant: Tenant,
  { credential, kubeconfigFile }: { readonly credential: ApplicationCredential; readonly kubeconfigFile: string },
): string =>
  `cluster-name: ${CLUSTER_NAME}
kubernetes:
  kubeconfig: ${kubeconfigFile}
openstack:
  auth-url: ${access.endpoint}/identity/v3
  region: RegionOne
  application-credential-id: ${credential.id}
  application-credential-secret: ${credential.secret}
octavia:
  subnet-id: ${tenant.subnetId}
  floating-network-id: ${publicPoolId}
`

/**
 * As Gardener's extension for OpenStack writes it (gardener-extension-provider-openstack, chart `cloud-provider-config`),
 * but for the times of the monitor: a user's password instead of a credential, and a class for each floating pool.
 */
export const gardenersCloudConfig = ({
  system,
  tenant,
}: Pick<CloudProviderLab, 'system' | 'tenant'>): string => `[Global]
auth-url="${system.access.endpoint}/identity/v3"
domain-name="Default"
tenant-name="${tenant.project}"
username="${USER.name}"
password="${USER.password}"
[LoadBalancer]
create-monitor=true
monitor-delay="1s"
monitor-timeout="1s"
monitor-max-retries=1
lb-version="v2"
lb-provider="amphora"
floating-network-id="${system.publicPoolId}"
subnet-id="${tenant.subnetId}"
[LoadBalancerClass "outside"]
floating-network-id="${system.publicPoolId}"
`

const USER = { name: 'cluster', password: 'in-the-lab' } as const
