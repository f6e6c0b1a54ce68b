import { reviewToken, Transport } from '@spout/kube'
import type { Clock, Component, Logger } from '@spout/runtime'
import { ServiceAccounts } from '@spout/server'
import type { ControlPlaneConfig } from '../config.ts'
import { AuthorityPublisher, type AuthorityPublisherOptions } from './authority-publisher.ts'
import { podAccess } from './pod-access.ts'

/** The API server of the cluster that this process runs in, and which of its service accounts we know. */
export interface HomeCluster {
  readonly serviceAccounts: ServiceAccounts
  authorityPublisher(options: Omit<AuthorityPublisherOptions, 'transport'>): Component
  close(): void
}

/** A login or an enrolling agent waits for the answer. */
const REVIEW_DEADLINE_MS = 5000

/** @throws ConfigError when this process is not a pod */
export async function openHomeCluster(
  { kubernetes }: ControlPlaneConfig,
  environment: Readonly<Record<string, string | undefined>>,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<HomeCluster> {
  const access = await podAccess(environment, 'kubernetes.enabled')
  const transport = new Transport({ access, userAgent: 'spout-control-plane' })
  const { audience, accounts, agents } = kubernetes
  const serviceAccounts = new ServiceAccounts({
    review: (token) => reviewToken(transport, { token, audience, deadlineMs: REVIEW_DEADLINE_MS }),
    accounts: accounts.map(({ account, role, project }) => ({ account, role, projectName: project })),
    agents,
    clock,
    log,
  })
  return {
    serviceAccounts,
    authorityPublisher: (options) => new AuthorityPublisher({ transport, ...options }),
    close: () => transport.close(),
  }
}
