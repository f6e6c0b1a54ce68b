import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Lab } from '../lab/lab.ts'
import { waitFor } from '../lab/wait-for.ts'
import { KubernetesCluster } from './cluster.ts'
import { LONGEST_BUILD_MS } from './go-build.ts'
import { conditionOf, type Node, type Pod } from './objects.ts'

const DEFAULT = '/api/v1/namespaces/default'
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Asks the API server who it is, by the cluster IP and with the pod's own token; what comes lies in the pod's log. */
const WHO_AM_I = [
  `curl -s --cacert ${ACCOUNT}/ca.crt -H "authorization: Bearer $(cat ${ACCOUNT}/token)" -H 'content-type: application/json'`,
  `-d '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'`,
  'https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/apis/authentication.k8s.io/v1/selfsubjectreviews',
].join(' ')

let lab: Lab
let cluster: KubernetesCluster

beforeAll(async () => {
  lab = await Lab.create()
  cluster = await KubernetesCluster.start(lab, {
    name: 'cluster-a',
    number: 1,
    segment: 'tenant-a',
    images: { 'example/shell': ['/bin/sh', '-c'] },
    controllerManagerFlags: ['--node-monitor-grace-period=6s', '--node-monitor-period=1s'],
  })
  await Promise.all(['a-worker1', 'a-worker2'].map((name) => cluster.addNode(name)))
}, LONGEST_BUILD_MS)

afterAll(async () => {
  await lab.destroy()
})

const createPod = (name: string, spec: object): Promise<object> =>
  cluster.api.create(`${DEFAULT}/pods`, { metadata: { name, labels: { app: name } }, spec })

describe('pods of the test bed that run real programs', () => {
  it('have the files of their service account, and the API server by its cluster IP', async () => {
    await cluster.api.create(`${DEFAULT}/serviceaccounts`, { metadata: { name: 'asker' } })
    const container = { name: 'ask', image: 'example/shell:v1', args: [`${WHO_AM_I}; sleep 600`] }
    await createPod('asker', { serviceAccountName: 'asker', terminationGracePeriodSeconds: 0, containers: [container] })
    const [pod] = await cluster.readyPods(1, 'app=asker')
    await waitFor(
      () => cluster.podLog(pod as Pod, 'ask').includes('"username": "system:serviceaccount:default:asker"'),
      {
        what: 'the pod to be told who it is',
      },
    )
  })

  it('run in the host network when they ask for it, one on each node as a DaemonSet, with fields in their environment', async () => {
    const script = 'echo "$POD on $NODE at $IP"; exec sleep 600'
    const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } })
    const env = [field('POD', 'metadata.name'), field('NODE', 'spec.nodeName'), field('IP', 'status.podIP')]
    const labels = { app: 'agent' }
    await cluster.api.create('/apis/apps/v1/namespaces/default/daemonsets', {
      metadata: { name: 'agent' },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            hostNetwork: true,
            terminationGracePeriodSeconds: 0,
            containers: [{ name: 'agent', image: 'example/shell', args: [script], env }],
          },
        },
      },
    })
    const pods = await cluster.readyPods(2, 'app=agent')
    for (const pod of pods) {
      const { nodeName = '' } = pod.spec
      const [address] = cluster.node(nodeName).addresses
      expect(pod.status?.podIP).toBe(address)
      expect(cluster.podPlace(pod)).toBe(nodeName)
      await waitFor(() => cluster.podLog(pod, 'agent') === `${pod.metadata.name} on ${nodeName} at ${address}\n`, {
        what: `the pod on ${nodeName} to say where it is`,
      })
    }
    await cluster.api.delete('/apis/apps/v1/namespaces/default/daemonsets/agent')
    await waitFor(async () => (await cluster.pods('app=agent')).length === 0, { what: 'the pods to be gone' })
    for (const { name } of cluster.nodes)
      expect(await lab.must('host', ['ip', 'netns', 'pids', lab.namespace(name)])).not.toBe('')
  })

  it('are told to end after their preStop sleep, and killed when their time is over', async () => {
    const script = 'trap "echo told" TERM; while :; do sleep 0.05; done'
    const container = {
      name: 'deaf',
      image: 'example/shell',
      args: [script],
      lifecycle: { preStop: { sleep: { seconds: 1 } } },
    }
    await createPod('deaf', { terminationGracePeriodSeconds: 2, containers: [container] })
    const [pod] = await cluster.readyPods(1, 'app=deaf')
    await cluster.api.delete(`${DEFAULT}/pods/deaf`)
    await waitFor(() => cluster.podLog(pod as Pod, 'deaf') === 'told\n', { what: 'the program to be told' })
    await waitFor(async () => (await cluster.pods('app=deaf')).length === 0, { what: 'the pod to be gone' })
  })
})

