import { mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import type { KubernetesCluster } from '../kubernetes/cluster.ts'
import type { Lab, PlaceName } from '../lab/lab.ts'
import { THIS_CHECKOUT } from '../system/checkout.ts'
import { type PageShell, pageShell } from './page-shell.ts'

export interface CheckoutShellOptions {
  readonly lab: Lab
  readonly cluster: KubernetesCluster
  /** Where commands run, by default on the host. */
  readonly place?: PlaceName
  /** Programs beside `kubectl`. */
  readonly programs?: Readonly<Record<string, readonly string[]>>
  readonly env?: Readonly<Record<string, string>>
}

/** A shell of a cluster's administrator in a checkout: `kubectl` is the cluster's, and `deploy/` the repository's. */
export function checkoutShell({ lab, cluster, place, programs, env }: CheckoutShellOptions): PageShell {
  const directory = path.join(lab.directory, 'checkout')
  mkdirSync(directory, { recursive: true })
  symlinkSync(path.join(THIS_CHECKOUT, 'deploy'), path.join(directory, 'deploy'))
  const [program = '', role = ''] = cluster.kubectl
  return pageShell({
    ...{ directory, lab, ...(place === undefined ? {} : { place }) },
    programs: { kubectl: [program, role], ...programs },
    env: { ...env, KUBECONFIG: cluster.kubeconfigFile },
  })
}
