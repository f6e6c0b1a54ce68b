import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Lab } from '../lab/lab.ts'
import { type RunOptions, run } from '../lab/run.ts'
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

type ExecOptions = RunOptions & { readonly options?: readonly string[] }

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
    const script = 'echo "$POD on $NODE at $IP, $URL"; exec sleep 600'
    const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } })
    const env = [
      field('POD', 'metadata.name'),
      field('NODE', 'spec.nodeName'),
      field('IP', 'status.podIP'),
      { name: 'URL', value: 'http://$(POD).example' },
    ]
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
      const { name } = pod.metadata
      const said = `${name} on ${nodeName} at ${address}, http://${name}.example\n`
      await waitFor(() => cluster.podLog(pod, 'agent') === said, {
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

  it('runs commands in containers for kubectl exec, with their input, output and exit codes', async () => {
    const env = [{ name: 'GREETING', value: 'hello' }]
    const container = { name: 'shell', image: 'example/shell', args: ['exec sleep 600'], env }
    const securityContext = { runAsUser: 1234 }
    await createPod('target', { terminationGracePeriodSeconds: 0, securityContext, containers: [container] })
    const [pod] = await cluster.readyPods(1, 'app=target')
    const exec = (command: readonly string[], { options = [], ...more }: ExecOptions = {}) =>
      run([...cluster.kubectl, 'exec', ...options, 'target', '--', ...command], more)
    const sh = (script: string, more?: ExecOptions) => exec(['sh', '-c', script], more)
    expect(await sh('echo "$GREETING from $(hostname) as $(id -u)"; echo no >&2; exit 3')).toEqual({
      code: 3,
      stdout: 'hello from target as 1234\n',
      stderr: expect.stringMatching(/^no\n.*exit code 3\n$/),
    })
    expect((await sh('ip -brief -4 address show dev eth0')).stdout).toContain(`${pod?.status?.podIP}/`)
    // More than all buffers on the way hold, both ways.
    const input = Array.from({ length: 200_000 }, (_, line) => `line ${line}\n`).join('')
    const echoed = await exec(['cat'], { options: ['--stdin'], input })
    expect([echoed.code, echoed.stderr, echoed.stdout === input]).toEqual([0, '', true])
    // What does not read its input ends all the same.
    expect(await exec(['true'], { options: ['--stdin'], input })).toMatchObject({ code: 0, stdout: '' })
    const older = { env: { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false' } }
    expect(await sh('cat; exit 4', { ...older, options: ['--stdin'], input: 'by SPDY' })).toMatchObject({
      code: 4,
      stdout: 'by SPDY',
    })
    expect(await exec(['/missing'])).toMatchObject({ code: 127, stderr: expect.stringContaining('/missing') })
    const terminal = `${[...cluster.kubectl, 'exec', '--stdin', '--tty', 'target', '--', 'sh'].join(' ')}`
    const refused = await run(['script', '--quiet', '--return', '--command', terminal, '/dev/null'])
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('tty: the test bed has no terminals')])
  })

  it('ends commands with their client, and with their pod', async () => {
    const sleeping = (seconds: string) =>
      lab.start(
        'host',
        `exec-${seconds}`,
        [...cluster.kubectl, 'exec', 'target', '--', 'sh', '-c', `echo started; sleep ${seconds}`],
        {
          readyText: 'started',
        },
      )
    const runs = async (seconds: string) =>
      (await lab.run('host', ['pgrep', '--full', '--exact', `sleep ${seconds}`])).code === 0
    const client = await sleeping('601')
    await sleeping('602')
    expect([await runs('601'), await runs('602')]).toEqual([true, true])
    await lab.stop(client, 'SIGKILL')
    await waitFor(async () => !(await runs('601')), { what: 'the command without a client to end' })
    expect(await runs('602')).toBe(true)
    await cluster.api.delete(`${DEFAULT}/pods/target`)
    await waitFor(async () => !(await runs('602')), { what: 'the command without a pod to end' })
    const gone = await run([...cluster.kubectl, 'exec', 'target', '--', 'true'])
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('target') })
  })

  it.each([
    ['WebSocket', 'true'],
    ['SPDY', 'false'],
  ])('forwards ports for kubectl port-forward over %s', async (_, webSockets) => {
    const container = { name: 'web', image: 'web', ports: [{ containerPort: 8080 }] }
    await createPod('forwarded', { terminationGracePeriodSeconds: 0, containers: [container] })
    await cluster.readyPods(1, 'app=forwarded')
    const argv = [...cluster.kubectl, 'port-forward', 'pod/forwarded', ':8080', ':81']
    const forward = await lab.start('host', `port-forward-${webSockets}`, argv, {
      readyText: '127.0.0.1:',
      env: { KUBECTL_PORT_FORWARD_WEBSOCKETS: webSockets },
    })
    const said = () => readFileSync(forward.logFile, 'utf8')
    const portTo = (remote: number): Promise<string> =>
      waitFor(() => new RegExp(`127\\.0\\.0\\.1:(\\d+) -> ${remote}\\n`).exec(said())?.[1] ?? null, {
        what: `a port for ${remote}`,
      })
    const http = await portTo(8080)
    const urls = Array.from({ length: 5 }, () => `http://127.0.0.1:${http}/`)
    const answers = await Promise.all(urls.map((url) => lab.must('host', ['curl', '-sS', '-m', '20', url])))
    for (const answer of answers)
      expect(JSON.parse(answer)).toMatchObject({ pod: 'forwarded', client: expect.stringMatching(/127\.0\.0\.1|::1/) })
    const refused = await lab.run('host', ['curl', '-sS', '-m', '20', `http://127.0.0.1:${await portTo(81)}/`])
    expect(refused.code).not.toBe(0)
    await waitFor(() => said().includes('port 81 of the pod: ECONNREFUSED'), { what: 'the reason' })
    await lab.stop(forward, 'SIGKILL')
    await cluster.api.delete(`${DEFAULT}/pods/forwarded`)
    await waitFor(async () => (await cluster.pods('app=forwarded')).length === 0, { what: 'the pod to be gone' })
  })

  it.each(['containerLogs/default/none/none', 'exec/default/none/none?command=true', 'portForward/default/none'])(
    'answers the API server alone: %s',
    async (what) => {
      const [address] = cluster.node('a-worker1').addresses
      const asked = ['curl', '-sk', '-m', '2', '-H', 'connection: upgrade', '-H', 'upgrade: SPDY/3.1']
      const { code, stdout } = await lab.run('cluster-a', [...asked, `https://${address}:10250/${what}`])
      expect(code).not.toBe(0)
      expect(stdout).toBe('')
    },
  )

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
