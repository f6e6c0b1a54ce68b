/**
 * Spout is installed into a cluster of two nodes by its chart, with the commands of the page: from `helm install` until
 * the first Service, which waited for it, answers at its address, and all that was installed is ready on both nodes.
 */
import { startInClusterLab } from '../e2e/kubernetes/in-cluster-lab.ts'
import { POOL, webService } from '../e2e/kubernetes/plain-service.ts'
import { startWorkload } from '../e2e/kubernetes/workloads.ts'
import { distribution } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL_S = 30
const INSTALL = 'helm install spout deploy/chart/spout --namespace spout --create-namespace'
/** A longer installation than this one is no figure. */
const LONGEST_MS = 300_000
const IMAGE = 'registry.example.net/spout:0.1.0'

const options = benchOptions()
const ROUNDS = options.quick ? 1 : 5

/** When each was done, in ms from the start of `helm install`. */
interface Installation {
  readonly helmMs: number
  readonly controlPlaneMs: number
  readonly answerMs: number
  readonly allReadyMs: number
}

async function install(): Promise<Installation> {
  const lab = await startInClusterLab()
  try {
    await startWorkload(lab, { name: 'web', replicas: 2 })
    await lab.apply(webService('web'))
    const began = performance.now()
    const since = () => performance.now() - began
    const { code, stderr } = await lab.shell(`${INSTALL} --set image=${IMAGE}`)
    if (code !== 0) throw new Error(`helm install: ${stderr}`)
    const helmMs = since()
    // Not part of the chart: which addresses Services may have.
    await lab.apply(POOL)
    const [controlPlaneMs, answerMs, allReadyMs] = await Promise.all([
      lab.ready('control-plane', 1).then(since),
      lab.answering('web', LONGEST_MS).then(since),
      lab.allReady().then(since),
    ])
    return { helmMs, controlPlaneMs, answerMs, allReadyMs }
  } finally {
    await lab.destroy()
  }
}

const installations: Installation[] = []
for (let round = 0; round < ROUNDS; round++) installations.push(await install())
const wholeMs = installations.map(({ answerMs, allReadyMs }) => Math.max(answerMs, allReadyMs))
const seriesOf = (field: keyof Installation) => distribution(installations.map((one) => one[field]))
const ours = { slowestS: Math.max(...wholeMs) / 1000 }
printRow(
  {
    name: 'install-time',
    ours,
    peer: null,
    comparedWith: 'nothing: the bound is absolute',
    ratio: null,
    goal: `chart applied to first address on two nodes <= ${GOAL_S} s`,
    pass: ours.slowestS <= GOAL_S,
    detail: { installations: ROUNDS, nodes: 2, measured: 'without the pull of the image' },
    distributions: {
      'helm is done': seriesOf('helmMs'),
      'the control plane is ready': seriesOf('controlPlaneMs'),
      'the Service answers': seriesOf('answerMs'),
      'all is ready': seriesOf('allReadyMs'),
    },
  },
  options,
)
