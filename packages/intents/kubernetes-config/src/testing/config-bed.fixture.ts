import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Endpoints } from '@spout/client/endpoints'
import type { Sessions } from '@spout/client/native-api'
import { CRD_DRAFTS, GROUP, VERSION } from '@spout/custom-resources'
import {
  type ClusterAccess,
  type Condition,
  EventRecorder,
  KubeClient,
  type KubeObject,
  type Resource,
  Transport,
} from '@spout/kube'
import { createLogger, Secret, silentLogger, systemClock } from '@spout/runtime'
import { KubernetesApi, KubernetesCluster, Lab, waitFor } from '@spout/testkit'
import { parseAllDocuments } from 'yaml'
import { INSTALLATION_FILE } from '../../../../kubernetes-manifests/src/manifests.ts'
import { openTestBed } from '../../../../server/src/testing/test-bed.ts'
import type { ConfigObject } from '../handlers/handler.ts'
import { KubernetesConfiguration } from '../loop/kubernetes-configuration.ts'
import type { NodePolicy } from '../nodes/node-wish.ts'

const DIRECTORY = path.join(import.meta.dirname, '../../../../../deploy/kubernetes')

/** How the bed's loop decides about nodes. */
const POLICY: NodePolicy = {
  cordon: 'cordon',
  // Not Ready: no kubelet reports here, and the node lifecycle controller notices after a minute.
  conditions: ['KernelDeadlock'],
  taints: ['example.org/repair'],
  returnSeconds: 1,
}

export interface Running {
  readonly configuration: KubernetesConfiguration
  /** The requests to the API server that were not reads, as `METHOD path`. */
  readonly writes: string[]
  stop(): Promise<void>
}

export type Stated = ConfigObject & { readonly metadata: { readonly resourceVersion: string } }

/**
 * A real API server with the objects of `deploy/kubernetes`, and a real control plane over HTTP. The loop runs with the
 * token of its own service account from `deploy/kubernetes`.
 */
