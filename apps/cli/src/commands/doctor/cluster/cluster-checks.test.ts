import { CRD_DRAFTS, customResourceDefinitions } from '@spout/custom-resources'
import type { CustomResourceDefinition } from '@spout/kube'
import { expect, test } from 'vitest'
import { judgeApiServer } from './checks/api-server.ts'
import { type ConfigurationReading, judgeConfiguration } from './checks/configuration.ts'
import { judgeFoundations } from './checks/foundations.ts'
import { judgeKinds } from './checks/kinds.ts'
import { judgeKubeProxy } from './checks/kube-proxy.ts'
import { judgeNodes } from './checks/nodes.ts'
import { judgeOtherBalancers } from './checks/other-balancers.ts'
import { judgePrograms } from './checks/programs.ts'
import { judgeReturnPath } from './checks/return-path.ts'
import { judgeRights } from './checks/rights.ts'
import { judgeServices } from './checks/services.ts'
import { CLUSTER_CHECKS } from './cluster-checks.ts'
import { whyUnready } from './pod-words.ts'
import type { FoundationsReading } from './readings/foundations.ts'
import { lackingFields } from './readings/kinds.ts'
import type { LookedAtNode, NodesReading } from './readings/nodes.ts'
import type { RunningProgram } from './readings/programs.ts'
import type { LookedAtService } from './readings/services.ts'

interface Shown {
  readonly code: string
  readonly subject: string | null
  readonly message: string
  readonly fix: string
}

const shown = new Set<string>()
/** Code, subject, message and fix of each finding. */
function expectLines(found: readonly Shown[], lines: readonly string[]): void {
  expect(found.map(({ code, subject, message, fix }) => [code, subject ?? '-', message, fix].join(' | '))).toEqual(
    lines,
  )
  for (const { code } of found) shown.add(code)
}

test('API server', () => {
  for (const version of ['v1.30.0', 'v1.36.1', 'v1.31.5-eks-8cce635', 'v2.0.0'])
    expectLines(judgeApiServer(version), [])
  expectLines(judgeApiServer('v1.29.4+k3s1'), [
    'KubernetesOld | - | It is of v1.29.4+k3s1; 1.30 is the oldest that has what Spout needs. | upgrade Kubernetes',
  ])
})

const APPLY = 'kubectl apply --server-side --force-conflicts --filename deploy/kubernetes/crds'

test('kinds', () => {
  const right = { unserved: null, lacking: [] }
  expectLines(judgeKinds([{ name: 'nodegroups.spout.dev', installed: right }]), [])
  expectLines(
    judgeKinds([
      { name: 'a', installed: null },
      { name: 'b', installed: { ...right, unserved: 'NotAccepted: "lb" is already in use' } },
      { name: 'c', installed: { ...right, lacking: ['v1 spec.one'] } },
      { name: 'd', installed: { ...right, lacking: ['v1 spec.one', 'v1 spec.two', 'v2'] } },
    ]),
    [
      `KindMissing | a | It is not there. | ${APPLY}`,
      'KindUnserved | b | It is not served: NotAccepted: "lb" is already in use. | kubectl describe crd b',
      `KindOld | c | It lacks v1 spec.one. | ${APPLY}`,
      `KindOld | d | It lacks v1 spec.one, and 2 more. | ${APPLY}`,
    ],
  )
})

test('what an older definition lacks', () => {
  const index = CRD_DRAFTS.findIndex(({ kind }) => kind === 'NodeGroup')
  const ours = customResourceDefinitions()[index]!
  expect(lackingFields(ours, ours)).toEqual([])
  const newer = ['values', 'secondChanceSeconds']
  const without = (key: string, value: unknown) => (newer.includes(key) ? undefined : value)
  const older: CustomResourceDefinition = JSON.parse(JSON.stringify(ours, without))
  expect(lackingFields(ours, older)).toEqual([
    'v1alpha1 spec.nodeSelector.matchExpressions.values',
    'v1alpha1 spec.secondChanceSeconds',
  ])
  expect(lackingFields(older, ours)).toEqual([])
})

