import type { Catalogue, Found } from '@spout/runtime/findings'
import { clusterCheckOf } from '../cluster-check.ts'
import { type ProgramsReading, type RunningProgram, readPrograms } from '../readings/programs.ts'

const FINDINGS = {
  NotInstalled: {
    level: 'error',
    what: 'the cluster has neither programs nor accounts of Spout',
    why: 'No Service of type LoadBalancer gets an address from Spout. Or this is another cluster.',
    fix: 'install (kubernetes-in-cluster.md), or `--context NAME`',
  },
  ProgramDown: {
    level: 'error',
    what: 'no pod of a program is ready',
    why: 'What stops without it: docs/operations.md, "What stops, and what goes on".',
    fix: '`kubectl --namespace NAMESPACE describe pods --selector app.kubernetes.io/component=PROGRAM`',
  },
  ProgramShort: {
    level: 'warning',
    what: 'fewer pods of a program are ready than are wanted',
    why: 'A node without an agent carries nothing, and takes nothing over. Of other programs no second one takes over.',
    fix: '`kubectl --namespace NAMESPACE describe pods --selector app.kubernetes.io/component=PROGRAM`',
  },
  PodsForbidden: {
    level: 'error',
    what: "the installation's namespace enforces a level of Pod Security that refuses agents",
    why: "Agents are privileged and in their node's network: the API server refuses their pods when they are made anew.",
    fix: '`kubectl label namespace NAMESPACE pod-security.kubernetes.io/enforce=privileged --overwrite`',
  },
  ControlPlanesTooMany: {
    level: 'error',
    what: 'several control planes are wanted, and their store is a file',
    why: 'One process has the file. The others do not start, or start with an empty one.',
    fix: '`kubectl --namespace NAMESPACE scale deployment/control-plane --replicas 1`; or `store.kind=cluster` of the chart',
  },
  ImagesDiffer: {
    level: 'warning',
    what: 'pods run different images',
    why: 'An upgrade goes on, or stopped halfway. Two versions run side by side for the time of an upgrade only.',
    fix: '`kubectl --namespace NAMESPACE rollout status WORKLOAD`; `spout upgrade --check` says the order',
  },
  SettingsUnread: {
    level: 'warning',
    what: 'a ConfigMap with settings was changed after pods had read it',
    why: 'A program reads its settings when it starts: the change does nothing until then, and then all at once.',
    fix: '`kubectl --namespace NAMESPACE rollout restart WORKLOAD`',
  },
} as const satisfies Catalogue
type Finding = Found<keyof typeof FINDINGS>

export function judgePrograms({ hasAccounts, installed }: ProgramsReading): readonly Finding[] {
  if (installed === null) {
    const message = 'It has no program of Spout, and no account of a connector.'
    const fix = 'docs/kubernetes-in-cluster.md, "Install"; or name another cluster: --context NAME'
    return hasAccounts ? [] : [{ code: 'NotInstalled', subject: null, message, fix }]
  }
  const { namespace, engine, programs, enforced } = installed
  const kubectl = `kubectl --namespace ${namespace}`
  return [
    ...forbidden(namespace, enforced),
    ...programs.flatMap((one) => unavailable(one, kubectl)),
    ...programs.flatMap((one) => tooMany(one, engine, kubectl)),
    ...differing(programs, kubectl),
    ...programs
      .filter(({ hasOldSettings }) => hasOldSettings)
      .map(({ workload, program }): Finding => {
        const message = `ConfigMap ${program} was changed after its pods had started.`
        return { code: 'SettingsUnread', subject: workload, message, fix: `${kubectl} rollout restart ${workload}` }
      }),
  ]
}

function forbidden(namespace: string, enforced: string | null): readonly Finding[] {
  if (enforced === null || enforced === 'privileged') return []
  const message = `It enforces level ${enforced}.`
  const fix = `kubectl label namespace ${namespace} pod-security.kubernetes.io/enforce=privileged --overwrite`
  return [{ code: 'PodsForbidden', subject: `namespace ${namespace}`, message, fix }]
}

function unavailable(one: RunningProgram, kubectl: string): readonly Finding[] {
  const { program, workload: subject, wanted, available, reasons } = one
  if (available >= wanted && wanted > 0) return []
  const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`
  const message =
    wanted === 0
      ? program === 'agent'
        ? 'It selects no node.'
        : 'It is scaled to 0.'
      : `${available} of ${wanted} pods are ready${why.replace(/\.$/, '')}.`
  const fix = `${kubectl} describe pods --selector app.kubernetes.io/component=${program}`
  return [
    {
      ...{ code: available === 0 ? 'ProgramDown' : 'ProgramShort', subject, message },
      fix: wanted === 0 ? `${kubectl} describe ${subject}` : fix,
    },
  ]
}

function tooMany({ program, workload, wanted }: RunningProgram, engine: string, kubectl: string): readonly Finding[] {
  if (program !== 'control-plane' || wanted < 2 || engine === 'kubernetes' || engine === 'postgres') return []
  const message = `${wanted} are wanted, and the store of engine ${engine} belongs to one process.`
  return [
    { code: 'ControlPlanesTooMany', subject: workload, message, fix: `${kubectl} scale ${workload} --replicas 1` },
  ]
}

function differing(programs: readonly RunningProgram[], kubectl: string): readonly Finding[] {
  const images = [...new Set(programs.flatMap((one) => one.images))]
  if (images.length < 2) return []
  const [first = ''] = images
  const other = programs.find((one) => one.images.some((image) => image !== first))
  const message = `They run ${images.sort().join(' and ')}.`
  const fix = `${kubectl} rollout status ${other?.workload ?? ''}; spout upgrade --check says the order`
  return [{ code: 'ImagesDiffer', subject: null, message, fix }]
}

export const programs = clusterCheckOf({
  name: 'programs',
  catalogue: FINDINGS,
  read: readPrograms,
  judge: judgePrograms,
  right: ({ installed }) =>
    installed === null
      ? 'Accounts of a connector are here; the connector is a process elsewhere.'
      : `${installed.programs.map(({ workload, available }) => `${workload} has ${available}`).join(', ')} ready.`,
})