describe('a cluster on a tenant segment', () => {
  it('is found again by another process, with its nodes', async () => {
    const again = KubernetesCluster.open(lab, 'cluster-a')
    expect(again?.nodes.map(({ name }) => name)).toEqual(['a-worker1', 'a-worker2'])
    expect(again?.node('a-worker1').addresses).toEqual(['10.0.0.32', 'fd10::32'])
    expect(await again?.api.text('GET', '/readyz')).toBe('ok')
    expect(again?.places.map(({ name }) => name)).toEqual(['cluster-a', 'a-worker1', 'a-worker2'])
    expect(KubernetesCluster.open(lab)).toBeNull()
  })

  it('answers kubectl', async () => {
    const shown = await lab.must('host', [...cluster.kubectl, 'get', 'nodes', '-o', 'name'])
    expect(shown).toBe('node/a-worker1\nnode/a-worker2\n')
  })

  it('shows logs through the API server and the kubelet, whole or the newest lines', async () => {
    const args = ['echo first; echo second >&2; echo third; exec sleep 600']
    const container = { name: 'speaker', image: 'example/shell', args }
    await createPod('speaker', { terminationGracePeriodSeconds: 0, containers: [container] })
    await cluster.readyPods(1, 'app=speaker')
    const logs = (query = '') => cluster.api.text('GET', `${DEFAULT}/pods/speaker/log${query}`)
    await waitFor(async () => (await logs()) === 'first\nsecond\nthird\n', { what: 'what the pod said' })
    expect(await logs('?tailLines=2')).toBe('second\nthird\n')
    // A second of the past may be in it, too.
    await waitFor(async () => (await logs('?sinceTime=2100-01-01T00:00:00Z')) === '', { what: 'nothing of the future' })
    const shown = await lab.run('host', [...cluster.kubectl, 'logs', 'speaker', '--timestamps'])
    expect(shown.stderr).toContain('timestamps: the logs of the test bed have no such option')
    await cluster.api.delete(`${DEFAULT}/pods/speaker`)
  })

  it('answers for logs to the API server alone', async () => {
    const [address] = cluster.node('a-worker1').addresses
    const url = `https://${address}:10250/containerLogs/default/none/none`
    expect((await lab.run('cluster-a', ['curl', '-sk', '-m', '2', url])).code).not.toBe(0)
  })

  it('loses a node by a power cut: its pods are not ready any more, as the node lifecycle controller says', async () => {
    const container = { name: 'web', image: 'web', ports: [{ containerPort: 8080 }] }
    await createPod('lost', { nodeSelector: { 'kubernetes.io/hostname': 'a-worker2' }, containers: [container] })
    const [pod] = await cluster.readyPods(1, 'app=lost')
    const url = `http://${pod?.status?.podIP}:8080/healthz`
    expect(await lab.must('a-worker1', ['curl', '-sf', '-m', '2', url])).toBe('ok\n')
    await cluster.node('a-worker2').powerOff()
    expect((await lab.run('a-worker1', ['curl', '-sf', '-m', '1', url])).code).not.toBe(0)
    await waitFor(
      async () => {
        const node = await cluster.api.get<Node>('/api/v1/nodes/a-worker2')
        const [lost] = await cluster.pods('app=lost')
        return conditionOf(node, 'Ready')?.status === 'Unknown' && conditionOf(lost as Pod, 'Ready')?.status === 'False'
      },
      { what: 'the loss to be noticed', timeoutMs: 40_000, everyMs: 100 },
    )
  })
})