const running = (own: Partial<RunningProgram>): RunningProgram => ({
  ...{ program: 'agent', workload: 'daemonset/agent', wanted: 2, available: 2, reasons: [], images: ['spout:1'] },
  ...{ hasOldSettings: false, ...own },
})
const programs = (all: readonly RunningProgram[], own: object = {}) =>
  judgePrograms({
    hasAccounts: true,
    installed: { namespace: 'spout', engine: 'sqlite', programs: all, enforced: null, ...own },
  })

test('programs', () => {
  expectLines(programs([running({})], { enforced: 'privileged' }), [])
  expectLines(judgePrograms({ hasAccounts: true, installed: null }), [])
  expectLines(judgePrograms({ hasAccounts: false, installed: null }), [
    'NotInstalled | - | It has no program of Spout, and no account of a connector. | docs/kubernetes-in-cluster.md, "Install"; or name another cluster: --context NAME',
  ])
  const describe = 'kubectl --namespace spout describe pods --selector app.kubernetes.io/component'
  expectLines(
    programs([
      running({ available: 1, reasons: ['ErrImagePull: no such image'] }),
      running({ program: 'connector', workload: 'deployment/connector', available: 0, reasons: ['a.', 'b.'] }),
    ]),
    [
      `ProgramShort | daemonset/agent | 1 of 2 pods are ready: ErrImagePull: no such image. | ${describe}=agent`,
      `ProgramDown | deployment/connector | 0 of 2 pods are ready: a.; b. | ${describe}=connector`,
    ],
  )
  expectLines(
    programs([
      running({ wanted: 0, available: 0 }),
      running({ program: 'connector', workload: 'deployment/connector', wanted: 0, available: 0 }),
    ]),
    [
      'ProgramDown | daemonset/agent | It selects no node. | kubectl --namespace spout describe daemonset/agent',
      'ProgramDown | deployment/connector | It is scaled to 0. | kubectl --namespace spout describe deployment/connector',
    ],
  )
  expectLines(programs([running({ hasOldSettings: true })], { enforced: 'baseline' }), [
    'PodsForbidden | namespace spout | It enforces level baseline. | kubectl label namespace spout pod-security.kubernetes.io/enforce=privileged --overwrite',
    'SettingsUnread | daemonset/agent | ConfigMap agent was changed after its pods had started. | kubectl --namespace spout rollout restart daemonset/agent',
  ])
  const control = running({ program: 'control-plane', workload: 'deployment/control-plane' })
  expectLines(programs([control], { engine: 'kubernetes' }), [])
  expectLines(programs([control]), [
    'ControlPlanesTooMany | deployment/control-plane | 2 are wanted, and the store of engine sqlite belongs to one process. | kubectl --namespace spout scale deployment/control-plane --replicas 1',
  ])
  expectLines(programs([running({}), running({ workload: 'deployment/connector', images: ['spout:2'] })]), [
    'ImagesDiffer | - | They run spout:1 and spout:2. | kubectl --namespace spout rollout status deployment/connector; spout upgrade --check says the order',
  ])
})

test('why a pod is not ready', () => {
  const why = (status: object) =>
    whyUnready({ metadata: { name: 'a' }, spec: { containers: [] }, status: { phase: 'Pending', ...status } })
  expect(why({ conditions: [{ type: 'Ready', status: 'True' }] })).toBeNull()
  expect(why({ conditions: [{ type: 'PodScheduled', status: 'False', message: '0/2 nodes are available' }] })).toBe(
    'no node takes it: 0/2 nodes are available',
  )
  const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 10s' }
  expect(why({ containerStatuses: [{ state: { running: {} } }, { state: { waiting } }] })).toBe(
    'CrashLoopBackOff: back-off 10s',
  )
  expect(why({ containerStatuses: [{ state: { terminated: { exitCode: 2 } } }] })).toBe(
    'it ended with code (exit code 2)',
  )
  expect(why({ phase: 'Running' })).toBe('its readiness probe fails')
  expect(why({})).toBe('it is Pending')
})

