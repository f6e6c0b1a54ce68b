import { kubeconfigAccess, Transport } from '@spout/kube'
import { put } from '../../conformance/subject.ts'
import { KubernetesStore } from '../kubernetes-store.ts'

/**
 * Commits counters of its own for as long as it runs, and prints each once it was acknowledged.
 * Arguments: kubeconfig, namespace, name of the store, id of the object, first value.
 */
const [kubeconfig = '', namespace = '', name = '', id = '', first = '0'] = process.argv.slice(2)
const transport = new Transport({ access: await kubeconfigAccess(kubeconfig) })
const store = await KubernetesStore.open({ transport, namespace, name, slots: 16 })
for (let n = Number(first); ; n++) {
  await store.commit([put(id, n), put(`${id}-too`, n)])
  process.stdout.write(`${n}\n`)
}
