import { defineConfig } from 'vitest/config'
import { LongestFirst } from './tools/dev/longest-first.ts'

// Projects, fastest first. `unit` does no I/O beyond temporary files; `contract` runs each contract's suite over
// every implementation with real engines; `lab` needs root and network namespaces; `e2e` starts the whole system.
// `contract-on-cluster`, `lab-on-cluster` and `beside-cluster` are those that need a Kubernetes cluster. They are apart so
// that a whole run can build Kubernetes while the others run.
// Each test has a lab of its own: names, addresses and directories carry the lab's number. So e2e tests run side by side;
// most of their time is waiting. Project `e2e` holds those that run alone: they measure, or send adverts every 20 ms.
const project = (
  name: string,
  include: string[],
  testTimeout: number,
  maxWorkers: number,
  exclude: readonly string[] = [],
) => ({
  test: {
    ...{ name, include, testTimeout, hookTimeout: 120_000, maxWorkers },
    exclude: ['**/node_modules/**', ...exclude],
    // What is waited for often takes a program's start: more than the second that is the default, on a busy machine.
    expect: { poll: { timeout: 10_000 } },
  },
})

const LOGS = './tools/dev/logs-of-failures.ts'
const withLogs = ({ test }: ReturnType<typeof project>) => ({ test: { ...test, setupFiles: [LOGS] } })

// Files that share a process, one after the other, load modules once. A process for each costs 0.3 s of processor time, and
// its imports up to a second more.
const shared = ({ test }: ReturnType<typeof project>, setupFiles: readonly string[] = []) => ({
  test: { ...test, isolate: false, setupFiles: [...setupFiles] },
})
// A file that would leave something to the next fails. Not for unit tests: it takes 5 ms a file, as long as some of them.
const together = (own: ReturnType<typeof project>) => shared(own, ['./tools/dev/shared-process.ts', LOGS])

const onACluster = (kind: 'contract' | 'lab'): string[] => [
  `packages/intents/{service,ingress,gateway,load-balancer,kubernetes-config}/src/**/*.${kind}.test.ts`,
  `packages/connector/src/certificates/**/*.${kind}.test.ts`,
  `packages/kubernetes-manifests/src/**/*.${kind}.test.ts`,
  `packages/kube/src/**/*.${kind}.test.ts`,
  `packages/store/src/kubernetes/**/*.${kind}.test.ts`,
  `packages/testkit/src/kubernetes/**/*.${kind}.test.ts`,
  `apps/connector/src/**/*.${kind}.test.ts`,
  `apps/control-plane/src/cluster/**/*.${kind}.test.ts`,
  ...(kind === 'contract'
    ? [
        'apps/cli/src/commands/{doctor/cluster/cluster-doctor,explain/explain-service,imports/import-ingress-nginx,imports/import-metallb}.contract.test.ts',
      ]
    : []),
]

const OTHER_KINDS = ['contract', 'lab', 'e2e'].map((kind) => `**/*.${kind}.test.ts`)
const ALONE = ['e2e/{failover,scale}.e2e.test.ts', 'e2e/kubernetes/{api-server-address,faults,rollouts}.e2e.test.ts']
const CLUSTER = 'e2e/kubernetes/**/*.e2e.test.ts'

export default defineConfig({
  test: {
    // A test starts many programs, and a fork copies the page tables of its whole process: processes must be small.
    pool: 'forks',
    // Node.js itself loads the sources, as it does in production. vite's loader would compile each source once more, and make
    // each use of an import a call of a getter.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // A report has the message alone: `[ Array(1) ]` would not say what was in it.
    chaiConfig: { truncateThreshold: 2000 },
    sequence: { sequencer: LongestFirst },
    projects: [
      shared(project('unit', ['{packages,apps}/**/src/**/*.test.ts', 'tools/**/*.test.ts'], 20_000, 2, OTHER_KINDS)),
      together(
        project(
          'contract',
          ['{packages,apps}/**/src/**/*.contract.test.ts', 'tools/**/*.contract.test.ts'],
          120_000,
          3,
          onACluster('contract'),
        ),
      ),
      // A process each: labs name namespaces and links after theirs, and the kernel removes the links of a namespace late.
      withLogs(project('lab', ['{packages,apps}/**/src/**/*.lab.test.ts'], 120_000, 5, onACluster('lab'))),
      together(project('contract-on-cluster', onACluster('contract'), 120_000, 2)),
      withLogs(project('lab-on-cluster', onACluster('lab'), 120_000, 2)),
      together(project('beside', ['e2e/*.e2e.test.ts', 'e2e/ui/*.e2e.test.ts'], 300_000, 3, ALONE)),
      together(project('beside-cluster', [CLUSTER], 300_000, 2, ALONE)),
      withLogs(project('e2e', ALONE, 300_000, 1)),
    ],
  },
})