test('foundations', () => {
  const right: FoundationsReading = {
    ...{ namespace: 'spout', claim: { name: 'control-plane', phase: 'Bound', storageClass: null } },
    ...{ authorityEnds: new Date('2036-01-01'), now: new Date('2026-01-01') },
    lease: { holder: 'connector-1_a', expiredMs: -4000 },
  }
  expectLines(judgeFoundations(right), [])
  expectLines(judgeFoundations({ ...right, claim: null, lease: null, now: null }), [])
  expectLines(judgeFoundations({ ...right, namespace: null, authorityEnds: null }), [])
  const works = 'kubectl --namespace spout logs deployment/connector; docs/runbook.md, "No connector works"'
  const volume =
    'kubectl --namespace spout describe pvc control-plane; a default StorageClass, a PersistentVolume of 1 GiB, or store.kind=cluster of the chart'
  expectLines(
    judgeFoundations({
      ...right,
      ...{ claim: { name: 'control-plane', phase: 'Pending', storageClass: null }, authorityEnds: null },
      lease: { holder: '', expiredMs: 0 },
    }),
    [
      `VolumeMissing | persistentvolumeclaim/control-plane | It is Pending, and names no StorageClass. | ${volume}`,
      'AuthorityUnpublished | configmap/authority | It has no ca.crt. | kubectl --namespace spout logs deployment/control-plane; docs/runbook.md, "No connector works"',
      `NobodyWorks | lease/spout-connector | Nobody has it. | ${works}`,
    ],
  )
  expectLines(
    judgeFoundations({
      ...right,
      ...{
        claim: { name: 'control-plane', phase: 'Lost', storageClass: 'fast' },
        authorityEnds: new Date('2026-05-01'),
      },
      lease: { holder: 'connector-1_a', expiredMs: 61_000 },
    }),
    [
      `VolumeMissing | persistentvolumeclaim/control-plane | It is Lost of StorageClass fast. | ${volume}`,
      'AuthorityEnds | configmap/authority | It ends 2026-05-01T00:00:00.000Z. | docs/operations.md, "State"',
      `NobodyWorks | lease/spout-connector | connector-1 has not renewed it for 61 s. | ${works}`,
    ],
  )
})

test('rights', () => {
  expectLines(judgeRights([{ account: 'spout/config', missing: [] }]), [])
  const status = { group: '', resource: 'services/status', verb: 'patch' }
  const lease = {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verb: 'get',
    namespace: 'lb',
    name: 'spout-connector',
  }
  const again = 'apply spout.yaml again, or helm upgrade; then: kubectl auth can-i'
  expectLines(
    judgeRights([
      { account: 'spout/connector', missing: [status, status, status] },
      { account: 'lb/connector', missing: [lease] },
    ]),
    [
      `RightMissing | spout/connector | It may not patch services/status, nor 2 more. | ${again} patch services --subresource status --all-namespaces --as system:serviceaccount:spout:connector`,
      `RightMissing | lb/connector | It may not get leases of coordination.k8s.io. | ${again} get leases.coordination.k8s.io/spout-connector --namespace lb --as system:serviceaccount:lb:connector`,
    ],
  )
})

const node = (name: string, own: Partial<LookedAtNode> = {}): LookedAtNode => ({
  ...{ name, hasAgent: true, pods: 3, podCidrs: ['10.244.0.0/24'], aheadMs: 400, group: null },
  ...own,
})
const nodes = (own: Partial<NodesReading>, settings: object = {}) =>
  judgeNodes({
    ...{ installed: { returnPath: 'snat', podCidrs: [], hasAgents: true, ...settings }, outside: [], groups: ['edge'] },
    ...{ nodes: [node('n1'), node('n2', { group: 'edge' })], ...own },
  })
const PREFIXES = 'list all prefixes of pods: podCidrs of the chart, network.podCidrs of ConfigMap connector'