export async function openConfigBed() {
  const lab = await Lab.create()
  const cluster = await KubernetesCluster.start(lab)
  const spout = await openTestBed()
  const endpoint = await spout.app.listen({ host: '127.0.0.1', port: 0 })
  const { api } = cluster
  const access = (token: string): ClusterAccess => ({
    server: new URL(api.access.url),
    ca: api.authority,
    tlsServerName: null,
    skipTlsVerify: false,
    token: { type: 'value', token: new Secret(token) },
    clientCertificate: null,
    namespace: 'default',
  })
  const admin = new Transport({ access: access(api.access.token) })
  const client = new KubeClient(admin)
  // Manifests that only some connectors need have tests of their own; kustomize's file is no manifest.
  const isPart = (file: string) =>
    file.endsWith('.yaml') && file !== INSTALLATION_FILE && !/^(connector-(namespaces|gateways)|kustomiz)/.test(file)
  for (const file of readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' }).filter(isPart))
    for (const document of parseAllDocuments(readFileSync(path.join(DIRECTORY, file), 'utf8'), { version: '1.1' })) {
      const object = document.toJS() as KubeObject & { readonly apiVersion: string; readonly kind: string }
      await client.apply(resourceOf(object), object, { fieldManager: 'kubectl' })
    }
  await waitFor(
    async () => {
      const { items } = await api.list<Defined>('/apis/apiextensions.k8s.io/v1/customresourcedefinitions')
      return items.length > 0 && items.every(({ status }) => isTrue(status, 'Established')) && items
    },
    { what: 'the definitions to be established', timeoutMs: 30_000 },
  )
  // The API server answers 429 for an established kind until its storage is ready.
  for (const { plural, versions } of CRD_DRAFTS)
    await waitFor(() => api.list(`/apis/${GROUP}/${versions[0].name}/${plural}`).then(Boolean, () => false), {
      what: `${plural} to be served`,
      timeoutMs: 30_000,
    })
  /** Requests a token of a service account that the manifests create, as a pod gets one. */
  const tokenOf = async (account: string): Promise<string> => {
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } }
    const answer = await api.create<object>(`/api/v1/namespaces/spout/serviceaccounts/${account}/token`, asked)
    return (answer as { status: { token: string } }).status.token
  }
  const configToken = await tokenOf('config')
  const token = await spout.adminLogin()
  const sessions: Sessions = {
    session: async () => ({ endpoints: new Endpoints([endpoint]), token }),
    forget: () => {},
  }
  const project = await spout.admission.createProject({ name: 'tenant', description: '' })
  const running = new Set<Running>()

  function start(): Running {
    const log = process.env['SPOUT_TEST_LOG'] ? createLogger({ name: 'test', level: 'debug' }) : silentLogger()
    const transport = new Transport({ access: access(configToken), maxRetryMs: 500 })
    const writes: string[] = []
    const request = transport.request.bind(transport)
    transport.request = (wanted) => {
      if (wanted.method !== 'GET') writes.push(`${wanted.method} ${wanted.path}`)
      return request(wanted)
    }
    const reporting = { reportingController: 'spout.dev/configuration', reportingInstance: 'test' }
    const events = new EventRecorder({ client: new KubeClient(transport), ...reporting, log })
    const common = { transport, sessions, events, clock: systemClock, log }
    const configuration = new KubernetesConfiguration({
      ...common,
      cluster: '',
      project: 'tenant',
      nodes: POLICY,
      everyMs: 300,
    })
    configuration.start()
    const made: Running = {
      configuration,
      writes,
      stop: async () => {
        running.delete(made)
        await configuration.stop()
        await events.close()
        transport.close()
      },
    }
    running.add(made)
    return made
  }

  const pathOf = (kind: string, name = '') => `/apis/${GROUP}/${VERSION}/${kind.toLowerCase()}s${name && `/${name}`}`
  const get = (kind: string, name: string) => api.get<Stated>(pathOf(kind, name))
  return {
    lab,
    cluster,
    api,
    spout,
    project,
    endpoint,
    tokenOf,
    start,
    get,
    pathOf,
    /** The API server with another token. */
    as: (bearer: string) => new KubernetesApi({ ...api.access, token: bearer }),
    create: (kind: string, name: string, spec: object) =>
      api.create<object>(pathOf(kind), { apiVersion: `${GROUP}/${VERSION}`, kind, metadata: { name }, spec }),
    change: (kind: string, name: string, spec: object) => api.patch<Stated>(pathOf(kind, name), { spec }),
    remove: (kind: string, name: string) => api.delete(pathOf(kind, name)),
    /** Waits until the object satisfies the check. */
    when: (kind: string, name: string, what: string, holds: (object: Stated) => boolean) =>
      waitFor(
        async () => {
          const one = await get(kind, name)
          return holds(one) && one
        },
        { what: `${kind} ${name}: ${what}`, timeoutMs: 15_000 },
      ),
    gone: (kind: string, name: string) =>
      waitFor(async () => (await get(kind, name).catch(() => null)) === null, {
        what: `${kind} ${name} to be gone`,
        timeoutMs: 15_000,
      }),
    until: <T>(what: string, probe: () => T | Promise<T>) => waitFor(probe, { what, timeoutMs: 15_000 }),
    close: async () => {
      for (const one of [...running]) await one.stop()
      admin.close()
      await spout.close()
      await cluster.destroy()
      await lab.destroy()
    },
  }
}
export type ConfigBed = Awaited<ReturnType<typeof openConfigBed>>

interface Defined {
  readonly metadata: { readonly name: string; readonly uid: string }
  readonly status?: { readonly conditions?: readonly Pick<Condition, 'type' | 'status'>[] }
}

const isTrue = (status: Defined['status'], type: string): boolean =>
  status?.conditions?.some((one) => one.type === type && one.status === 'True') ?? false

/** The resource of an object in `deploy/kubernetes`. */
const resourceOf = ({ apiVersion, kind, metadata }: KubeObject & { apiVersion: string; kind: string }): Resource => ({
  apiVersion,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: metadata.namespace !== undefined,
})

export const condition = ({ status }: ConfigObject, type = 'Ready') =>
  status?.conditions?.find((one) => one.type === type)
export const isReady = (object: ConfigObject): boolean => condition(object)?.status === 'True'
export const hasReason = (reason: string) => (object: ConfigObject) => condition(object)?.reason === reason
