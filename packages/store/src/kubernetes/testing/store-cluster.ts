import {
  CUSTOM_RESOURCE_DEFINITIONS,
  customResourceDefinition,
  KubeClient,
  kubeconfigAccess,
  Transport,
} from '@spout/kube'
import { KubernetesCluster, Lab, waitFor } from '@spout/testkit'
import { KubernetesStore, type KubernetesStoreOptions } from '../kubernetes-store.ts'
import { STORE_RECORDS, storeRecordCrd } from '../record.ts'

export const NAMESPACE = 'default'

/** A real API server with etcd that has the kind of the records. */
export class StoreCluster implements AsyncDisposable {
  readonly cluster: KubernetesCluster
  readonly client: KubeClient
  readonly #lab: Lab
  readonly #transport: Transport
  #stores = 0

  private constructor(lab: Lab, cluster: KubernetesCluster, transport: Transport) {
    this.#lab = lab
    this.cluster = cluster
    this.#transport = transport
    this.client = new KubeClient(transport)
  }

  static async start(): Promise<StoreCluster> {
    const lab = await Lab.create()
    try {
      const cluster = await KubernetesCluster.start(lab)
      const started = new StoreCluster(lab, cluster, new Transport({ access: await accessTo(cluster) }))
      await started.#define()
      return started
    } catch (error) {
      await lab.destroy()
      throw error
    }
  }

  /** Of no other store of this cluster. */
  newName(): string {
    return `test-${++this.#stores}`
  }

  /** @param server in place of the API server, for what goes between */
  async open(options: Omit<KubernetesStoreOptions, 'transport' | 'namespace'>, server?: URL): Promise<KubernetesStore> {
    const access = await accessTo(this.cluster)
    const transport = new Transport({ access: server === undefined ? access : { ...access, server } })
    return KubernetesStore.open({ transport, namespace: NAMESPACE, ...options })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#transport.close()
    await this.cluster.destroy()
    await this.#lab.destroy()
  }

  async #define(): Promise<void> {
    const definition = customResourceDefinition(storeRecordCrd)
    await this.client.apply(CUSTOM_RESOURCE_DEFINITIONS, definition, { fieldManager: 'test' })
    const probe = { metadata: { namespace: NAMESPACE, name: 'probe' }, spec: { number: 0, id: '', data: '' } }
    await waitFor(() => this.client.create(STORE_RECORDS, probe).then(() => true), { what: 'the kind to be served' })
  }
}

const accessTo = (cluster: KubernetesCluster) => kubeconfigAccess(cluster.kubeconfigFile)