test('nodes', () => {
  expectLines(nodes({}), [])
  expectLines(nodes({ installed: null, nodes: [node('n1', { podCidrs: [] })] }), [])
  expectLines(nodes({ nodes: [node('n1'), node('n2', { hasAgent: false })] }), [
    'NodeAlone | n1 | No other node has an agent that is ready. | let DaemonSet agent run on another node: agent.nodeSelector and agent.tolerations of the chart',
  ])
  const three = [node('n1'), node('n2'), node('n3', { hasAgent: false }), node('n4', { hasAgent: false, pods: 0 })]
  expectLines(nodes({ nodes: three }), [])
  expectLines(nodes({ nodes: three }, { returnPath: 'node' }), [
    'PodsUnreached | n3 | It has 3 pods and no agent that is ready. | kubectl describe node n3; agent.nodeSelector and agent.tolerations of the chart',
  ])
  const strange = node('n2', { podCidrs: [], aheadMs: -65_000, group: 'egde' })
  expectLines(nodes({ nodes: [node('n1', { group: 'default', aheadMs: null }), strange] }), [
    `PodPrefixMissing | n2 | It has no spec.podCIDRs. | ${PREFIXES}`,
    'GroupUnknown | n2 | Its label spout.dev/node-group names egde, and there is no such NodeGroup. | kubectl label node n2 spout.dev/node-group-',
    "ClockDiffers | n2 | Its clock is 65 s behind the API server's. | on the node: timedatectl set-ntp true",
  ])
  expectLines(nodes({ nodes: [node('n1'), node('n2', { podCidrs: [] })] }, { podCidrs: ['10.0.0.0/8'] }), [])
  expectLines(nodes({ outside: ['a/b 10.9.0.1', 'a/c 10.9.0.2'] }), [
    `PodsOutside | - | Pod a/b 10.9.0.1 is in no prefix of pods, nor are 1 more. | ${PREFIXES}`,
  ])
})

test('kube-proxy', () => {
  const judge = (mode: string, strictArp: boolean) => judgeKubeProxy({ hasAgents: true, proxy: { mode, strictArp } })
  for (const [mode, strict] of [
    ['', false],
    ['nftables', false],
    ['ipvs', true],
  ] as const)
    expectLines(judge(mode, strict), [])
  expectLines(judgeKubeProxy({ hasAgents: false, proxy: { mode: 'ipvs', strictArp: false } }), [])
  expectLines(judge('ipvs', false), [
    'StrictArpOff | - | It is in mode ipvs, and strictARP is off. | kubectl --namespace kube-system edit configmap kube-proxy: ipvs.strictARP: true; then: kubectl --namespace kube-system rollout restart daemonset/kube-proxy',
  ])
  expectLines(judgeKubeProxy({ hasAgents: true, proxy: null }), [
    'KubeProxyUnseen | - | kube-system has neither a DaemonSet nor a ConfigMap of that name. | if it is in mode ipvs: strictARP, as with MetalLB',
  ])
})

test('return path', () => {
  const judge = (returnPath: string, clouds: readonly string[], podCidrs: readonly string[] = []) =>
    judgeReturnPath({ settings: { returnPath, podCidrs }, clouds })
  expectLines(judge('snat', ['aws'], ['10.0.0.0/8']), [])
  expectLines(judgeReturnPath({ settings: null, clouds: ['aws'] }), [])
  const mayBe =
    'SourcesMayBeChecked | - | Each node answers clients with the addresses of Services as source, also those that it does not have. | on routers of the nodes\' segment: no strict uRPF towards them; or return path snat: docs/networks.md, "Return paths"'
  expectLines(judge('node', ['kind']), [mayBe])
  expectLines(judge('node', ['aws']), [
    'SourcesChecked | aws | Nodes are machines of aws, which drops answers with the address of a Service as source unless it is told. | aws ec2 modify-instance-attribute --instance-id ID --no-source-dest-check, for each node',
  ])
  expectLines(judge('node', [], ['10.0.0.0/8']), [
    'PrefixesNotOfNodes | - | network.podCidrs is 10.0.0.0/8. | podCidrs: [], where nodes have spec.podCIDRs; or another return path: docs/networks.md, "Return paths"',
    mayBe,
  ])
})

