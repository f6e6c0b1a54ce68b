import type { Catalogue, Found } from '@spout/runtime/findings'
import { clusterCheckOf } from '../cluster-check.ts'

const FINDINGS = {
  KubernetesOld: {
    level: 'error',
    what: 'a Kubernetes older than 1.30',
    why: 'Its tokens of pods name no node, so agents cannot enrol, and it has no ValidatingAdmissionPolicy.',
    fix: 'upgrade Kubernetes',
  },
} as const satisfies Catalogue

const OLDEST_MINOR = 30

/** @param version such as `v1.36.1` or `v1.29.4-eks-036c24b` */
export function judgeApiServer(version: string): readonly Found<keyof typeof FINDINGS>[] {
  const [, major = '1', minor = '0'] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
  if (Number(major) > 1 || Number(minor) >= OLDEST_MINOR) return []
  const message = `It is of ${version}; 1.${OLDEST_MINOR} is the oldest that has what Spout needs.`
  return [{ code: 'KubernetesOld', subject: null, message, fix: 'upgrade Kubernetes' }]
}

export const apiServer = clusterCheckOf({
  name: 'API server',
  catalogue: FINDINGS,
  read: async ({ version }) => version,
  judge: judgeApiServer,
  right: (version) => `It is of ${version}.`,
})