test('other balancers', () => {
  const reading = {
    ...{ isDefault: true, announces: true },
    others: [
      { name: 'MetalLB', workload: 'deployment/controller', namespace: 'metallb-system' },
      { name: 'kube-vip', workload: 'daemonset/kube-vip', namespace: 'kube-system' },
    ],
    shared: [{ pool: 'public', other: 'first', addresses: '198.51.100.16-198.51.100.250' }],
    twice: [],
  }
  expectLines(judgeOtherBalancers({ ...reading, isDefault: false, announces: false }), [])
  const or = '(docs/migrating-from-metallb.md); or services.isDefault: false of the connector'
  expectLines(judgeOtherBalancers(reading), [
    `ServicesManagedTwice | metallb-system deployment/controller | It is MetalLB, and takes Services without a class, as our connector does. | kubectl --namespace metallb-system scale deployment/controller --replicas 0 ${or}`,
    `ServicesManagedTwice | kube-system daemonset/kube-vip | It is kube-vip, and takes Services without a class, as our connector does. | kubectl --namespace kube-system describe daemonset/kube-vip ${or}`,
    'PoolShared | public | MetalLB\'s pool first has 198.51.100.16-198.51.100.250, too, and MetalLB announces. | docs/migrating-from-metallb.md, "The switch"',
  ])
  const twice = [{ address: '198.51.100.16', ours: 'a/web', other: 'b/shop' }]
  expectLines(judgeOtherBalancers({ ...reading, others: [], shared: [], twice }), [
    'AddressTwice | 198.51.100.16 | Services a/web, which is ours, and b/shop, which is not, show it. | kubectl --namespace b describe service shop',
  ])
})

test('configuration', () => {
  const pool = (name: string, ready: object | null, free = 3): ConfigurationReading['objects'][number] => ({
    ...{ kind: 'AddressPool', metadata: { name, generation: 2 }, spec: {} },
    status: {
      addresses: { total: 4, free },
      ...(ready && {
        conditions: [
          {
            ...{ type: 'Ready', status: 'True', reason: 'Applied', message: '', lastTransitionTime: '' },
            ...{ observedGeneration: 2, ...ready },
          },
        ],
      }),
    },
  })
  const judge = (...objects: ConfigurationReading['objects']) => judgeConfiguration({ namespace: 'spout', objects })
  expectLines(judge(pool('a', {})), [])
  expectLines(judgeConfiguration({ namespace: null, objects: [] }), [])
  expectLines(judge(), [
    'PoolMissing | - | There is no AddressPool. | docs/kubernetes-in-cluster.md, "The first Service"',
  ])
  const logs = 'kubectl --namespace spout logs deployment/configuration'
  expectLines(
    judge(
      pool('refused', { status: 'False', reason: 'Invalid', message: 'spec.subnet: overlaps' }),
      pool('new', null),
      pool('changed', { observedGeneration: 1 }),
      pool('full', {}, 0),
    ),
    [
      'ObjectRefused | AddressPool refused | Invalid: spec.subnet: overlaps | kubectl describe addresspool refused',
      `ObjectUnheeded | AddressPool new | It has no condition Ready. | ${logs}`,
      `ObjectUnheeded | AddressPool changed | Condition Ready is of an earlier generation. | ${logs}`,
      'PoolFull | AddressPool full | None of its 4 addresses is free. | another AddressPool: docs/runbook.md, "A pool of addresses runs out"',
    ],
  )
})

test('Services', () => {
  const service = (name: string, reason: string | null, unchangedMs: number | null = 90_000): LookedAtService => ({
    ...{ name, unchangedMs },
    programmed: reason === null ? null : { status: reason === 'Programmed' ? 'True' : 'False', reason, message: 'So.' },
  })
  const judge = (...all: readonly LookedAtService[]) => judgeServices({ namespace: 'spout', services: all })
  expectLines(judge(service('a/a', 'Programmed'), service('a/new', null, 900), service('a/b', null, null)), [])
  expectLines(
    judge(service('a/a', null), service('a/b', null), ...['c', 'd'].map((name) => service(`a/${name}`, 'PoolFull'))),
    [
      'ServiceUnheeded | a/a | No connector has written its status, nor that of 1 more. | kubectl --namespace spout logs deployment/connector; docs/runbook.md, "No connector works"',
      'ServiceRefused | a/c | PoolFull: So. 1 more have the reason PoolFull. | spout explain service a/c --kubeconfig FILE',
    ],
  )
})

// Last: it looks at what the others have shown.
test('every finding is shown above, and its code is of one check', () => {
  const codes = CLUSTER_CHECKS.flatMap(({ catalogue }) => Object.keys(catalogue))
  expect(codes).toEqual([...new Set(codes)])
  expect([...shown].sort()).toEqual([...codes].sort())
})
